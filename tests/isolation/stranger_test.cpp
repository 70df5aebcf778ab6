// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A stranger in the cage: each attempt must fail.
#include "caged.h"

#include <cstdio>
#include <gtest/gtest.h>
#include <unistd.h>

namespace
{

std::vector<Attempt> all_attempts()
{
    std::vector<Attempt> all = attempts_at_files();
    for (const std::vector<Attempt> &more : {attempts_at_others(), attempts_at_the_kernel()})
        all.insert(all.end(), more.begin(), more.end());
    return all;
}

class Stranger : public testing::TestWithParam<Attempt>
{
protected:
    static End attempt(unsigned layers)
    {
        SceneOfATest around;
        return run_caged(layers, [&around] { return GetParam().act(around.scene()); });
    }
};

// Otherwise the attempt would prove nothing.
TEST_P(Stranger, SucceedsWithoutCage)
{
    Outside outside = GetParam().outside;
    if (outside == Outside::depends || (outside == Outside::works_as_root && geteuid() != 0))
        return;
    End end = attempt(0);
    EXPECT_TRUE(end.silent || (end.answer == 0 && !end.signal)) << describe(end);
}

TEST_P(Stranger, IsRefused)
{
    if (std::string reason = not_granted(all_layers); !reason.empty())
        GTEST_SKIP() << reason;
    End end = attempt(all_layers);
    EXPECT_TRUE(refused(end)) << describe(end);
    std::printf("%s: %s\n", GetParam().name, describe(end).c_str());
}

// Where a kernel lacks one layer, the others still hold.
TEST_P(Stranger, IsRefusedByEachLayerThatHoldsIt)
{
    for (unsigned layer : {limits, privileges, landlock, seccomp}) {
        if (!(GetParam().held_by & layer) || !not_granted(layer).empty())
            continue;
        End end = attempt(layer);
        EXPECT_TRUE(refused(end)) << "layer " << layer << ": " << describe(end);
    }
}

INSTANTIATE_TEST_SUITE_P(Attempts, Stranger, testing::ValuesIn(all_attempts()),
                         [](const auto &attempt) { return std::string(attempt.param.name); });

} // namespace
