// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What several layers use: texts, device names, the search for a file.
#include "base/compose.h"
#include "base/device_name.h"
#include "base/folder_search.h"
#include "base/json.h"
#include "base/module_path.h"

#include <climits>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <unistd.h>
#include <vector>

namespace dnn_torch
{
namespace
{

namespace fs = std::filesystem;

TEST(Texts, ArePutTogether)
{
    EXPECT_EQ(concat("device ", std::string("cuda:"), 3, " of ", size_t{4}, -1),
              "device cuda:3 of 4-1");
    EXPECT_EQ(joined(std::vector<std::string>{"a", "b", "c"}), "a, b, c");
    EXPECT_EQ(joined(std::vector<const char *>{"a"}), "a");
    EXPECT_EQ(joined(std::vector<std::string>{}), "");
    EXPECT_EQ(version_text(8 << 16 | 44 << 8 | 100), "8.44.100");
}

TEST(Json, HasTheOrderInWhichItWasWritten)
{
    json::Value value = {{"z", 1}, {"a", {{"c", true}, {"b", nullptr}}}};
    value["m"] = json::Value::array({1, "two"});
    EXPECT_EQ(json::line_of(value), R"({"z":1,"a":{"c":true,"b":null},"m":[1,"two"]})");
    EXPECT_EQ(json::line_of(json::text_or_null("")), "null");
    EXPECT_EQ(json::line_of(json::text_or_null("a")), R"("a")");
}

TEST(Json, HasNoByteThatActsOnATerminal)
{
    std::string bytes;
    for (int byte = 0; byte < 256; byte++)
        bytes += static_cast<char>(byte);
    for (const std::string &text : {bytes,
                                    std::string("a\xe2\x80\xae"
                                                "b\xc2\x9b"),
                                    std::string("\x7f")})
        for (unsigned char c : json::line_of(json::Value{{text, text}}))
            EXPECT_TRUE(c >= ' ' && c < 0x7f) << static_cast<int>(c);
    EXPECT_EQ(json::line_of("a\"b\\c\n\x01\xff"), R"("a\"b\\c\n\u0001\ufffd")");
}

TEST(Json, HasNumbersOfAFewDigits)
{
    EXPECT_EQ(json::line_of(json::rounded(23.97602398, 4)), "23.976");
    EXPECT_EQ(json::line_of(json::rounded(30, 4)), "30.0");
    EXPECT_EQ(json::line_of(json::rounded(-0.00004, 3)), "-0.0");
    EXPECT_EQ(json::line_of(json::rounded(1e307, 6)), "1e+307");
    EXPECT_EQ(json::line_of(json::rounded(1e300, 1)), "1e+300");
    EXPECT_EQ(json::line_of(json::rounded(std::numeric_limits<double>::infinity(), 1)), "null");
    EXPECT_EQ(json::line_of(json::rounded(std::numeric_limits<double>::quiet_NaN(), 1)), "null");
}

TEST(DeviceNames, AreAKindAndAnIndex)
{
    for (const char *text : {"cuda:0", "cuda:17", "cuda:999"}) {
        std::optional<DeviceName> name = parse_device_name(text);
        ASSERT_TRUE(name) << text;
        EXPECT_EQ(name->kind, "cuda");
        EXPECT_EQ(name->index, atoi(text + 5));
    }
    EXPECT_EQ(parse_device_name("xpu")->kind, "xpu");
    EXPECT_FALSE(parse_device_name("xpu")->index);
}

TEST(DeviceNames, AreWrittenInOneWay)
{
    for (const char *text : {"", ":0", "cuda:", "cuda:00", "cuda:01", "cuda:-1", "cuda:+1",
                             "cuda: 1", "cuda:1 ", "cuda:1000", "cuda:0x1", "cuda:1:2", "cuda:one"})
        EXPECT_FALSE(parse_device_name(text)) << text;
}

class Folders : public testing::Test
{
protected:
    Folders()
    {
        std::string name = testing::TempDir() + "base_test.XXXXXX";
        root = mkdtemp(name.data());
        for (const char *folder : {"empty", "first", "second"})
            fs::create_directory(root / folder);
        before = fs::current_path();
        fs::current_path(root / "first");
    }
    ~Folders() override
    {
        fs::current_path(before);
        fs::remove_all(root);
        unsetenv("DNN_TORCH_MODULE_PATH");
    }

