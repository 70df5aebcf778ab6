// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Rows to floats and back, with every instruction set that this CPU has, against
// the same said sample by sample.
#include "host/frames/convert.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <hwy/highway.h>
#include <limits>
#include <random>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using namespace dnn_torch;

namespace
{

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

std::vector<int64_t> targets()
{
    std::vector<int64_t> found;
    for (int64_t left = hwy::SupportedTargets() & HWY_TARGETS; left; left &= left - 1)
        found.push_back(left & -left);
    return found;
}

// Memory that ends where no memory is, so that whoever reads or writes beyond
// it ends the test; what lies before it can be asked for.
class Guarded
{
public:
    explicit Guarded(size_t bytes) : bytes_(bytes)
    {
        const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
        usable_ = (bytes + before + page - 1) / page * page;
        mapped_ = mmap(nullptr, usable_ + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mapped_ == MAP_FAILED || mprotect(mapped_, usable_, PROT_READ | PROT_WRITE))
            throw std::bad_alloc();
        page_ = page;
        memset(mapped_, canary, usable_);
    }
    ~Guarded() { munmap(mapped_, usable_ + page_); }
    Guarded(const Guarded &) = delete;
    Guarded &operator=(const Guarded &) = delete;

    uint8_t *bytes() { return static_cast<uint8_t *>(mapped_) + usable_ - bytes_; }
    template <class T> T *as() { return reinterpret_cast<T *>(bytes()); }

    bool unharmed()
    {
        const uint8_t *start = bytes() - before;
        return std::all_of(start, start + before, [](uint8_t value) { return value == canary; });
    }

private:
    static constexpr size_t before = 256;
    static constexpr uint8_t canary = 0xA5;
    size_t bytes_, usable_ = 0, page_ = 0;
    void *mapped_;
};

size_t element_bytes(const RowLayout &layout)
{
    return layout.element == Element::u8 ? 1 : layout.element == Element::u16 ? 2 : 4;
}

// ---- what the conversions mean -------------------------------------------------

float expected_float(const RowLayout &layout, const uint8_t *at)
{
    float number;
    uint16_t code = *at;
    if (layout.element == Element::u16)
        memcpy(&code, at, sizeof(code));
    memcpy(&number, at, layout.element == Element::f32 ? sizeof(number) : 0);
    return layout.element == Element::f32 ? number
                                          : static_cast<float>(code >> layout.shift) / layout.white;
}

// What a float is in a sample's bits.
uint32_t expected_bits(const RowLayout &layout, float value)
{
    if (std::isnan(value))
        value = 0;
    if (layout.element == Element::f32)
        return std::bit_cast<uint32_t>(value);
    float scaled = std::clamp(value * layout.white, 0.0F, layout.white);
    return static_cast<uint32_t>(std::nearbyint(scaled)) << layout.shift;
}

uint32_t bits_at(const RowLayout &layout, const uint8_t *at)
{
    uint32_t bits = 0;
    static_assert(std::endian::native == std::endian::little);
    memcpy(&bits, at, element_bytes(layout));
    return bits;
}

RowLayout planar(Element element, int depth = 8, int shift = 0, int channels = 1)
{
    float white = element == Element::f32 ? 1.0F : static_cast<float>((1 << depth) - 1);
    return {element, shift, white, channels, 1, {0, 0, 0}, -1};
}

std::vector<RowLayout> all_layouts()
{
    std::vector<RowLayout> layouts;
    for (auto [element, depth, shift] :
         {std::tuple{Element::u8, 8, 0}, std::tuple{Element::u16, 16, 0},
          std::tuple{Element::u16, 10, 6}, std::tuple{Element::u16, 9, 0},
          std::tuple{Element::f32, 32, 0}}) {
        RowLayout layout = planar(element, depth == 32 ? 1 : depth, shift);
        layouts.push_back(layout);
        layout.channels = 3;
        layouts.push_back(layout);
        float white = layout.white;
        layouts.push_back({element, shift, white, 1, 2, {0}, 1});
        layouts.push_back({element, shift, white, 3, 3, {0, 1, 2}, -1});
        layouts.push_back({element, shift, white, 3, 3, {2, 1, 0}, -1});
        layouts.push_back({element, shift, white, 3, 4, {0, 1, 2}, 3});
        layouts.push_back({element, shift, white, 3, 4, {3, 2, 1}, 0});
    }
    return layouts;
}

// A row as a frame has it: one run of memory, or one for each channel.
struct Row {
    const RowLayout layout;
    std::vector<std::unique_ptr<Guarded>> memory;
    FrameRow row{};

