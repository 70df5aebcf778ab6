// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Reading files of weights, without LibTorch: small files that PyTorch wrote, and pickles by hand.
#include "engines/torch/architectures/architecture.h"
#include "engines/torch/checkpoint/checkpoint.h"
#include "engines/torch/checkpoint/pickle.h"
#include "engines/torch/checkpoint/safetensors.h"
#include "engines/torch/failure.h"

#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <string_view>

namespace engine_torch
{
namespace
{

using Kind = PickledValue::Kind;
using namespace std::string_literals;

FileBytes file_of(const std::string &bytes)
{
    return FileBytes({.size = sizeof(DnnTorchSource),
                      .name = "x.pth",
                      .fd = -1,
                      .data = bytes.data(),
                      .data_size = bytes.size()});
}

std::string contents_of(const std::string &name)
{
    std::ifstream file(CHECKPOINTS "/" + name, std::ios::binary);
    EXPECT_TRUE(file.is_open()) << name;
    return {std::istreambuf_iterator<char>(file), {}};
}

struct Saved {
    const char *name, *format, *place;
    ElementType type;
};

class SavedFiles : public testing::TestWithParam<Saved>
{
};

TEST_P(SavedFiles, AreRecognised)
{
    const Saved &saved = GetParam();
    FileBytes file = file_of(contents_of(saved.name));
    ASSERT_TRUE(Checkpoint::is_one(file));
    const Checkpoint checkpoint(std::move(file));
    EXPECT_EQ(checkpoint.format(), saved.format);
    const Recognised recognised = recognise(checkpoint.candidates());
    EXPECT_EQ(recognised.network.architecture, "Compact");
    EXPECT_EQ(recognised.candidate->place, saved.place);
    const Weight &weight = recognised.candidate->weights.at("body.0.weight");
    EXPECT_EQ(weight.shape, (std::vector<int64_t>{2, 3, 3, 3}));
    EXPECT_EQ(weight.type, saved.type);
    EXPECT_EQ(weight.bytes.size(), 54 * bytes_of(saved.type));
}

constexpr const char *zip = "PyTorch checkpoint", *older = "PyTorch checkpoint of the older format",
                     *group = "state_dict, names after generator.";
INSTANTIATE_TEST_SUITE_P(
    All, SavedFiles,
    testing::Values(Saved{"accepted-plain.pth", zip, "", ElementType::float32},
                    Saved{"accepted-ema.pth", zip, "params_ema", ElementType::float32},
                    Saved{"accepted-older.pth", older, "", ElementType::float32},
                    Saved{"accepted-training.ckpt", zip, group, ElementType::float16},
                    Saved{"accepted-training-older.ckpt", older, group, ElementType::float16},
                    Saved{"accepted-plain.safetensors", "safetensors", "", ElementType::float32}),
    [](const auto &tested) {
        std::string name = tested.param.name;
        for (char &c : name)
            c = isalnum(static_cast<unsigned char>(c)) ? c : '_';
        return name;
    });

TEST(SavedFiles, CutAnywhereAreRefused)
{
    for (const char *name : {"accepted-plain.pth", "accepted-older.pth"}) {
        const std::string whole = contents_of(name);
        for (size_t size = 1; size < whole.size(); size++) {
            FileBytes file = file_of(whole.substr(0, size));
            if (Checkpoint::is_one(file)) {
                EXPECT_THROW(Checkpoint{std::move(file)}, Failure) << name << ' ' << size;
            }
        }
    }
}

TEST(Safetensors, AreReadAsTheyWereWritten)
{
    const std::string numbers = "abcdef";
    Weights::Map map;
    map["turned"] = {
        .type = ElementType::uint8, .shape = {2, 3}, .strides = {1, 2}, .bytes = numbers};
    map["plain"] = {.type = ElementType::int16, .shape = {3}, .strides = {1}, .bytes = numbers};
    map["none"] = {.type = ElementType::float32, .shape = {0, 2}, .strides = {2, 1}, .bytes = {}};
    std::string file;
    write_safetensors(Weights(map), [&](std::string_view bytes) { file += bytes; });
    ASSERT_TRUE(is_safetensors(file));
    const Weights read = read_safetensors(file);
    EXPECT_EQ(read.at("turned").bytes, "acebdf");
    EXPECT_EQ(read.at("plain").bytes, "abcdef");
    EXPECT_EQ(read.at("none").shape, (std::vector<int64_t>{0, 2}));
    map["\xff"] = map["none"];
    EXPECT_THROW(write_safetensors(Weights(map), [](std::string_view) {}), WeightFault);
}

// ---- pickles --------------------------------------------------------------------------

Pickle read(const std::string &program)
{
    std::string_view rest = program;
    return Pickle(rest);
}

std::string fault_of(const std::string &program)
{
    try {
        read(program);
    } catch (const WeightFault &fault) {
        return fault.what();
    }
    return "";
}

int64_t number_of(const std::string &program)
{
    const std::string whole = "\x80\x02" + program + ".";
    const Pickle pickle = read(whole);
    EXPECT_EQ(pickle.root().kind, Kind::integer);
    return pickle.root().number;
}

TEST(Pickles, HaveNumbersOfAllSizes)
{
    EXPECT_EQ(number_of("K\xff"), 255);
    EXPECT_EQ(number_of("M\xff\xff"), 65535);
    EXPECT_EQ(number_of("J\xff\xff\xff\xff"), -1);
    EXPECT_EQ(number_of("\x8a\0"s), 0);
    EXPECT_EQ(number_of("\x8a\1\xff"), -1);
    EXPECT_EQ(number_of("\x8a\2\xff\0"s), 255);
    EXPECT_EQ(number_of("\x8a\x08\0\0\0\0\0\0\0\x80"s), INT64_MIN);
    const std::string large = "\x80\x02\x8a\x09\1\2\3\4\5\6\7\x08\x09.";
    EXPECT_EQ(read(large).root().kind, Kind::other);
}

TEST(Pickles, MayContainThemselves)
{
    const std::string program = "\x80\x02]q\0h\0a."s;
    const Pickle pickle = read(program);
    EXPECT_EQ(pickle.root().kind, Kind::list);
    EXPECT_EQ(&pickle.at(pickle.root().parts.at(0)), &pickle.root());
}

TEST(Pickles, AreReadOneAfterTheOther)
{
    const std::string two = "\x80\x02K\1.\x80\x04\x95\0\0\0\0\0\0\0\0\x8c\3abc\x94.rest"s;
    std::string_view rest = two;
    EXPECT_EQ(Pickle(rest).root().number, 1);
    EXPECT_EQ(Pickle(rest).root().text, "abc");
    EXPECT_EQ(rest, "rest");
}

TEST(Pickles, KeepTheNamesOfWhatIsNotCalled)
{
    for (const char *program :
         {"\x80\x02"
          "ca.b\nC\n)R.",
          "\x80\x02"
          "ca.b\nC\n)\x81.",
          "\x80\x02(ia.b\nC\n.", "\x80\x02(ca.b\nC\no.", "\x80\x04\x8c\3a.b\x8c\1C\x93)R."}) {
        const std::string text = program;
        const Pickle pickle = read(text);
        EXPECT_EQ(pickle.root().kind, Kind::opaque);
        EXPECT_EQ(pickle.root().text, "a.b.C");
    }
}

TEST(Pickles, RefuseByNameWhatRunsPrograms)
{
    for (const char *name :
         {"os\nsystem", "posix\nsystem", "nt\nsystem", "subprocess\nPopen", "builtins\neval",
          "__builtin__\nexec", "builtins\n__import__", "runpy\nrun_path", "sys\nexit"}) {
        std::string dotted = name;
        dotted.replace(dotted.find('\n'), 1, ".");
        const std::string fault = fault_of(std::string("\x80\x02") + "c" + name + "\n.");
        EXPECT_EQ(fault.find("asks to run " + dotted + ", which is not done"), 0U) << fault;
    }
    EXPECT_EQ(fault_of("\x80\x02"
                       "cbuiltins\nset\n."),
              "");
    EXPECT_EQ(fault_of("\x80\x02"
                       "costrich\nx\n."),
              "");
}

} // namespace
} // namespace engine_torch
