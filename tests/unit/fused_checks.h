// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Programs against an interpreter that computes every sample by itself.
#pragma once

#include "fused_nets.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace engine_torch::fused
{

inline constexpr int64_t all_bands[] = {1, 2, 3, 5, 8, 0};
inline constexpr LayoutChoice all_layouts[] = {LayoutChoice::fastest, LayoutChoice::interleaved,
                                               LayoutChoice::direct};
// So large that all layers are one group; and so small that each convolution is one.
inline constexpr size_t all_caches[] = {size_t{1} << 40, 1};

struct Difference {
    double largest, largest_value;
};

inline Difference difference(const std::vector<float> &got, const Plane &wanted)
{
    Difference found = {0, 1e-3};
    for (size_t i = 0; i < got.size(); i++) {
        const double off = std::abs(got[i] - wanted.samples[i]);
        found.largest = off > found.largest || off != off ? off : found.largest;
        found.largest_value = std::max(found.largest_value, std::abs(wanted.samples[i]));
    }
    return found;
}

inline std::vector<float> samples_of(const Plane &input)
{
    return {input.samples.begin(), input.samples.end()};
}

inline void expect_right(const std::shared_ptr<const Program> &program, const Plane &input,
                         const Plane &wanted, const std::string &what)
{
    const std::vector<float> got = compute(program, samples_of(input));
    ASSERT_EQ(got.size(), wanted.samples.size()) << what;
    const Difference found = difference(got, wanted);
    EXPECT_LE(found.largest, 1e-5 * found.largest_value) << what << "\n" << program->text();
}

inline Plane picture(Dice &dice, int64_t channels, Extent extent)
{
    Plane made(channels, extent);
    const std::vector<float> numbers = dice.numbers(channels * extent.height * extent.width);
    std::copy(numbers.begin(), numbers.end(), made.samples.begin());
    return made;
}

// All bands, layouts and groups give the reference's result.
inline void expect_all_right(const Graph &graph, Extent extent, const std::string &what)
{
    Dice dice(7);
    const Plane input = picture(dice, graph.values()[graph.input()].channels, extent);
    const Plane wanted = interpret(graph, input);
    for (const LayoutChoice layouts : all_layouts) {
        const auto base = Program::compile(graph, extent, {.layouts = layouts});
        for (const size_t cache : all_caches)
            for (const int64_t rows : all_bands)
                expect_right(Program::with_bands(*base, rows, cache), input, wanted,
                             what + ", " + std::to_string(extent.width) + "x" +
                                 std::to_string(extent.height) + ", " + std::to_string(rows) +
                                 " rows");
    }
}

// A sample's bits must not depend on how the machine's caches divide a frame.
inline void expect_same_bits_in_all_bands(const Graph &graph, Extent extent, CompileOptions options,
                                          const std::vector<float> &input)
{
    options.band_rows = 0;
    const auto base = Program::compile(graph, extent, options);
    const std::vector<float> whole = compute(base, input);
    for (const size_t cache : all_caches)
        for (const int64_t rows : all_bands)
            EXPECT_EQ(compute(Program::with_bands(*base, rows, cache), input), whole) << rows;
}

inline constexpr Extent sizes[] = {{1, 1}, {2, 3}, {7, 5}, {13, 17}};

} // namespace engine_torch::fused
