// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model_tool/command_line.h"

#include <gtest/gtest.h>

extern "C" {
#include <libavutil/avstring.h>
#include <libavutil/mem.h>
}

using namespace dnn_torch;

namespace
{

std::string token(const std::string &text, const char *terminators)
{
    const char *at = text.c_str();
    char *read = av_get_token(&at, terminators);
    std::string out = read;
    av_free(read);
    EXPECT_EQ(*at, terminators[0]) << text;
    return out;
}

// What FFmpeg makes of it: the graph's parser first, then the options'.
TEST(CommandLine, GraphsAreReadBack)
{
    for (const char *text : {"plain.pt", "a b", " a ", "it's", "c:\\x", "[a],b;c", "\\", "''", ":",
                             "\t\n", "= \\' \\\\ ", "\xc3\xa4\xff%{}$"}) {
        std::string options = token(graph_quoted(text) + "[,;]", "[],;");
        EXPECT_EQ(token(options + ":", ":"), text);
    }
}

TEST(CommandLine, Shell)
{
    EXPECT_EQ(shell_quoted("models/net-2_x.pt"), "models/net-2_x.pt");
    EXPECT_EQ(shell_quoted("a b"), "'a b'");
    EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
    EXPECT_EQ(shell_quoted(""), "''");
}

TEST(CommandLine, LeavesOutWhatOnlyPicturesHave)
{
    const std::string text = command_line(
        "dnn_torch_detect", "m.pt", {{"size", "64x48"}, {"tile", "32"}, {"as", "gray"}}, "", "");
    EXPECT_NE(text.find("dnn_torch_detect=model=m.pt:size=64x48"), std::string::npos) << text;
    EXPECT_EQ(text.find("tile"), std::string::npos) << text;
    EXPECT_EQ(text.find("gray"), std::string::npos) << text;
}

std::string line(const FoundSizes &sizes, Channels channels = Channels::rgb)
{
    return command_line("m.pt", channels, &sizes, {{"device", "cuda:0"}});
}

TEST(CommandLine, BringsVideosToTheSizesOfTheModel)
{
    FoundSizes sizes{{64, 48}, {64, 48}, true, {1, 1}, {1, 1}, {}, {}};
    EXPECT_EQ(line(sizes), "dnn-torch run ffmpeg -i in.mp4 -vf "
                           "'dnn_torch=model=m.pt:device=cuda\\\\:0' out.mp4");
    EXPECT_NE(line(sizes, Channels::any).find("-vf 'format=gbrp|gbrp10|gbrp12|gbrp16,dnn_torch="),
              std::string::npos);
    sizes.width = sizes.height = {4, 4};
    EXPECT_NE(line(sizes).find("'crop=trunc(iw/4)*4:trunc(ih/4)*4,dnn"), std::string::npos);
    sizes.height = {8, 9};
    EXPECT_NE(line(sizes).find(":trunc((ih-1)/8)*8+1,dnn"), std::string::npos);
    sizes.width = {0, 64};
    EXPECT_NE(line(sizes).find("'scale=64:48,dnn"), std::string::npos);
}

} // namespace
