// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Tiles of 3x3 convolutions by transforms, with nets and frames that are made to break them: what
// is bright must not spoil what does not depend on it.
#include "engines/torch/fused/bf16_units.h"
#include "engines/torch/fused/gains.h"
#include "engines/torch/fused/onednn.h"
#include "fused_checks.h"

namespace engine_torch::fused
{
namespace
{

constexpr Extent extent = {48, 64};
constexpr double step_of_8_bits = 1.0 / 255;

// Weights of a convolution, all zero.
std::vector<float> zeros(int64_t out, int64_t in, int64_t taps)
{
    return std::vector<float>(static_cast<size_t>(out * in * taps));
}

ValueId add_1x1(Graph &graph, ValueId from, int64_t out, std::vector<float> weights,
                std::vector<float> bias = {})
{
    return graph.add(Convolution{.out_channels = out,
                                 .kernel = {1, 1},
                                 .weights = std::move(weights),
                                 .bias = std::move(bias)},
                     {from});
}

// The picture divided by `gain`, and how far samples lie above `white` times `bright`; 3x3; times
// `gain`.
struct Leaking {
    float gain, white, bright;
    bool mixes = true; // the 3x3 layer

    ValueId add(Graph &graph) const
    {
        Dice dice(1);
        std::vector<float> first = zeros(16, 3, 1), bias(16), last = zeros(3, 16, 1);
        for (size_t channel = 0; channel < 16; channel++) {
            const bool is_picture = channel < 8;
            first[channel * 3 + channel % 3] = is_picture ? 1 / gain : bright;
            bias[channel] = is_picture ? 0 : -white * bright;
        }
        ValueId value = add_1x1(graph, 0, 16, first, bias);
        value = graph.add(Activation{}, {value});
        std::vector<float> middle = dice.numbers(16 * 16 * 9, 0, mixes ? 0.02f : 0);
        for (size_t channel = 0; channel < 16; channel++)
            middle[(channel * 16 + channel) * 9 + 4] += 1;
        value = graph.add(
            Convolution{.out_channels = 16, .kernel = {3, 3}, .padding = {1, 1}, .weights = middle},
            {value});
        for (size_t channel = 0; channel < 8; channel++)
            last[channel % 3 * 16 + channel] = gain / 3;
        return add_1x1(graph, value, 3, last);
    }
};

// A dark frame with single pixels of that size.
Plane dark_with_points(double point)
{
    Dice dice(2);
    Plane made(3, extent);
    const std::vector<float> numbers = dice.numbers(3 * extent.height * extent.width, 0.01f, 0.1f);
    std::copy(numbers.begin(), numbers.end(), made.samples.begin());
    for (int64_t y = 5; y < extent.height; y += 14)
        for (int64_t x = 3; x < extent.width; x += 13)
            for (int64_t channel = 0; channel < 3; channel++)
                made.at(channel, y, x) = point;
    return made;
}

// Whether a 3x3 window joins the place to one of the points.
bool is_joined(int64_t y, int64_t x, const Plane &frame)
{
    for (int64_t down = -1; down <= 1; down++)
        for (int64_t across = -1; across <= 1; across++)
            if (frame.get(0, y + down, x + across) > 0.5)
                return true;
    return false;
}

// The most that results are off where no point is joined to them.
double most_off(const Graph &graph, const Plane &frame, const CompileOptions &options,
                Run::Tiles *tiles = nullptr)
{
    const auto program = Program::compile(graph, extent, options);
    const std::vector<float> got = compute(program, samples_of(frame), nullptr, tiles);
    const Plane wanted = interpret(graph, frame);
    double most = 0;
    for (int64_t channel = 0; channel < wanted.channels; channel++)
        for (int64_t y = 0; y < extent.height; y++)
            for (int64_t x = 0; x < extent.width; x++) {
                const auto place =
                    static_cast<size_t>((channel * extent.height + y) * extent.width + x);
                const double off =
                    std::abs(static_cast<double>(got[place]) - wanted.samples[place]);
                if (!is_joined(y, x, frame) && !(off <= most))
                    most = off; // also if it is no number
            }
    return most;
}

const Leaking leaking_nets[] = {
    {10, 0.5f, 3e8f},      {300, 0.5f, 3e8f}, {1e4f, 0.5f, 10},     {1e4f, 0.5f, 10, false},
    {1, 0.5f, 1e4f},       {1, 0.5f, 1e6f},   {1e15f, 0.5f, 1e-9f}, {1e-10f, 0.5f, 1e18f},
    {1e18f, 0.5f, 1e-14f}, {30, 0.5f, 100},
};

TEST(FusedTiles, BrightFeaturesSpoilNoOthers)
{
    for (const Leaking &net : leaking_nets) {
        Graph graph(3);
        net.add(graph);
        EXPECT_LT(most_off(graph, dark_with_points(1), {}), step_of_8_bits / 4)
            << net.gain << ' ' << net.bright;
    }
}

// Behind a layer in codes, too, whose steps are as large as those of 8 bits.
TEST(FusedTiles, BrightFeaturesSpoilNoOthersInInt8)
{
    for (const Leaking &net : leaking_nets) {
        Graph graph(3);
        net.add(graph);
        const LayerRanges first = {Range{0, 1}, std::nullopt, std::nullopt};
        EXPECT_LT(most_off(graph, dark_with_points(1), {.int8 = first}), 2 * step_of_8_bits)
            << net.gain << ' ' << net.bright;
    }
}

// In bf16 numbers have 8 bits, and no layer's dark features are lost by more.
TEST(FusedTiles, BrightFeaturesSpoilNoOthersInBf16)
{
    if (!transforms_pay(Precision::bf16) || !onednn_has_bf16())
        GTEST_SKIP() << "no tiles in bf16 on this processor";
    for (const Leaking &net : leaking_nets) {
        Graph graph(3);
        net.add(graph);
        EXPECT_LT(most_off(graph, dark_with_points(1), {.precision = Precision::bf16}), 0.1 / 16)
            << net.gain << ' ' << net.bright;
    }
}

// A feature that is bright everywhere, and counts nowhere, hides no other.
TEST(FusedTiles, WhatCountsNowhereHidesNothing)
{
    Dice dice(3);
    Graph graph(3);
    std::vector<float> first = zeros(16, 3, 1), bias(16), last = zeros(3, 16, 1);
    for (size_t channel = 0; channel < 3; channel++) {
        first[channel * 3 + channel] = 1;
        first[(channel + 3) * 3 + channel] = 1e6f; // those above 0.5
        bias[channel + 3] = -0.5e6f;
        bias[channel + 6] = 1e7f;
        last[channel * 16 + channel] = 1;
    }
    ValueId value = graph.add(Activation{}, {add_1x1(graph, 0, 16, first, bias)});
    std::vector<float> middle = dice.numbers(16 * 16 * 9, 0, 0.01f);
    for (size_t out = 0; out < 3; out++)
        for (size_t in = 6; in < 9; in++)
            std::fill_n(middle.begin() + static_cast<ptrdiff_t>((out * 16 + in) * 9), 9, 0.0f);
    value = graph.add(
        Convolution{.out_channels = 16, .kernel = {3, 3}, .padding = {1, 1}, .weights = middle},
        {value});
    add_1x1(graph, value, 3, last);
    EXPECT_LT(most_off(graph, dark_with_points(1), {}), step_of_8_bits / 4);
}

// Wherever they stand: at edges too, and in any channel.
TEST(FusedTiles, NumbersThatAreNoneStayInTheirWindows)
{
    for (const Pair padding : {Pair{1, 1}, Pair{0, 0}}) {
        Dice dice(3);
        Graph graph(17);
        graph.add(convolution(dice, 17, 16, {3, 3}, padding), {0});
        const Plane usual = picture(dice, 17, {14, 15});
        const auto program = Program::compile(graph, usual.extent, {});
        for (size_t place = 0; place < usual.samples.size(); place += 31)
            for (const float sample : {NAN, INFINITY, -INFINITY, 3e5F, -1e30F, 1e38F}) {
                Plane input = usual;
                input.samples[place] = static_cast<double>(sample);
                bool is_sound = false;
                Run::Tiles tiles;
                const std::vector<float> got =
                    compute(program, samples_of(input), &is_sound, &tiles);
                EXPECT_TRUE(is_sound);
                EXPECT_GT(tiles.direct, 0);
                EXPECT_LT(tiles.direct, 5);
                const Plane wanted = interpret(graph, input);
                for (size_t i = 0; i < got.size(); i++) {
                    if (std::abs(wanted.samples[i]) < 100) {
                        EXPECT_NEAR(static_cast<double>(got[i]), wanted.samples[i], 1e-4);
                    } else if (!std::isfinite(wanted.samples[i])) {
                        EXPECT_FALSE(std::isfinite(got[i]));
                    }
                }
            }
    }
}

// Tiles without transforms are where they are, whatever the bands.
TEST(FusedTiles, AreTheSameInAllBands)
{
    Graph graph(3);
    leaking_nets[0].add(graph);
    expect_same_bits_in_all_bands(graph, extent, {}, samples_of(dark_with_points(1)));
}

// A picture with edges from black to white, thin lines and single points of light, which is what
// footage has at most.
Plane footage()
{
    Dice dice(5);
    Plane made(3, extent);
    const std::vector<float> noise = dice.numbers(3 * extent.height * extent.width, 0, 0.01f);
    for (int64_t channel = 0; channel < 3; channel++)
        for (int64_t y = 0; y < extent.height; y++)
            for (int64_t x = 0; x < extent.width; x++) {
                const auto place =
                    static_cast<size_t>((channel * extent.height + y) * extent.width + x);
                const bool is_bar = y < 10 || y >= 38;
                const bool is_light = x > 40 || (y % 9 == 2 && x % 7 == 3) || x % 13 == 5;
                made.samples[place] =
                    is_bar ? 0 : static_cast<double>(noise[place]) + (is_light ? 0.98 : 0.02);
            }
    return made;
}

// Layers of 3x3 with an activation behind each; the bias is what training leaves.
Graph usual_net(ActivationKind kind, int64_t width, int layers)
{
    Dice dice(6);
    Graph graph(3);
    ValueId value = 0;
    for (int layer = 0; layer < layers; layer++) {
        Convolution it = convolution_3x3(dice, layer ? width : 3, width);
        for (float &bias : it.bias)
            bias *= 0.1f;
        value = graph.add(Activation{kind, 0.1f}, {graph.add(it, {value})});
    }
    graph.add(convolution_3x3(dice, width, 3), {value});
    return graph;
}

TEST(FusedTiles, OfUsualNetsNeedNone)
{
    for (const ActivationKind kind : {ActivationKind::relu, ActivationKind::leaky_relu,
                                      ActivationKind::tanh, ActivationKind::gelu_erf})
        for (const int layers : {2, 8}) {
            const auto program = Program::compile(usual_net(kind, 32, layers), extent, {});
            Run::Tiles tiles;
            compute(program, samples_of(footage()), nullptr, &tiles);
            EXPECT_GT(tiles.all, 0);
            EXPECT_EQ(tiles.direct, 0) << layers;
        }
}

// ---- gains -----------------------------------------------------------------------

// What results change by if each sample of a channel changes at random is never above what gains
// say.
TEST(FusedGains, BoundWhatLayersDo)
{
    for (unsigned seed = 0; seed < 20; seed++) {
        Dice dice(seed);
        Graph graph(4);
        ValueId value = graph.add(Activation{ActivationKind::elu, 1.5f},
                                  {graph.add(convolution_3x3(dice, 4, 8), {0})});
        const ValueId first = value;
        value = graph.add(Prelu{dice.numbers(8, -2, 2)}, {value});
        value = graph.add(PixelShuffle{2}, {graph.add(convolution_3x3(dice, 8, 16), {value})});
        value = graph.add(PixelUnshuffle{2}, {value});
        value = graph.add(Slice{3, 8}, {value});
        value = graph.add(Concatenation{}, {value, first});
        graph.add(convolution(dice, 16, 2, {1, 1}, {0, 0}), {value});
        // The first stage loads the picture.
        const StageList list = lower(graph, {6, 6});
        const Gains gains = gains_of(list).front();
        const Plane input = picture(dice, 4, {6, 6});
        const Plane before = interpret(graph, input);
        for (int64_t channel = 0; channel < 4; channel++) {
            Plane other = input;
            for (int64_t y = 0; y < 6; y++)
                for (int64_t x = 0; x < 6; x++)
                    other.at(channel, y, x) += dice.between(0, 1) ? 1e-3 : -1e-3;
            const Plane after = interpret(graph, other);
            double most = 0;
            for (int64_t y = 0; y < 6; y++)
                for (int64_t x = 0; x < 6; x++) {
                    double all = 0;
                    for (int64_t made = 0; made < 2; made++)
                        all += std::abs(after.get(made, y, x) - before.get(made, y, x));
                    most = std::max(most, all * 1e3);
                }
            EXPECT_LE(most, static_cast<double>(gains[static_cast<size_t>(channel)]) * 1.0001);
        }
    }
}

} // namespace
} // namespace engine_torch::fused
