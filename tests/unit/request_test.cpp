// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The command lines of `dnn-torch inspect` and `dnn-torch bench`.
#include "model_tool/request.h"

#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace dnn_torch
{
namespace
{

Request parse(std::vector<std::string> words)
{
    std::vector<char *> pointers;
    for (std::string &word : words)
        pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return parse_request(static_cast<int>(words.size()), pointers.data());
}

std::string fault_of(const std::vector<std::string> &words)
{
    try {
        parse(words);
    } catch (const UsageError &error) {
        return error.what();
    }
    return "";
}

TEST(Requests, HaveOptionsBeforeAndBehindTheModel)
{
    Request request = parse({"bench", "--size", "64x48", "a.pt", "--device=cuda:1", "--json",
                             "--seconds", "2.5", "--timeout=0", "--allow", "a+b"});
    EXPECT_EQ(request.path, "a.pt");
    EXPECT_EQ(request.device, "cuda:1");
    EXPECT_EQ(request.allow, "a+b");
    EXPECT_TRUE(request.json);
    EXPECT_FALSE(request.help);
    EXPECT_EQ(request.seconds, 2.5);
    EXPECT_EQ(request.timeout.count(), 0);
    ASSERT_TRUE(request.size);
    EXPECT_EQ(to_text(*request.size), "64x48");
    EXPECT_EQ(request.svg_file, "");
    EXPECT_EQ(parse({"bench", "a.pt", "--svg", "a.svg"}).svg_file, "a.svg");
}

// A program may have set it; getopt_long() then stops at the first model.
TEST(Requests, AreReadInOneWayWhateverTheEnvironment)
{
    setenv("POSIXLY_CORRECT", "1", 1);
    EXPECT_TRUE(parse({"inspect", "a.pt", "--json"}).json);
    unsetenv("POSIXLY_CORRECT");
}

TEST(Requests, TakeAnyNameBehindTwoDashes)
{
    EXPECT_EQ(parse({"inspect", "--json", "--", "--size"}).path, "--size");
    EXPECT_EQ(parse({"inspect", "-"}).path, "-");
}

TEST(Requests, ConvertOneFileToAnother)
{
    const Request request = parse({"convert", "a.pth", "--isolate=0", "b.pt"});
    EXPECT_EQ(request.path, "a.pth");
    EXPECT_EQ(request.output_file, "b.pt");
    EXPECT_EQ(fault_of({"convert", "a"}),
              "no file to write is given; write dnn-torch convert IN OUT.pt");
    EXPECT_EQ(fault_of({"convert", "a", "b", "c"}), "c is one file too many; give two");
    EXPECT_EQ(fault_of({"convert", "a", "b", "--json"}).find("--json is no option"), 0U);
}

TEST(Requests, SayWhatMakesNoSense)
{
    EXPECT_EQ(fault_of({"inspect"}), "no model is given; write dnn-torch inspect MODEL");
    EXPECT_EQ(fault_of({"inspect", "a", "b"}), "b is one model too many; give one");
    EXPECT_EQ(fault_of({"inspect", "a", "--", "b"}), "b is one model too many; give one");
    EXPECT_EQ(fault_of({"inspect", "a", "--device"}), "--device needs a value");
    EXPECT_EQ(fault_of({"inspect", "a", "--json=1"}), "--json takes no value");
    EXPECT_EQ(fault_of({"inspect", "a", "--size=64"}), "--size 64: give a size such as 640x360");
    EXPECT_EQ(fault_of({"bench", "a", "--seconds", "0"}),
              "--seconds 0: give a number from 1 to 86400");
    EXPECT_EQ(fault_of({"bench", "a", "--svg="}), "--svg: give the name of a file");
    for (const char *word : {"--nosuch", "--nosuch=3", "--seconds=3", "--svg=3", "-x", "-xy"}) {
        std::string fault = fault_of({"inspect", "a", word});
        std::string name = word[1] == '-' ? std::string(word, strcspn(word, "=")) : "-x";
        EXPECT_EQ(fault.find(name + " is no option; there are --allow, --as"), 0U) << fault;
    }
}

TEST(Requests, HaveHelpForEachOption)
{
    EXPECT_TRUE(parse({"inspect", "--help"}).help);
    EXPECT_TRUE(parse({"bench", "a.pt", "--help"}).help);
    std::string inspect = help_of("inspect"), bench = help_of("bench");
    EXPECT_EQ(inspect.find("usage: dnn-torch inspect MODEL"), 0U);
    EXPECT_NE(inspect.find("\n  --size WxH  "), inspect.npos) << inspect;
    EXPECT_EQ(inspect.find("--seconds"), inspect.npos);
    EXPECT_NE(bench.find("\n  --seconds N "), bench.npos);
}

} // namespace
} // namespace dnn_torch
