// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Programs in bf16.  Samples have 8 bits there, so that the reference is met less closely.
#include "engines/torch/fused/bf16_units.h"
#include "engines/torch/fused/onednn.h"
#include "fused_checks.h"

namespace engine_torch::fused
{
namespace
{

constexpr CompileOptions in_bf16 = {.precision = Precision::bf16};

// Convolutions with enough channels for tiles, in numbers that fill no vector and no pair, and
// some for oneDNN.
Graph mixed(Dice &dice, int64_t width)
{
    Graph graph(3);
    ValueId value = graph.add(convolution_3x3(dice, 3, width), {0});
    value = graph.add(Activation{ActivationKind::leaky_relu, 0.1f}, {value});
    const ValueId first = value;
    value = graph.add(convolution_3x3(dice, width, width), {value});
    value = graph.add(Prelu{dice.numbers(width, 0, 0.5f)}, {value});
    value = graph.add(convolution(dice, width, width, {1, 1}, {0, 0}), {value});
    value = graph.add(Activation{ActivationKind::tanh}, {value});
    value = graph.add(convolution_3x3(dice, width, width), {value});
    value = graph.add(Binary(), {value, first});
    value = graph.add(convolution_3x3(dice, width, 12), {value});
    graph.add(PixelShuffle{2}, {value});
    return graph;
}

void expect_near_or_refused(const Graph &graph, const Plane &input, const std::string &what)
{
    try {
        const auto program = Program::compile(graph, input.extent, in_bf16);
        const Difference found =
            difference(compute(program, samples_of(input)), interpret(graph, input));
        EXPECT_LT(found.largest, found.largest_value / 32) << what << "\n" << program->text();
    } catch (const GraphError &error) {
        EXPECT_STREQ(error.what(), "oneDNN has no bf16 convolution for this processor");
    }
}

bool uses_tiles(const Program &program)
{
    return program.text().find("winograd") != std::string::npos;
}

// bf16 without convolutions needs nothing of the processor.
TEST(FusedBf16, RoundsEachResult)
{
    Dice dice(14);
    Graph graph(12);
    ValueId value = graph.add(Prelu{dice.numbers(12)}, {0});
    value = graph.add(Binary(), {value, 0});
    graph.add(PixelShuffle{2}, {value});
    const Plane input = picture(dice, 12, {7, 9});
    const auto program = Program::compile(graph, input.extent, in_bf16);
    const Difference found =
        difference(compute(program, samples_of(input)), interpret(graph, input));
    EXPECT_GT(found.largest, 0);
    EXPECT_LT(found.largest, found.largest_value / 128);
}

TEST(FusedBf16, ConvolutionsWorkOrAreRefused)
{
    for (const int64_t width : {16, 17, 31, 48})
        for (const Extent extent : {Extent{1, 1}, Extent{2, 3}, Extent{12, 14}, Extent{23, 61}}) {
            Dice dice(15);
            const Graph graph = mixed(dice, width);
            const Plane input = picture(dice, 3, extent);
            expect_near_or_refused(graph, input, std::to_string(width));
        }
}

// Numbers of channels that are odd, and another tensor that is added: oneDNN 2.6 was seen to be
// wrong.
TEST(FusedBf16, SumsOfTwoConvolutions)
{
    for (const int64_t width : {17, 24, 31, 32, 33, 51})
        for (const int64_t last : {1, 3})
            for (const int64_t large : {1, 3, 5}) {
                Dice dice(24);
                Graph graph(3);
                const ValueId first = graph.add(Activation{ActivationKind::relu},
                                                {graph.add(convolution_3x3(dice, 3, width), {0})});
                const auto same = [&](int64_t size) {
                    return graph.add(
                        convolution(dice, width, width, {size, size}, {size / 2, size / 2}),
                        {first});
                };
                const ValueId sum = graph.add(Binary(), {same(large), same(1)});
                graph.add(convolution(dice, width, 3, {last, last}, {last / 2, last / 2}), {sum});
                const Plane input = picture(dice, 3, {21, 37});
                expect_near_or_refused(graph, input,
                                       std::to_string(width) + " " + std::to_string(large) + " " +
                                           std::to_string(last));
            }
}

class FusedBf16Tiles : public testing::Test
{
protected:
    void SetUp() override
    {
        if (!has_bf16_units() || !onednn_has_bf16())
            GTEST_SKIP() << "this processor has no bf16 units";
    }
};

TEST_F(FusedBf16Tiles, AreUsedWithoutAmx)
{
    Dice dice(16);
    const Graph graph = mixed(dice, 32);
    EXPECT_NE(uses_tiles(*Program::compile(graph, {8, 8}, in_bf16)), onednn_has_amx());
    CompileOptions direct = in_bf16;
    direct.layouts = LayoutChoice::direct;
    EXPECT_FALSE(uses_tiles(*Program::compile(graph, {8, 8}, direct)));
}

// Tiles round samples and weights once more.  That costs little: as a mean over a picture hardly
// more than oneDNN's own products do.
TEST_F(FusedBf16Tiles, AreAboutAsNearAsPlainProducts)
{
    Dice dice(17);
    const Graph graph = mixed(dice, 32);
    const Plane input = picture(dice, 3, {40, 52});
    const Plane wanted = interpret(graph, input);
    const auto squares = [&](LayoutChoice layouts) {
        CompileOptions options = in_bf16;
        options.layouts = layouts;
        const auto got = compute(Program::compile(graph, input.extent, options), samples_of(input));
        double sum = 0;
        for (size_t i = 0; i < got.size(); i++)
            sum += (got[i] - wanted.samples[i]) * (got[i] - wanted.samples[i]);
        return sum;
    };
    EXPECT_LT(squares(LayoutChoice::fastest), 10 * squares(LayoutChoice::direct));
}

TEST_F(FusedBf16Tiles, BandsAndGroupsGiveTheSameBits)
{
    Dice dice(18);
    const Graph graph = mixed(dice, 24);
    const std::vector<float> input = dice.numbers(3 * 37 * 45);
    expect_same_bits_in_all_bands(graph, {37, 45}, in_bf16, input);
}

TEST_F(FusedBf16Tiles, SizesShareWeights)
{
    Dice dice(19);
    const Graph graph = mixed(dice, 32);
    const auto first = Program::compile(graph, {20, 24}, in_bf16);
    const auto second = Program::compile(graph, {9, 31}, in_bf16, first.get());
    const std::vector<float> input = dice.numbers(3 * 9 * 31);
    EXPECT_EQ(compute(second, input), compute(Program::compile(graph, {9, 31}, in_bf16), input));
    EXPECT_EQ(second->weight_bytes(), first->weight_bytes());
}

// Nets for pictures of 0 to 255 compute with such numbers throughout.
TEST_F(FusedBf16Tiles, TakeLargeSamples)
{
    Dice dice(23);
    const Graph graph = mixed(dice, 64);
    const auto program = Program::compile(graph, {24, 320}, in_bf16);
    bool is_sound = false;
    compute(program, dice.numbers(3 * 24 * 320, -2000, 2000), &is_sound);
    EXPECT_TRUE(is_sound);
}

// Numbers of few bits, whose sums are exact in any order.
TEST_F(FusedBf16Tiles, SumsOfProducts)
{
    Dice dice(21);
    const int64_t pairs = 9, pixels = bf16_pixels_at_once, lanes = bf16_lanes;
    for (const int64_t planes : {1, 2}) {
        const auto numbers = [&](int64_t count) {
            std::vector<Bf16> made(static_cast<size_t>(count));
            for (Bf16 &it : made)
                assign(it, static_cast<float>(dice.between(-9, 9)));
            return made;
        };
        const std::vector<Bf16> samples = numbers(pixels * 2 * pairs);
        const std::vector<Bf16> weights = numbers(pairs * planes * lanes * 2);
        std::vector<float> sums(static_cast<size_t>(pixels * planes * lanes), 1e9f);
        sum_products(
            {samples.data(), 2 * pairs, weights.data(), pairs, sums.data(), planes * lanes},
            planes);
        for (int64_t pixel = 0; pixel < pixels; pixel++)
            for (int64_t i = 0; i < planes * lanes; i++) {
                float sum = 0;
                for (int64_t in = 0; in < 2 * pairs; in++)
                    sum += to_float(samples[static_cast<size_t>(pixel * 2 * pairs + in)]) *
                           to_float(weights[static_cast<size_t>(
                               ((in / 2) * planes * lanes + i) * 2 + in % 2)]);
                EXPECT_EQ(sums[static_cast<size_t>(pixel * planes * lanes + i)], sum);
            }
    }
}

TEST_F(FusedBf16Tiles, Rounding)
{
    Dice dice(22);
    std::vector<float> from = dice.numbers(3 * bf16_lanes, -1000, 1000);
    from[0] = 1.00390625f; // half way between two
    from[1] = 1.01171875f;
    from[2] = INFINITY;
    from[3] = -3.4e38f;
    const int64_t step = bf16_lanes + 5;
    std::vector<Bf16> to(static_cast<size_t>(3 * step), Bf16{42});
    round_vectors(from.data(), 3, to.data(), step);
    for (int64_t i = 0; i < 3 * step; i++) {
        Bf16 wanted = {42};
        if (i % step < bf16_lanes)
            assign(wanted, from[static_cast<size_t>(i / step * bf16_lanes + i % step)]);
        EXPECT_EQ(to[static_cast<size_t>(i)].bits, wanted.bits) << i;
    }
}

} // namespace
} // namespace engine_torch::fused
