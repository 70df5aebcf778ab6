// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Nodes of fused programs, each by itself and between two convolutions.
#include "fused_checks.h"

namespace engine_torch::fused
{
namespace
{

// The operation between two convolutions, and alone.
void expect_works(int64_t channels, const Operation &operation, const std::string &what)
{
    for (const Extent extent : sizes) {
        Graph alone(channels);
        alone.add(operation, {alone.input()});
        expect_all_right(alone, extent, what + " alone");
        Dice dice(3);
        Graph between(3);
        const ValueId before = between.add(convolution_3x3(dice, 3, channels), {0});
        const ValueId value = between.add(operation, {before});
        between.add(convolution_3x3(dice, between.values()[value].channels, 9), {value});
        expect_all_right(between, extent, what);
    }
}

TEST(FusedNodes, Activations)
{
    using enum ActivationKind;
    const Activation all[] = {
        {relu}, {leaky_relu, 0.2f}, {elu, 1.3f},    {gelu_erf},   {gelu_tanh},     {silu},
        {tanh}, {sigmoid},          {hard_sigmoid}, {hard_swish}, {clamp, 0, 0.5f}};
    for (const Activation &activation : all)
        expect_works(11, activation, "activation " + std::to_string(int(activation.kind)));
}

TEST(FusedNodes, ActivationsOfLargeNumbers)
{
    using enum ActivationKind;
    for (const ActivationKind kind : {tanh, sigmoid, silu, gelu_erf, gelu_tanh, elu})
        for (const float x : {-100.f, -9.f, -1e-4f, 0.f, 1e-4f, 9.f, 100.f}) {
            Graph graph(1);
            graph.add(Activation{kind, 1}, {0});
            Plane one(1, {1, 1});
            one.samples[0] = x;
            EXPECT_NEAR(activate({kind, 1}, x), interpret(graph, one).samples[0],
                        2e-6 * std::max(1.f, std::abs(x)))
                << int(kind) << " of " << x;
        }
}

TEST(FusedNodes, PreluAndAffine)
{
    Dice dice(1);
    expect_works(12, Prelu{dice.numbers(12, 0, 0.5f)}, "prelu");
    expect_works(12, Affine{dice.numbers(12), dice.numbers(12)}, "affine");
}

TEST(FusedNodes, Convolutions)
{
    Dice dice(2);
    Convolution strided = convolution(dice, 16, 24, {3, 5}, {1, 2});
    strided.stride = {2, 3};
    Convolution dilated = convolution(dice, 16, 8, {3, 3}, {2, 3});
    dilated.dilation = {2, 3};
    expect_works(16, strided, "strided");
    expect_works(16, dilated, "dilated");
    expect_works(16, convolution(dice, 16, 16, {3, 3}, {1, 1}, 16), "depthwise");
    expect_works(16, convolution(dice, 16, 8, {3, 3}, {1, 1}, 4), "grouped");
    expect_works(16, convolution(dice, 16, 8, {1, 1}, {0, 0}), "1x1");
    expect_works(5, convolution(dice, 5, 7, {2, 2}, {1, 1}), "of an even kernel");
    expect_works(3, convolution(dice, 3, 64, {5, 5}, {2, 2}), "of the frame");
    expect_works(1, convolution(dice, 1, 64, {9, 9}, {4, 4}), "of one plane");
}

TEST(FusedNodes, ConvolutionsWithoutPadding)
{
    Dice dice(2);
    Graph graph(3);
    const ValueId first = graph.add(convolution(dice, 3, 16, {3, 3}, {0, 0}), {0});
    graph.add(convolution(dice, 16, 16, {5, 3}, {0, 0}), {first});
    expect_all_right(graph, {11, 14}, "valid");
    EXPECT_THROW(Program::compile(graph, {6, 14}, {}), GraphError);
}

TEST(FusedNodes, TransposedConvolutions)
{
    Dice dice(4);
    const auto make = [&](Pair kernel, Pair stride, Pair padding, Pair output_padding,
                          int64_t groups) {
        return TransposedConvolution{8,
                                     groups,
                                     kernel,
                                     stride,
                                     padding,
                                     output_padding,
                                     dice.numbers(12 * (8 / groups) * kernel.y * kernel.x),
                                     dice.numbers(8)};
    };
    expect_works(12, make({2, 2}, {2, 2}, {0, 0}, {0, 0}, 1), "2x2 by 2");
    expect_works(12, make({4, 4}, {2, 2}, {1, 1}, {0, 0}, 1), "4x4 by 2");
    expect_works(12, make({3, 5}, {2, 3}, {0, 1}, {1, 2}, 1), "3x5 by 2x3");
    expect_works(12, make({9, 9}, {3, 3}, {4, 4}, {2, 2}, 1), "9x9 by 3");
    expect_works(12, make({3, 3}, {1, 1}, {1, 1}, {0, 0}, 4), "3x3 by 1 in groups");
    expect_works(12, make({2, 2}, {3, 3}, {0, 0}, {1, 0}, 1), "smaller than its stride");
}

TEST(FusedNodes, Rearrangements)
{
    expect_works(12, Slice{3, 5}, "slice");
    expect_works(16, Slice{8, 8}, "slice of a block");
    expect_works(12, PixelShuffle{2}, "shuffle");
    expect_works(9, PixelShuffle{3}, "shuffle by 3");
    expect_works(9, Interpolation{InterpolationKind::nearest, {2, 3}}, "nearest");
    expect_works(9, Interpolation{InterpolationKind::bilinear, {2, 4}}, "bilinear");
    expect_works(9, Interpolation{InterpolationKind::bilinear, {3, 1}}, "bilinear by 3");
    expect_works(9, Padding{1, 2, 3, 0, 0}, "zeros around");
    expect_works(9, Padding{2, 0, 1, 1, 0.5f}, "constants around");
}

// Many rows of zeros at the top alone: layers run in them before the first row is made.
TEST(FusedNodes, ZerosAtTheTop)
{
    Dice dice(18);
    for (const int64_t top : {1, 5, 16, 40}) {
        Graph graph(3);
        const ValueId first = graph.add(convolution(dice, 3, 16, {1, 1}, {0, 0}), {0});
        const ValueId around = graph.add(Padding{top, 0, 1, 1, 0}, {first});
        const ValueId second = graph.add(convolution(dice, 16, 16, {5, 3}, {0, 0}), {around});
        graph.add(convolution_3x3(dice, 16, 3), {second});
        expect_all_right(graph, {24, 18}, "zeros at the top");
    }
}

TEST(FusedNodes, PixelUnshuffle)
{
    Dice dice(5);
    Graph graph(3);
    const ValueId small = graph.add(PixelUnshuffle{2}, {0});
    const ValueId layer = graph.add(convolution_3x3(dice, 12, 20), {small});
    const ValueId smaller = graph.add(PixelUnshuffle{3}, {layer});
    graph.add(convolution_3x3(dice, 180, 4), {smaller});
    expect_all_right(graph, {12, 18}, "unshuffle");
    EXPECT_THROW(Program::compile(graph, {12, 16}, {}), GraphError);
}

TEST(FusedNodes, Constants)
{
    Dice dice(5);
    Graph graph(3);
    ValueId value = add_affine(graph, 0, {-1}, {0.5f});
    value = graph.add(convolution_3x3(dice, 3, 8), {value});
    value = add_affine(graph, value, {0.25f}, {0});
    value = graph.add(Activation{ActivationKind::relu}, {value});
    value = add_affine(graph, value, dice.numbers(8), {0});
    add_affine(graph, value, {1}, {1.5f});
    expect_all_right(graph, {6, 9}, "constants");
}

// Channels of groups never meet in the model, and an activation makes no number of NaN.
TEST(FusedPrograms, TellOfSamplesThatAreNotFinite)
{
    constexpr Extent extent = {9, 11};
    Dice dice(4);
    for (const int64_t groups : {1, 2, 12})
        for (const LayoutChoice layouts : all_layouts) {
            Graph graph(12);
            Convolution layer = convolution(dice, 12, 12, {3, 3}, {1, 1}, groups);
            layer.dilation = {1, 2};
            graph.add(Activation{}, {graph.add(layer, {0})});
            const auto program = Program::compile(graph, extent, {.layouts = layouts});
            const std::vector<float> finite = dice.numbers(12 * extent.height * extent.width);
            bool is_sound = false;
            compute(program, finite, &is_sound);
            EXPECT_TRUE(is_sound);
            for (const float sample : {NAN, INFINITY}) {
                std::vector<float> samples = finite;
                samples[500] = sample;
                const std::vector<float> made = compute(program, samples, &is_sound);
                if (!is_sound)
                    continue;
                Plane input(12, extent);
                std::copy(samples.begin(), samples.end(), input.samples.begin());
                const Plane wanted = interpret(graph, input);
                for (size_t i = 0; i < made.size(); i++)
                    EXPECT_EQ(std::isfinite(made[i]), std::isfinite(wanted.samples[i]))
                        << program->text() << i;
            }
        }
}

// Channels that only pad a vector are no part of the network.
TEST(FusedPrograms, BoundWhatIsInfiniteWhereTheNetworkDoes)
{
    constexpr Extent extent = {9, 11};
    Dice dice(6);
    for (const Pair kernel : {Pair{1, 1}, Pair{3, 3}})
        for (const LayoutChoice layouts : all_layouts) {
            const Pair padding = {kernel.y / 2, kernel.x / 2};
            Graph graph(3);
            ValueId value = graph.add(convolution(dice, 3, 9, kernel, padding), {0});
            value = graph.add(Activation{ActivationKind::clamp, 0, 6}, {value});
            value = graph.add(convolution_3x3(dice, 9, 3), {value});
            const auto program = Program::compile(graph, extent, {.layouts = layouts});
            Plane input = picture(dice, 3, extent);
            input.samples[150] = INFINITY;
            bool is_sound = false;
            const std::vector<float> made = compute(program, samples_of(input), &is_sound);
            if (!is_sound)
                continue; // another variant runs
            const Plane wanted = interpret(graph, input);
            EXPECT_LE(difference(made, wanted).largest, 1e-4) << program->text();
        }
}

TEST(FusedGraph, RefusesWhatDoesNotFit)
{
    Graph graph(4);
    EXPECT_THROW(Graph(0), GraphError);
    EXPECT_THROW(graph.add(Prelu{{1, 2}}, {0}), GraphError);
    EXPECT_THROW(graph.add(Slice{2, 3}, {0}), GraphError);
    EXPECT_THROW(graph.add(PixelShuffle{3}, {0}), GraphError);
    EXPECT_THROW(graph.add(Binary(), {0}), GraphError);
    EXPECT_THROW(graph.add(Activation(), {1}), GraphError);
    EXPECT_THROW(graph.add(Convolution{.out_channels = 2, .weights = std::vector<float>{1}}, {0}),
                 GraphError);
    const ValueId large = graph.add(Interpolation{InterpolationKind::nearest, {2, 2}}, {0});
    EXPECT_THROW(graph.add(Binary(), {0, large}), GraphError);
    EXPECT_EQ(graph.values().size(), 2u);
}

} // namespace
} // namespace engine_torch::fused
