// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Graph strings at random: one with dnn_torch in it is parsed as the same string
// with a built-in filter in that place.  Here dnn_torch is that very filter under
// another name of the same length.  GRAPH_PARSE_SEED and GRAPH_PARSE_COUNT in the
// environment make a longer run.
#include "../graph_outcome.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace
{

using namespace dnn_torch;
using namespace graph_outcome;

std::string random_text(std::minstd_rand &random)
{
    static const std::vector<std::string> words = {"[",
                                                   "]",
                                                   ",",
                                                   ";",
                                                   "=",
                                                   "@",
                                                   "'",
                                                   "\\",
                                                   ":",
                                                   " ",
                                                   "a",
                                                   "b",
                                                   "[a]",
                                                   "[b]",
                                                   "[in]",
                                                   "[out]",
                                                   "null",
                                                   "split",
                                                   "anullsrc",
                                                   "sws_flags=bicubic;",
                                                   ",null",
                                                   ";[a]null",
                                                   "FILTER",
                                                   "FILTER",
                                                   "FILTER",
                                                   ",FILTER",
                                                   "FILTER@",
                                                   "FILTER@x",
                                                   "FILTER=",
                                                   "FILTER=whitept=white",
                                                   "FILTER=black:white",
                                                   "FILTER=blackpt=gray",
                                                   "FILTER=nosuch=1",
                                                   ";[a]FILTER",
                                                   "[a]FILTER[b]"};
    std::string text;
    for (size_t i = 1 + random() % 7; i > 0; i--)
        text += words[random() % words.size()];
    return text;
}

size_t number_from(const char *variable, size_t otherwise)
{
    const char *text = getenv(variable);
    return text ? strtoul(text, nullptr, 10) : otherwise;
}

class GraphParse : public testing::TestWithParam<std::pair<const char *, Parse>>
{
};

TEST_P(GraphParse, IsThatOfABuiltInFilter)
{
    const FilterRegistry real = libavfilter_itself();
    set_real_registry(real);
    register_filters(ours_alone());
    av_log_set_callback(log_to_string);
    std::minstd_rand random(static_cast<unsigned>(number_from("GRAPH_PARSE_SEED", 1)));
    size_t count = number_from("GRAPH_PARSE_COUNT", 4000), differences = 0, good = 0;
    for (size_t i = 0; i < count && differences < 10; i++) {
        std::string text = random_text(random);
        std::string ours = with_name(text, "FILTER", "dnn_torch");
        std::string theirs = with_name(text, "FILTER", built_in);
        std::string expected = outcome(real, GetParam().second, theirs);
        std::string found = outcome(*registry_wrappers(), GetParam().second, ours);
        EXPECT_EQ(with_name(found, "dnn_torch", built_in), expected) << ours;
        differences += with_name(found, "dnn_torch", built_in) != expected;
        good += expected.rfind("returns -", 0) != 0;
    }
    av_log_set_callback(av_log_default_callback);
    EXPECT_GT(good, count / 50);
}

INSTANTIATE_TEST_SUITE_P(Ways, GraphParse,
                         testing::Values(std::pair{"parse2", &parse2},
#if LIBAVFILTER_VERSION_MAJOR >= 9
                                         std::pair{"segments", &segments},
#endif
                                         std::pair{"parse_ptr", &parse_ptr}),
                         [](const auto &way) { return way.param.first; });

} // namespace
