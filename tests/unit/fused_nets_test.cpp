// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Networks as fused programs.
#include "fused_checks.h"

#include <cstdlib>
#include <ctime>
#include <thread>

namespace engine_torch::fused
{
namespace
{

TEST(FusedNets, BinariesBothWays)
{
    for (const BinaryKind kind : {BinaryKind::add, BinaryKind::subtract, BinaryKind::multiply}) {
        Dice dice(6);
        Graph graph(8);
        const ValueId first = graph.add(convolution_3x3(dice, 8, 8), {0});
        const ValueId second = graph.add(convolution_3x3(dice, 8, 8), {first});
        const ValueId one = graph.add(Binary{kind}, {first, second});
        const ValueId third = graph.add(convolution_3x3(dice, 8, 8), {one});
        const ValueId two = graph.add(Binary{kind}, {third, 0});
        const ValueId same = graph.add(Binary{kind}, {two, two});
        graph.add(Binary{kind}, {0, same});
        for (const Extent extent : sizes)
            expect_all_right(graph, extent, "binary " + std::to_string(int(kind)));
    }
}

// Compact nets of super resolution: PReLU, shuffle, and the frame made larger beside them.
Graph srvgg(Dice &dice, int64_t width, int layers)
{
    Graph graph(3);
    ValueId value = graph.add(convolution_3x3(dice, 3, width), {0});
    value = graph.add(Prelu{dice.numbers(width, 0, 0.5f)}, {value});
    for (int layer = 0; layer < layers; layer++) {
        value = graph.add(convolution_3x3(dice, width, width), {value});
        value = graph.add(Prelu{dice.numbers(width, 0, 0.5f)}, {value});
    }
    value = graph.add(convolution_3x3(dice, width, 48), {value});
    value = graph.add(PixelShuffle{4}, {value});
    const ValueId large = graph.add(Interpolation{InterpolationKind::nearest, {4, 4}}, {0});
    graph.add(Binary{BinaryKind::add}, {value, large});
    return graph;
}

TEST(FusedNets, Compact)
{
    Dice dice(8);
    const Graph graph = srvgg(dice, 24, 6);
    for (const Extent extent : sizes)
        expect_all_right(graph, extent, "compact");
    expect_all_right(graph, {40, 21}, "compact");
}

// Large kernels of several shapes read the same rows.
TEST(FusedNets, CrossedKernels)
{
    Dice dice(17);
    Graph graph(3);
    const ValueId all = graph.add(convolution(dice, 3, 16, {1, 1}, {0, 0}), {0});
    const ValueId some = graph.add(Slice{0, 4}, {all});
    const ValueId high = graph.add(convolution(dice, 4, 4, {9, 3}, {4, 1}), {some});
    const ValueId wide = graph.add(convolution(dice, 4, 4, {3, 9}, {1, 4}), {some});
    const ValueId both = graph.add(Binary(), {high, wide});
    const ValueId small = graph.add(convolution(dice, 4, 4, {3, 3}, {1, 1}), {some});
    const ValueId sum = graph.add(Binary(), {both, small});
    const ValueId joined = graph.add(Concatenation(), {sum, graph.add(Slice{4, 12}, {all})});
    const ValueId weight =
        graph.add(Activation{ActivationKind::sigmoid},
                  {graph.add(convolution(dice, 16, 16, {3, 3}, {1, 1}), {joined})});
    graph.add(Binary{BinaryKind::multiply}, {joined, weight});
    for (const Extent extent : sizes)
        expect_all_right(graph, extent, "crossed");
    expect_all_right(graph, {40, 30}, "crossed");
}

TEST(FusedNets, DenseBlocks)
{
    Dice dice(9);
    Graph graph(3);
    const ValueId first = graph.add(convolution_3x3(dice, 3, 16), {0});
    ValueId value = first;
    for (int block = 0; block < 2; block++) {
        std::vector<ValueId> parts = {value};
        for (int layer = 0; layer < 3; layer++) {
            const ValueId joined = graph.add(Concatenation(), parts);
            const ValueId made = graph.add(convolution_3x3(dice, 16 + 8 * layer, 8), {joined});
            parts.push_back(graph.add(Activation{ActivationKind::leaky_relu, 0.2f}, {made}));
        }
        const ValueId joined = graph.add(Concatenation(), parts);
        const ValueId last = graph.add(convolution_3x3(dice, 40, 16), {joined});
        value = graph.add(Binary(), {add_affine(graph, last, {0.2f}, {0}), value});
    }
    value = graph.add(Binary(), {value, first});
    value = graph.add(Interpolation{InterpolationKind::nearest, {2, 2}}, {value});
    graph.add(convolution_3x3(dice, 16, 3), {value});
    for (const Extent extent : sizes)
        expect_all_right(graph, extent, "dense");
    expect_all_right(graph, {30, 11}, "dense");
}

TEST(FusedNets, DownAndUpAgain)
{
    Dice dice(10);
    Graph graph(3);
    const ValueId top = graph.add(convolution_3x3(dice, 3, 8), {0});
    Convolution down = convolution_3x3(dice, 8, 16);
    down.stride = {2, 2};
    const ValueId low = graph.add(down, {top});
    const ValueId lower = graph.add(convolution_3x3(dice, 16, 16), {low});
    const ValueId up = graph.add(
        TransposedConvolution{8, 1, {2, 2}, {2, 2}, {0, 0}, {0, 0}, dice.numbers(16 * 8 * 4), {}},
        {lower});
    const ValueId joined = graph.add(Concatenation(), {top, up});
    graph.add(convolution_3x3(dice, 16, 3), {joined});
    for (const Extent extent : {Extent{2, 2}, Extent{8, 6}, Extent{34, 20}})
        expect_all_right(graph, extent, "u-net");
    EXPECT_THROW(Program::compile(graph, {7, 8}, {}), GraphError);
}

// Adds a random node to the graph.
void add_random(Graph &graph, Dice &dice)
{
    const auto count = static_cast<int64_t>(graph.values().size());
    const ValueId value =
        static_cast<ValueId>(dice.between(std::max<int64_t>(0, count - 3), count - 1));
    const int64_t channels = graph.values()[value].channels;
    const int64_t wide = dice.between(1, 20);
    switch (dice.between(0, 9)) {
    case 0:
    case 1:
    case 2:
        graph.add(convolution_3x3(dice, channels, wide), {value});
        break;
    case 3:
        graph.add(convolution(dice, channels, wide, {1, 5}, {0, 2}), {value});
        break;
    case 4:
        graph.add(Activation{static_cast<ActivationKind>(dice.between(0, 9)), 0.3f}, {value});
        break;
    case 5:
        graph.add(Prelu{dice.numbers(channels)}, {value});
        break;
    case 6:
        graph.add(Affine{dice.numbers(channels), dice.numbers(channels)}, {value});
        break;
    case 7:
        graph.add(Slice{0, dice.between(1, channels)}, {value});
        break;
    case 8:
        graph.add(Concatenation(), {value, static_cast<ValueId>(dice.between(0, count - 1))});
        break;
    default:
        for (ValueId other = 0; other < graph.values().size() - 1; other++)
            if (graph.values()[other].channels == channels && other != value)
                return void(
                    graph.add(Binary{static_cast<BinaryKind>(dice.between(0, 2))}, {value, other}));
    }
}

TEST(FusedNets, Random)
{
    for (unsigned seed = 0; seed < 40; seed++) {
        Dice dice(seed);
        Graph graph(dice.between(1, 4));
        const int64_t nodes = dice.between(2, 14);
        for (int64_t node = 0; node < nodes; node++)
            add_random(graph, dice);
        expect_all_right(graph, {dice.between(1, 14), dice.between(1, 19)},
                         "random graph " + std::to_string(seed));
    }
}

TEST(FusedNets, BandsAndGroupsGiveTheSameBits)
{
    Dice dice(11);
    const Graph graph = srvgg(dice, 32, 3);
    const std::vector<float> input = dice.numbers(3 * 37 * 45);
    for (const LayoutChoice layouts : all_layouts)
        expect_same_bits_in_all_bands(graph, {37, 45}, {.layouts = layouts}, input);
}

// Rows of the frame would be four times as many here, and a group of that many layers too large.
TEST(FusedNets, BandsAreOfTheLargestRows)
{
    Dice dice(27);
    Graph graph(3);
    ValueId value = graph.add(convolution_3x3(dice, 3, 32), {0});
    value = graph.add(Interpolation{InterpolationKind::nearest, {4, 4}}, {value});
    for (int layer = 0; layer < 3; layer++)
        value = graph.add(convolution_3x3(dice, 32, 32), {value});
    const auto program = Program::compile(graph, {40, 64}, {.band_rows = 8});
    int64_t most = 0;
    for (const Group &group : program->schedule().groups)
        for (const Step &step : group.steps)
            if (program->kernel(step.stage).convolves())
                most = std::max(most, step.count);
    EXPECT_GE(most, 8);
    EXPECT_LE(most, 16); // the first band of the first layer is higher
}

// What a program's schedule is made of.
struct Scheduled {
    explicit Scheduled(const Program &program)
    {
        for (TensorId tensor = 0; tensor < program.list().tensors.size(); tensor++)
            layouts.push_back(program.layout(tensor));
        for (size_t stage = 0; stage < program.list().stages.size(); stage++) {
            weight_bytes.push_back(program.kernel(stage).weight_bytes());
            rows_at_once.push_back(program.kernel(stage).rows_at_once());
        }
    }

