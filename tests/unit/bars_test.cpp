// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The bars of `dnn-torch bench`.
#include "model_tool/bars.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace dnn_torch
{
namespace
{

const std::vector<Bar> measured = {
    {.label = "fp32, frozen, 2 x 1", .frames_per_second = 25, .is_chosen = true},
    {.label = "fp32, frozen, 1 x 2", .frames_per_second = 20},
    {.label = "bf16, channels_last, 2 x 1", .frames_per_second = 0.5},
};

std::vector<double> widths_of(const std::string &svg)
{
    const std::regex bar(R"re(<rect class="bar[^>]* width="([\d.]+)")re");
    std::vector<double> widths;
    for (std::sregex_iterator at(svg.begin(), svg.end(), bar), end; at != end; at++)
        widths.push_back(std::stod((*at)[1]));
    return widths;
}

TEST(Bars, AreScaledToTheFastest)
{
    EXPECT_EQ(bars_as_text(measured, {.columns = 76, .has_blocks = false}),
              "fp32, frozen, 2 x 1         ####################  25.00 frames/s    40.00 ms\n"
              "fp32, frozen, 1 x 2         ################      20.00 frames/s    50.00 ms\n"
              "bf16, channels_last, 2 x 1                         0.50 frames/s  2000.00 ms\n");
}

TEST(Bars, AreFinerInUnicode)
{
    EXPECT_EQ(bars_as_text(measured, {.columns = 74, .has_blocks = true}),
              "fp32, frozen, 2 x 1         ██████████████████  25.00 frames/s    40.00 ms\n"
              "fp32, frozen, 1 x 2         ██████████████▍     20.00 frames/s    50.00 ms\n"
              "bf16, channels_last, 2 x 1  ▍                    0.50 frames/s  2000.00 ms\n");
}

TEST(Bars, FillTheTerminalAndNoMoreThanIsReadable)
{
    for (const size_t columns : {10U, 70U, 90U, 1000U}) {
        std::istringstream lines(bars_as_text(measured, {.columns = columns}));
        for (std::string line; std::getline(lines, line);) {
            EXPECT_LE(line.size(), std::max<size_t>(columns, 64)) << line;
            EXPECT_LE(line.size(), 120U) << line;
            EXPECT_GE(line.size(), std::min<size_t>(columns, 110)) << line;
        }
    }
}

TEST(Bars, WithoutARateHaveNoLength)
{
    EXPECT_EQ(bars_as_text({{.label = "none"}}, {}).find('#'), std::string::npos);
    EXPECT_NE(bars_as_text({{.label = "none"}}, {}).find("0.00 frames/s  -\n"), std::string::npos);
    EXPECT_EQ(bars_as_text({}, {}), "");
    EXPECT_EQ(widths_of(bars_as_svg({.title = "x", .bars = {{.label = "none"}}})),
              std::vector<double>{0});
}

TEST(Bars, LetNoLabelControlTheTerminal)
{
    const std::string text = bars_as_text({{.label = "\x1b[2J", .frames_per_second = 1}}, {});
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(SvgBars, HaveTheRatiosOfTheRates)
{
    const std::vector<double> widths = widths_of(bars_as_svg({.title = "net", .bars = measured}));
    ASSERT_EQ(widths.size(), 3U);
    EXPECT_GT(widths[0], 200);
    EXPECT_NEAR(widths[1] / widths[0], 20.0 / 25, 1e-3);
    EXPECT_NEAR(widths[2] / widths[0], 0.5 / 25, 1e-3);
}

TEST(SvgBars, SayWhatEachIs)
{
    const std::string svg = bars_as_svg({.title = "net.pt",
                                         .subtitle = "64x48",
                                         .bars = measured,
                                         .footnotes = {"left out: fp16"}});
    for (const char *text : {">net.pt</text>", ">64x48</text>", ">fp32, frozen, 2 x 1</text>",
                             ">25.00 frames/s</text>", ">40.00 ms</text>", ">left out: fp16</text>",
                             "<title>net.pt</title>", "prefers-color-scheme: dark"})
        EXPECT_NE(svg.find(text), std::string::npos) << text;
    EXPECT_EQ(svg.find("bar chosen"), svg.rfind("bar chosen"));
    EXPECT_NE(svg.find("bar chosen"), std::string::npos);
}

// XML takes neither these bytes nor these code points, in whatever way they are written.
TEST(SvgBars, TakeAnyName)
{
    const std::string surrogate = "\xed\xa0\x80", none = "\xef\xbf\xbf",
                      beyond = "\xf4\x90\x80\x80";
    const std::string svg =
        bars_as_svg({.title = "</title><script>&\"'" + surrogate + none + beyond + "\x01\xff.pt"});
    EXPECT_NE(svg.find(">&lt;/title&gt;&lt;script&gt;&amp;&quot;&apos;"), std::string::npos) << svg;
    for (const std::string &bytes : {surrogate, none, beyond, std::string("\x01"),
                                     std::string("\xff"), std::string("<script")})
        EXPECT_EQ(svg.find(bytes), std::string::npos) << svg;
}

TEST(SvgBars, ShortenLongNames)
{
    const std::string name(5000, 'n');
    const std::string svg = bars_as_svg({.title = name, .bars = {{name, 1.0}}});
    EXPECT_NE(svg.find("n…</text>"), std::string::npos);
    EXPECT_NE(svg.find("<title>" + name + "</title>"), std::string::npos);
    EXPECT_GT(widths_of(svg).at(0), 100);
}

} // namespace
} // namespace dnn_torch
