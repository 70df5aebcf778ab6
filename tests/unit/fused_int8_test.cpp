// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Convolutions in int8 against the same whole numbers in doubles, and what calibration chooses.
#include "engines/torch/fused/calibrate.h"
#include "engines/torch/fused/onednn.h"
#include "fused_checks.h"

namespace engine_torch::fused
{
namespace
{

constexpr Range some_range = {-0.7f, 1.9f};

// Samples that have a code each, so that no rounding decides.
Plane coded_picture(Dice &dice, int64_t channels, Extent extent, const Quantisation &codes)
{
    Plane made(channels, extent);
    for (double &sample : made.samples)
        sample = codes.step * static_cast<float>(dice.between(0, 255) - codes.zero);
    return made;
}

// The same convolution with the weights that the whole numbers stand for.
Convolution rounded(Convolution it)
{
    std::vector<float> weights = it.weights.copy();
    const size_t each = weights.size() / static_cast<size_t>(it.out_channels);
    for (size_t first = 0; first < weights.size(); first += each) {
        float most = 0;
        for (size_t i = first; i < first + each; i++)
            most = std::max(most, std::abs(weights[i]));
        for (size_t i = first; i < first + each; i++)
            weights[i] = std::nearbyint(weights[i] / (most / 63)) * (most / 63);
    }
    it.weights = std::move(weights);
    return it;
}

// Of each channel other weights are the largest.
Convolution uneven(Dice &dice, int64_t in, int64_t out, Pair kernel, Pair padding)
{
    Convolution made = convolution(dice, in, out, kernel, padding);
    std::vector<float> weights = made.weights.copy();
    const size_t each = weights.size() / static_cast<size_t>(out);
    for (size_t i = 0; i < weights.size(); i++)
        weights[i] *= std::pow(1.4f, static_cast<float>(i / each % 9)) / 4;
    made.weights = std::move(weights);
    return made;
}

void expect_int8_right(const Convolution &layer, const std::vector<Operation> &tail,
                       const std::string &what)
{
    const int64_t channels = static_cast<int64_t>(layer.weights.size()) /
                             (layer.out_channels * layer.kernel.y * layer.kernel.x);
    Graph graph(channels), wanted(channels);
    ValueId value = graph.add(layer, {0}), other = wanted.add(rounded(layer), {0});
    for (const Operation &step : tail) {
        value = graph.add(step, {value});
        other = wanted.add(step, {other});
    }
    Dice dice(12);
    for (const Extent extent : {Extent{9, 8}, Extent{13, 37}, Extent{24, 70}}) {
        const Plane input = coded_picture(dice, channels, extent, quantisation_for(some_range));
        const Plane result = interpret(wanted, input);
        const auto base = Program::compile(graph, extent, {.int8 = {some_range}});
        ASSERT_EQ(base->in_int8(), 1u) << what;
        for (const size_t cache : all_caches)
            for (const int64_t rows : all_bands)
                expect_right(Program::with_bands(*base, rows, cache), input, result, what);
    }
}

TEST(FusedInt8, Convolutions)
{
    Dice dice(2);
    Convolution strided = uneven(dice, 16, 24, {3, 5}, {1, 2});
    strided.stride = {2, 3};
    Convolution dilated = uneven(dice, 16, 8, {3, 3}, {2, 3});
    dilated.dilation = {2, 3};
    expect_int8_right(uneven(dice, 64, 64, {3, 3}, {1, 1}), {}, "3x3");
    expect_int8_right(uneven(dice, 3, 64, {5, 5}, {2, 2}), {}, "of the frame");
    expect_int8_right(uneven(dice, 64, 12, {1, 1}, {0, 0}), {}, "1x1");
    // oneDNN 3.7's kernel for SSE4.1 is wrong; calibration keeps such layers in floats.
    if (onednn_has(dnnl::cpu_isa::avx2))
        expect_int8_right(uneven(dice, 5, 7, {2, 2}, {1, 1}), {}, "of an even kernel");
    expect_int8_right(uneven(dice, 24, 16, {3, 3}, {0, 0}), {}, "without padding");
    expect_int8_right(strided, {}, "strided");
    expect_int8_right(dilated, {}, "dilated");
}

// The largest codes with the largest weights: sums of pairs must not leave 16 bits.
TEST(FusedInt8, LargestNumbers)
{
    Convolution all = {.out_channels = 16, .kernel = {3, 3}, .padding = {1, 1}};
    all.weights = std::vector<float>(16 * 32 * 9, 0.5f);
    Graph graph(32), wanted(32);
    graph.add(all, {0});
    wanted.add(all, {0});
    Plane white(32, {9, 21});
    for (double &sample : white.samples)
        sample = 1;
    const auto program = Program::compile(graph, {9, 21}, {.int8 = {Range{0, 1}}});
    expect_right(program, white, interpret(wanted, white), "white");
}

TEST(FusedInt8, WhatFollowsALayer)
{
    Dice dice(4);
    const Convolution layer = uneven(dice, 16, 16, {3, 3}, {1, 1});
    expect_int8_right(layer, {Prelu{dice.numbers(16, 0, 0.5f)}}, "prelu");
    expect_int8_right(layer, {Activation{ActivationKind::tanh}}, "tanh");
    expect_int8_right(layer, {Affine{dice.numbers(16), dice.numbers(16)}, PixelShuffle{2}},
                      "shuffle");
}

TEST(FusedInt8, SamplesBeyondTheRange)
{
    const Quantisation codes = quantisation_for({-1, 3});
    const RowLayout in = {.channels = 1, .width = 6};
    const RowLayout out = {.channels = 1, .width = 9, .quantisation = codes};
    const float row[] = {-9, 9, NAN, 0, INFINITY, -INFINITY};
    uint8_t made[9];
    EXPECT_TRUE(std::isnan(quantise_row(row, in, 2, made, out)));
    const uint8_t zero = codes.zero;
    EXPECT_EQ(std::vector<uint8_t>(made, made + 9),
              (std::vector<uint8_t>{zero, zero, 0, 255, 0, zero, 255, 0, zero}));
    EXPECT_EQ(quantisation_for({0, 1}).zero, 0);
    EXPECT_EQ(quantisation_for({}).zero, 0);
}

// In any place of a row, of few and of many channels.
TEST(FusedInt8, TellsWhatWasCutOff)
{
    const Quantisation codes = quantisation_for({0, 1});
    for (const int64_t channels : {1, 3, 16, 21})
        for (const int64_t lanes : {channels, block_lanes()}) {
            const RowLayout in = {.channels = channels, .lanes = lanes, .width = 37};
            const RowLayout out = {
                .channels = channels, .lanes = channels, .width = 37, .quantisation = codes};
            std::vector<uint8_t> made(static_cast<size_t>(out.samples()));
            for (const int64_t x : {0, 15, 16, 36}) {
                std::vector<float> row(static_cast<size_t>(in.samples()), 0.5f);
                const auto cut_off = [&] {
                    return quantise_row(row.data(), in, 0, made.data(), out);
                };
                EXPECT_EQ(cut_off(), 0);
                float &sample = row[in.place(channels - 1, x)];
                sample = 1 + 10 * codes.step;
                EXPECT_NEAR(cut_off(), 100, 0.01) << channels << ' ' << lanes << ' ' << x;
                sample = -2 * codes.step;
                EXPECT_NEAR(cut_off(), 4, 0.01) << channels << ' ' << lanes << ' ' << x;
                sample = NAN;
                EXPECT_TRUE(std::isnan(cut_off())) << channels << ' ' << lanes << ' ' << x;
            }
        }
}

// The frame's own samples are in range, and those of a layer in the middle are not.
TEST(FusedInt8, FramesThatLeaveTheCodesAreNotSound)
{
    Dice dice(13);
    Graph graph(3);
    const ValueId first = graph.add(convolution_3x3(dice, 3, 24), {0});
    graph.add(convolution_3x3(dice, 24, 3), {first});
    const Extent extent = {24, 32};
    const auto is_sound = [&](const Range &middle, float sample) {
        const auto program = Program::compile(graph, extent, {.int8 = {Range{0, 1}, middle}});
        std::vector<float> samples = dice.numbers(3 * extent.height * extent.width, 0, 1);
        samples[100] = sample;
        bool sound = false;
        compute(program, samples, &sound);
        return sound;
    };
    EXPECT_TRUE(is_sound({-9, 9}, 0.5f));
    EXPECT_TRUE(is_sound({-9, 9}, 1.1f));
    EXPECT_FALSE(is_sound({-0.01f, 0.01f}, 0.5f));
    for (const float sample : {NAN, INFINITY, -INFINITY, 1e6f})
        EXPECT_FALSE(is_sound({-9, 9}, sample)) << sample;
}

// As super resolution has it, with one layer that loses more than all others.
Graph net(Dice &dice, bool with_bad_layer)
{
    Graph graph(3);
    ValueId value = graph.add(convolution_3x3(dice, 3, 24), {0});
    for (int layer = 0; layer < 5; layer++) {
        Convolution made = convolution_3x3(dice, 24, 24);
        if (with_bad_layer && layer == 2) {
            std::vector<float> weights = made.weights.copy();
            for (size_t i = 0; i < weights.size(); i += 216)
                weights[i] *= 150;
            made.weights = std::move(weights);
        }
        value = graph.add(made, {value});
        value = graph.add(Prelu{dice.numbers(24, 0, 0.5f)}, {value});
        if (with_bad_layer && layer == 2)
            value = add_affine(graph, value, {0.02f}, {0});
    }
    value = graph.add(convolution_3x3(dice, 24, 12), {value});
    value = add_affine(graph, value, {0.1f}, {0.5f});
    value = graph.add(PixelShuffle{2}, {value});
    graph.add(Binary{BinaryKind::add},
              {value, graph.add(Interpolation{InterpolationKind::nearest, {2, 2}}, {0})});
    return graph;
}

Calibration calibrated(const Graph &graph, double decibel, Extent extent = {40, 48})
{
    Dice dice(21);
    const int64_t channels = graph.values()[graph.input()].channels;
    std::vector<float> picture = dice.numbers(channels * extent.height * extent.width, 0, 1);
    const CalibrationPicture sample = {extent, {picture.data(), planar_strides(extent)}};
    return calibrate(graph, std::span(&sample, 1), {.decibel = decibel});
}

TEST(FusedInt8, CalibratesNets)
{
    Dice dice(5);
    const Calibration all = calibrated(net(dice, false), 30);
    EXPECT_EQ(all.in_int8, 7u);
    EXPECT_GT(all.decibel, 40);
    EXPECT_LT(all.decibel, 70);
}

TEST(FusedInt8, KeepsLayersThatLoseTooMuch)
{
    Dice dice(5);
    const Graph graph = net(dice, true);
    const Calibration all = calibrated(graph, 0);
    EXPECT_EQ(all.in_int8, 7u);
    const double goal = all.decibel + 2;
    const Calibration chosen = calibrated(graph, goal);
    EXPECT_GE(chosen.decibel, goal);
    EXPECT_LT(chosen.in_int8, 7u);
    EXPECT_GT(chosen.in_int8, 0u);
    EXPECT_EQ(std::ranges::count_if(chosen.layers, [](const auto &it) { return it.has_value(); }),
              static_cast<ptrdiff_t>(chosen.in_int8));
    const Calibration none = calibrated(graph, 98);
    EXPECT_EQ(none.in_int8, 0u);
}

// Layers whose weights are not finite, or overflow, are left in fp32; a tiny weight counts as 0.
TEST(FusedInt8, NumbersThatAreNone)
{
    const std::pair<float, size_t> cases[] = {{NAN, 0}, {INFINITY, 0}, {3e38f, 0}, {1e-42f, 2}};
    for (const auto &[bad, in_int8] : cases) {
        Dice dice(9);
        Graph graph(3);
        Convolution first = convolution_3x3(dice, 3, 8);
        std::vector<float> weights = first.weights.copy();
        weights[5] = bad;
        first.weights = std::move(weights);
        const ValueId value = graph.add(first, {0});
        Convolution last = convolution_3x3(dice, 8, 3);
        std::vector<float> larger = last.weights.copy();
        for (float &weight : larger)
            weight *= bad > 1 ? 100.0F : 1.0F; // overflows in whatever order sums are taken
        last.weights = std::move(larger);
        graph.add(last, {value});
        const Calibration made = calibrated(graph, 30);
        // oneDNN 3.7's kernel for SSE4.1 is wrong for some layers, which stay in floats.
        if (onednn_has(dnnl::cpu_isa::avx2)) {
            EXPECT_EQ(made.in_int8, in_int8) << bad;
        }
        EXPECT_LE(made.in_int8, in_int8) << bad;
        EXPECT_GE(made.decibel, 30) << bad;
    }
}

// Bands, groups and the sizes that were compiled before do not matter.
TEST(FusedInt8, BandsGiveTheSameBits)
{
    Dice dice(6);
    const Graph graph = net(dice, false);
    const LayerRanges layers = calibrated(graph, 0).layers;
    const Extent extent = {37, 29};
    const std::vector<float> input = dice.numbers(3 * extent.height * extent.width, 0, 1);
    const auto base = Program::compile(graph, extent, {.int8 = layers});
    const std::vector<float> wanted = compute(base, input);
    for (const size_t cache : all_caches)
        for (const int64_t rows : all_bands)
            EXPECT_EQ(compute(Program::with_bands(*base, rows, cache), input), wanted) << rows;
    const auto other = Program::compile(graph, {20, 64}, {.int8 = layers}, base.get());
    const auto again = Program::compile(graph, extent, {.int8 = layers}, other.get());
    EXPECT_EQ(compute(again, input), wanted);
    const auto plain = Program::compile(graph, extent, {}, again.get());
    const auto back = Program::compile(graph, extent, {.int8 = layers}, plain.get());
    EXPECT_EQ(plain->in_int8(), 0u);
    EXPECT_EQ(compute(back, input), wanted);
}

// Where all others are too slow or cannot be had, layers stay in floats.
TEST(FusedInt8, GroupsStayInFloats)
{
    Dice dice(7);
    Graph graph(16);
    const ValueId first = graph.add(convolution(dice, 16, 16, {3, 3}, {1, 1}, 16), {0});
    graph.add(convolution_3x3(dice, 16, 16), {first});
    const Calibration made = calibrated(graph, 0);
    EXPECT_EQ(made.in_int8, 1u);
}

} // namespace
} // namespace engine_torch::fused