    std::vector<RowLayout> layouts;
    std::vector<size_t> weight_bytes;
    std::vector<int64_t> rows_at_once;
};

TEST(FusedNets, LargeFramesAreNotKeptWhole)
{
    constexpr size_t mib = size_t{1} << 20;
    Dice dice(28);
    const Graph graph = srvgg(dice, 32, 8);
    const auto schedules = [&](Extent extent, size_t most_cache_bytes) {
        const auto program = Program::compile(graph, extent, {});
        const Scheduled scheduled(*program);
        const ScheduleRequest request = {program->list(),
                                         scheduled.layouts,
                                         scheduled.weight_bytes,
                                         scheduled.rows_at_once,
                                         program->precision(),
                                         8,
                                         4 * mib};
        return std::pair(make_schedule(request), make_small_schedule(request, most_cache_bytes));
    };
    // A whole tensor is 64 MiB, and all that the layers need at once far less.
    for (const size_t most_cache_bytes : {64 * mib, 4 * mib}) { // also if no cache holds it
        const auto [fast, small] = schedules({256, 2048}, most_cache_bytes);
        EXPECT_GT(fast.arena_bytes, 128 * mib);
        EXPECT_LT(small.arena_bytes, 64 * mib);
    }
    const auto [little, same] = schedules({64, 128}, 64 * mib);
    EXPECT_EQ(same.groups.size(), little.groups.size());
    EXPECT_LT(same.arena_bytes, 40 * mib);
}

TEST(FusedNets, SizesShareWeights)
{
    Dice dice(16);
    const Graph graph = srvgg(dice, 32, 2);
    for (const LayoutChoice layouts : all_layouts) {
        const CompileOptions options = {.layouts = layouts};
        const auto first = Program::compile(graph, {20, 24}, options);
        const auto second = Program::compile(graph, {9, 31}, options, first.get());
        const Plane input = picture(dice, 3, {9, 31});
        expect_right(second, input, interpret(graph, input), "with the other's weights");
        EXPECT_EQ(second->weight_bytes(), first->weight_bytes());
    }
}

TEST(FusedNets, InterleavedPictures)
{
    Dice dice(12);
    const Graph graph = srvgg(dice, 8, 1);
    const Extent in = {5, 6}, out = {20, 24};
    Plane input = picture(dice, 3, in);
    const Plane wanted = interpret(graph, input);
    std::vector<float> from(5 * 6 * 3), to(20 * 24 * 3);
    for (size_t i = 0; i < from.size(); i++)
        from[i] = static_cast<float>(input.samples[i % 3 * 30 + i / 3]);
    fused::Run run(Program::compile(graph, in, {.layouts = LayoutChoice::interleaved}));
    std::vector<std::byte> memory(run.memory_bytes());
    run.compute({from.data(), {1, 3 * in.width, 3}}, {to.data(), {1, 3 * out.width, 3}},
                memory.data());
    for (size_t i = 0; i < to.size(); i++)
        EXPECT_NEAR(to[i], wanted.samples[i % 3 * 480 + i / 3], 1e-5);
}

TEST(FusedNets, TwoThreadsShareAProgram)
{
    Dice dice(13);
    const Graph graph = srvgg(dice, 16, 4);
    const Extent extent = {23, 31};
    const auto program = Program::compile(graph, extent, {.layouts = LayoutChoice::direct});
    const std::vector<float> inputs[] = {dice.numbers(3 * 23 * 31), dice.numbers(3 * 23 * 31)};
    const std::vector<float> alone[] = {compute(program, inputs[0]), compute(program, inputs[1])};
    const auto repeat = [&](size_t which) {
        for (int i = 0; i < 20; i++)
            EXPECT_EQ(compute(program, inputs[which]), alone[which]);
    };
    std::thread other(repeat, 1);
    repeat(0);
    other.join();
}

// Compiling must not take longer than some runs, also if each layer is a group.  Others may have
// the cores meanwhile.  The thread sanitizer makes it some ten times as slow.
TEST(FusedNets, ManyLayers)
{
    const double limit_seconds = std::getenv("DNN_TORCH_SANITIZED") ? 60 : 10;
    for (const Extent extent : {Extent{48, 64}, Extent{2160, 3840}}) {
        Dice dice(19);
        Graph graph(1);
        ValueId value = 0;
        for (int layer = 0; layer < 1000; layer++)
            value = graph.add(convolution(dice, 1, 1, {1, 1}, {0, 0}), {value});
        const std::clock_t start = std::clock();
        Program::compile(graph, extent, {});
        EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, limit_seconds);
    }
}

} // namespace
} // namespace engine_torch::fused