    Row(const RowLayout &of, size_t width, unsigned seed) : layout(of)
    {
        std::minstd_rand random(seed);
        const size_t samples = width * static_cast<size_t>(layout.group);
        for (int c = 0; c < (layout.group > 1 ? 1 : layout.channels); c++) {
            memory.push_back(std::make_unique<Guarded>(samples * element_bytes(layout)));
            row.channel[c] = memory.back()->bytes();
            for (size_t i = 0; i < samples; i++)
                put(memory.back()->bytes() + i * element_bytes(layout), random);
        }
        for (int c = layout.channels - 1; layout.group > 1 && c > 0; c--)
            row.channel[c] = row.channel[0];
    }

    void put(uint8_t *at, std::minstd_rand &random) const
    {
        auto value = static_cast<float>(random()) / 2e9F;
        const float number = layout.element == Element::f32 ? value * 9 - 4 : value;
        const uint32_t bits = expected_bits(layout, number);
        memcpy(at, &bits, element_bytes(layout));
    }

    uint8_t *at(size_t x, int channel) const
    {
        const int position = layout.group > 1 ? layout.position[channel] : 0;
        return sample(x, layout.group > 1 ? 0 : channel, position);
    }
    uint8_t *unseen(size_t x) const { return sample(x, 0, layout.unseen); }

    bool unharmed() const
    {
        return std::all_of(memory.begin(), memory.end(), [](auto &run) { return run->unharmed(); });
    }

private:
    uint8_t *sample(size_t x, int run, int position) const
    {
        return memory[static_cast<size_t>(run)]->bytes() +
               (x * static_cast<size_t>(layout.group) + static_cast<size_t>(position)) *
                   element_bytes(layout);
    }
};

// A row of floats: planes apart (step 1), side by side (step = channels), or with gaps.
struct Numbers {
    std::vector<std::unique_ptr<Guarded>> memory;
    FloatRow row{};