    std::string make(const std::string &name) const
    {
        std::ofstream(root / name) << "x";
        return root / name;
    }
    // "a:b" in `names` means the folders of these names.
    std::string list(std::initializer_list<const char *> names) const
    {
        std::string folders;
        for (const char *name : names)
            add_to_list(folders, (root / name).string(), ":");
        return folders;
    }
    static std::string find(const std::string &folders, const char *empty_name = nullptr,
                            int access = R_OK)
    {
        char path[PATH_MAX];
        FolderSearch search = {
            .folders = folders.c_str(), .empty_name = empty_name, .access = access};
        return dnn_torch_find_file(&search, "file", path, sizeof(path)) ? path : "";
    }

    fs::path root, before;
};

TEST_F(Folders, AreSearchedInOrder)
{
    std::string second = make("second/file");
    EXPECT_EQ(find(list({"absent", "empty", "first", "second"})), second);
    std::string first = make("first/file");
    EXPECT_EQ(find(list({"absent", "empty", "first", "second"})), first);
    EXPECT_EQ(find(list({"second", "first"})), second);
    EXPECT_EQ(find(list({"absent", "empty"})), "");
}

TEST_F(Folders, HaveOnlyFilesThatCanBeUsed)
{
    fs::create_directory(root / "first/file");
    std::string second = make("second/file");
    EXPECT_EQ(find(list({"first", "second"})), second) << "the first one is a folder";
    EXPECT_EQ(find(list({"first", "second"}), nullptr, X_OK), "") << "it cannot be executed";
    fs::permissions(second, fs::perms(0755));
    EXPECT_EQ(find(list({"first", "second"}), nullptr, X_OK), second);
}

TEST_F(Folders, WithoutANameAreWhatTheSearchSays)
{
    make("first/file"); // in the current folder
    for (const std::string &folders : {std::string(), std::string("/nowhere:"),
                                       std::string(":/nowhere"), std::string("/nowhere::/no")}) {
        EXPECT_EQ(find(folders), "") << folders;
        EXPECT_EQ(find(folders, "."), "./file") << folders;
    }
}

TEST_F(Folders, AreNamedWhereAPathIsTooLong)
{
    make("first/file");
    char path[8];
    std::string folder = (root / "first").string();
    FolderSearch search = {.folders = folder.c_str(), .empty_name = nullptr, .access = R_OK};
    EXPECT_FALSE(dnn_torch_find_file(&search, "file", path, sizeof(path)));
    search.folders = nullptr;
    EXPECT_FALSE(dnn_torch_find_file(&search, "file", path, sizeof(path)));
}

TEST_F(Folders, OfTheUserComeBeforeThoseOfTheInstallation)
{
    char path[PATH_MAX];
    std::string installed = list({"empty", "second"}), second = make("second/file");
    EXPECT_TRUE(dnn_torch_find_module_in(installed.c_str(), "file", path, sizeof(path)));
    EXPECT_EQ(path, second);
    std::string first = make("first/file"), users = list({"absent", "first"});
    setenv("DNN_TORCH_MODULE_PATH", users.c_str(), 1);
    EXPECT_TRUE(dnn_torch_find_module_in(installed.c_str(), "file", path, sizeof(path)));
    EXPECT_EQ(path, first);
    EXPECT_FALSE(dnn_torch_find_module_in(installed.c_str(), "none", path, sizeof(path)));
    EXPECT_EQ(path, users + " and " + installed);
}

TEST_F(Folders, AreNamedOnceEach)
{
    char path[PATH_MAX];
    const std::string both = list({"first", "second"}), second = list({"second"});
    setenv("DNN_TORCH_MODULE_PATH", both.c_str(), 1);
    EXPECT_FALSE(dnn_torch_find_module_in(second.c_str(), "none", path, sizeof(path)));
    EXPECT_EQ(path, both);
    const std::string part = second.substr(0, second.size() - 1);
    EXPECT_FALSE(dnn_torch_find_module_in(part.c_str(), "none", path, sizeof(path)));
    EXPECT_EQ(path, both + " and " + part);
}

TEST_F(Folders, IncludeTheOneOfTheObjectThatAsks)
{
    char path[PATH_MAX];
    auto here = reinterpret_cast<const void *>(&dnn_torch_find_module);
    EXPECT_FALSE(dnn_torch_find_module(here, "none", path, sizeof(path)));
    EXPECT_TRUE(fs::is_directory(path)) << path;
}

} // namespace
} // namespace dnn_torch
