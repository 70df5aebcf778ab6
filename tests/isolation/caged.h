// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Something done in a process of its own, with some of the cage's layers closed.
#pragma once

#include "attempts.h"

#include <functional>
#include <gtest/gtest.h>
#include <string>

struct End {
    int answer = 0; // what the function returned, unless one of these is set
    int signal = 0; // what ended the process
    bool dumped_core = false;
    bool silent = false; // it ended with status 0 and without an answer: it executed something
};

// "Operation not permitted", "signal 9".
std::string describe(const End &end);

// Whether the kernel has refused it.
bool refused(const End &end);

constexpr unsigned all_layers = limits | privileges | landlock | seccomp;

// Runs `act` in a forked process that has closed `layers`.  The answer is -1 if one of them
// did not close.
End run_caged(unsigned layers, const std::function<int()> &act, int64_t memory_bytes = 0);

// Why one of these layers is not granted here; empty if all are.
std::string not_granted(unsigned layers);

// What an attempt needs, made anew for each, and removed.
class SceneOfATest
{
public:
    SceneOfATest();
    ~SceneOfATest();
    SceneOfATest(const SceneOfATest &) = delete;
    SceneOfATest &operator=(const SceneOfATest &) = delete;

    const Scene &scene() const { return scene_; }

private:
    void make_files();
    void open_descriptors();

    std::string folder_;
    Scene scene_ = {};
};

// A test that is skipped, with the reason, where the cage does not close.
class CageTest : public testing::Test
{
protected:
    void SetUp() override
    {
        if (std::string reason = not_granted(all_layers); !reason.empty())
            GTEST_SKIP() << reason;
    }
};