    Numbers(int channels, size_t width, size_t step)
    {
        row.step = static_cast<ptrdiff_t>(step);
        const bool apart = step == 1;
        const size_t used = apart ? width : (width - 1) * step + static_cast<size_t>(channels);
        for (int c = 0; c < channels; c++) {
            if (apart || c == 0)
                memory.push_back(std::make_unique<Guarded>(used * sizeof(float)));
            row.channel[c] = memory.back()->as<float>() + (apart ? 0 : c);
        }
    }
    float &at(size_t x, int c) const
    {
        return row.channel[c][static_cast<ptrdiff_t>(x) * row.step];
    }
    bool unharmed() const
    {
        return std::all_of(memory.begin(), memory.end(), [](auto &run) { return run->unharmed(); });
    }
};

class Target : public testing::TestWithParam<int64_t>
{
public:
    static void use(int64_t target)
    {
        hwy::SetSupportedTargetsForTest(target);
        hwy::GetChosenTarget().DeInit();
    }

protected:
    void SetUp() override { use(GetParam()); }
    void TearDown() override { use(0); }
};

TEST_P(Target, IsTheOneThatIsMeant)
{
    Row warm(planar(Element::u8), 4, 1);
    Numbers numbers(1, 4, 1);
    read_row(warm.layout, warm.row, numbers.row, 4);
    EXPECT_STREQ(convert_target(), hwy::TargetName(GetParam()));
}

TEST_P(Target, EveryCodeIsDividedExactlyAndComesBack)
{
    for (auto [depth, shift] :
         {std::pair{8, 0}, {9, 0}, {10, 0}, {10, 6}, {12, 0}, {12, 4}, {14, 0}, {16, 0}}) {
        const RowLayout layout = planar(depth == 8 ? Element::u8 : Element::u16, depth, shift);
        const size_t width = size_t{1} << depth;
        Row from(layout, width, 1), to(layout, width, 2);
        Numbers numbers(1, width, 1);
        for (uint32_t code = 0; code < width; code++) {
            const uint32_t bits = code << shift;
            memcpy(from.at(code, 0), &bits, element_bytes(layout));
        }
        read_row(layout, from.row, numbers.row, width);
        EXPECT_FALSE(write_row(layout, numbers.row, nullptr, to.row, width));
        for (uint32_t code = 0; code < width; code++) {
            ASSERT_EQ(numbers.at(code, 0), static_cast<float>(code) / layout.white)
                << code << " of " << depth << " bits";
            ASSERT_EQ(bits_at(layout, to.at(code, 0)), code << shift) << depth << " bits";
        }
    }
}

// The numbers that a model wants, of fractions.
constexpr NumberMap maps[] = {
    {{255, 255, 255}, {0, 0, 0}}, {{2, 2, 2}, {-1, -1, -1}}, {{-1, 4.4F, 0.5F}, {1, -2.1F, 0.25F}}};

TEST_P(Target, EveryNumberMapOfEveryLayout)
{
    for (RowLayout layout : all_layouts())
        for (const NumberMap &map : maps)
            for (size_t width : {1, 15, 16, 17, 33, 513, 1100}) {
                layout.numbers = &map;
                Row from(layout, width, 3), to(layout, width, 4);
                Numbers numbers(layout.channels, width, 1);
                read_row(layout, from.row, numbers.row, width);
                for (size_t x = 0; x < width; x++)
                    for (int c = 0; c < layout.channels; c++) {
                        const float wanted =
                            expected_float(layout, from.at(x, c)) * map.factor[c] + map.offset[c];
                        ASSERT_NEAR(numbers.at(x, c), wanted,
                                    1e-5F * std::max(1.0F, std::abs(wanted)));
                    }
                EXPECT_FALSE(write_row(layout, numbers.row, &from.row, to.row, width));
                for (size_t x = 0; x < width; x++)
                    for (int c = 0; c < layout.channels; c++)
                        ASSERT_NEAR(expected_float(layout, to.at(x, c)),
                                    expected_float(layout, from.at(x, c)),
                                    layout.element == Element::f32 ? 2e-4F : 1e-9F);
                EXPECT_TRUE(from.unharmed() && to.unharmed() && numbers.unharmed());
            }
}

TEST_P(Target, NumbersUpToWhiteAreTheCodesThemselves)
{
    constexpr NumberMap codes = {{255, 255, 255}, {0, 0, 0}};
    RowLayout layout = planar(Element::u8);
    layout.numbers = &codes;
    Row from(layout, 256, 1);
    Numbers numbers(1, 256, 1);
    for (int code = 0; code < 256; code++)
        *from.at(static_cast<size_t>(code), 0) = static_cast<uint8_t>(code);
    read_row(layout, from.row, numbers.row, 256);
    for (int code = 0; code < 256; code++)
        ASSERT_EQ(numbers.at(static_cast<size_t>(code), 0), static_cast<float>(code));
}

TEST_P(Target, EveryLayoutOfEveryWidth)
{
    for (const RowLayout &layout : all_layouts())
        for (size_t width :
             {1, 2, 3, 4, 7, 15, 16, 17, 31, 33, 63, 64, 65, 129, 511, 512, 513, 1100})
            for (size_t step : {1, layout.channels, 5}) {
                SCOPED_TRACE(testing::Message()
                             << "element " << static_cast<int>(layout.element) << " group "
                             << layout.group << " first at " << layout.position[0] << " channels "
                             << layout.channels << " width " << width << " step " << step);
                Row from(layout, width, 3), to(layout, width, 4);
                Numbers numbers(layout.channels, width, step);
                read_row(layout, from.row, numbers.row, width);
                for (size_t x = 0; x < width; x++)
                    for (int c = 0; c < layout.channels; c++)
                        ASSERT_EQ(numbers.at(x, c), expected_float(layout, from.at(x, c))) << x;
                EXPECT_FALSE(write_row(layout, numbers.row, &from.row, to.row, width));
                for (size_t run = 0; run < from.memory.size(); run++)
                    ASSERT_EQ(
                        memcmp(from.memory[run]->bytes(), to.memory[run]->bytes(),
                               width * static_cast<size_t>(layout.group) * element_bytes(layout)),
                        0);
                EXPECT_TRUE(from.unharmed() && to.unharmed() && numbers.unharmed());
            }
}

TEST_P(Target, WhatIsNotSeenBecomesOnesWithoutASource)
{
    for (const RowLayout &layout : all_layouts()) {
        if (layout.unseen < 0 || layout.shift)
            continue;
        const size_t width = 600;
        Row to(layout, width, 5);
        Numbers numbers(layout.channels, width, 1);
        for (size_t x = 0; x < width; x++)
            for (int c = 0; c < layout.channels; c++)
                numbers.at(x, c) = 0.25F;
        write_row(layout, numbers.row, nullptr, to.row, width);
        for (size_t x = 0; x < width; x++)
            ASSERT_EQ(bits_at(layout, to.unseen(x)), expected_bits(layout, 1.0F));
    }
}

std::vector<float> awkward_numbers(float white)
{
    std::vector<float> numbers = {0.0F,      -0.0F,  1.0F,  -1.0F,  1.5F, infinity,
                                  -infinity, 1e-45F, 1e30F, -1e30F, 3e9F, -3e9F};
    for (int code = -2; code <= static_cast<int>(white) + 2; code++)
        for (float part : {0.25F, 0.5F, 0.75F}) {
            float middle = (static_cast<float>(code) + part) / white;
            numbers.insert(numbers.end(), {middle, std::nextafter(middle, -infinity),
                                           std::nextafter(middle, infinity)});
        }
    return numbers;
}

TEST_P(Target, NumbersAreClampedAndRoundedToNearestEven)
{
    for (auto [element, depth] :
         {std::pair{Element::u8, 8}, {Element::u16, 10}, {Element::u16, 16}, {Element::f32, 1}}) {
        const RowLayout layout = planar(element, depth);
        const std::vector<float> values = awkward_numbers(layout.white);
        Row to(layout, values.size(), 6);
        Numbers numbers(1, values.size(), 1);
        std::copy(values.begin(), values.end(), numbers.row.channel[0]);
        EXPECT_FALSE(write_row(layout, numbers.row, nullptr, to.row, values.size()));
        for (size_t i = 0; i < values.size(); i++)
            ASSERT_EQ(bits_at(layout, to.at(i, 0)), expected_bits(layout, values[i]))
                << std::hexfloat << values[i] << " in " << depth << " bits";
    }
}

TEST_P(Target, AHalfGoesToTheEvenCode)
{
    const RowLayout layout = planar(Element::u8);
    Row to(layout, 1, 7);
    Numbers numbers(1, 1, 1);
    numbers.at(0, 0) = 0.5F;
    write_row(layout, numbers.row, nullptr, to.row, 1);
    EXPECT_EQ(*to.at(0, 0), 128);
}

TEST_P(Target, NanBecomesBlackAndIsReported)
{
    constexpr size_t width = 71;
    for (const RowLayout &layout : all_layouts())
        for (size_t x = 0; x < width; x++) {
            const int channel = layout.channels - 1;
            Row to(layout, width, 8);
            Numbers numbers(layout.channels, width, x % 2 ? 1 : 3);
            for (size_t i = 0; i < width; i++)
                for (int c = 0; c < layout.channels; c++)
                    numbers.at(i, c) = 1.0F;
            numbers.at(x, channel) = x % 3 ? nan_value : -nan_value;
            EXPECT_TRUE(write_row(layout, numbers.row, nullptr, to.row, width));
            for (size_t i = 0; i < width; i++)
                ASSERT_EQ(bits_at(layout, to.at(i, channel)),
                          expected_bits(layout, i == x ? 0.0F : 1.0F))
                    << i << " with a NaN at " << x;
        }
}

// As where a model expands one sample over a row.
TEST_P(Target, AStepOfNothingIsRead)
{
    const RowLayout layout = planar(Element::u8);
    Row to(layout, 100, 9);
    float value = 0.2F;
    const FloatRow row{{&value}, 0};
    EXPECT_FALSE(write_row(layout, row, nullptr, to.row, 100));
    for (size_t x = 0; x < 100; x++)
        ASSERT_EQ(*to.at(x, 0), 51);
}

INSTANTIATE_TEST_SUITE_P(All, Target, testing::ValuesIn(targets()), [](const auto &target) {
    return std::string(hwy::TargetName(target.param));
});

} // namespace
