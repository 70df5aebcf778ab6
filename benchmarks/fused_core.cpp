// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// How fast fused programs are on one thread: whole layers against bands.
//
// usage: fused_core [--bf16 | --int8] [--interleaved | --direct] [--text] [--frames=FILE]
//                   [NET...]
//
// --frames measures nothing and counts the tiles of 3x3 layers that go without transforms, in
// frames of the net's size as ffmpeg writes them with -pix_fmt gbrpf32le -f rawvideo.
//
// Times are the processor's, the best of some rounds by turns, which holds while others use the
// machine.  --text says how each layer is computed.
#include "engines/torch/fused/calibrate.h"
#include "engines/torch/fused/program.h"
#include "engines/torch/fused/run.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <time.h>
#include <vector>

using namespace engine_torch::fused;

namespace
{

constexpr int rounds = 2;
constexpr int64_t bands[] = {0, 24, 8, 4};
constexpr size_t caches[] = {0, 4, 16, 64}; // MiB; 0: as programs choose

// The processor's time of this thread.
double thread_seconds()
{
    timespec now = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::mt19937 engine(1);

std::vector<float> numbers(int64_t count, float most)
{
    std::vector<float> made(static_cast<size_t>(count));
    for (float &number : made)
        number = most * (static_cast<float>(engine() % 65536) / 32768.0f - 1);
    return made;
}

ValueId convolve(Graph &graph, ValueId from, int64_t out, int64_t size)
{
    const int64_t in = graph.values()[from].channels;
    const float most = 1.5f / std::sqrt(static_cast<float>(in * size * size));
    return graph.add(Convolution{.out_channels = out,
                                 .kernel = {size, size},
                                 .padding = {size / 2, size / 2},
                                 .weights = numbers(out * in * size * size, most),
                                 .bias = numbers(out, 0.1f)},
                     {from});
}

ValueId prelu(Graph &graph, ValueId from)
{
    return graph.add(Prelu{numbers(graph.values()[from].channels, 0.3f)}, {from});
}

Graph espcn()
{
    Graph graph(3);
    ValueId value = convolve(graph, 0, 64, 5);
    value = graph.add(Activation{ActivationKind::tanh}, {value});
    value = convolve(graph, value, 32, 3);
    value = graph.add(Activation{ActivationKind::tanh}, {value});
    graph.add(PixelShuffle{2}, {convolve(graph, value, 12, 3)});
    return graph;
}

Graph srvgg()
{
    Graph graph(3);
    ValueId value = prelu(graph, convolve(graph, 0, 64, 3));
    for (int layer = 0; layer < 16; layer++)
        value = prelu(graph, convolve(graph, value, 64, 3));
    value = graph.add(PixelShuffle{4}, {convolve(graph, value, 48, 3)});
    const ValueId large = graph.add(Interpolation{InterpolationKind::nearest, {4, 4}}, {0});
    graph.add(Binary(), {value, large});
    return graph;
}

Graph dncnn()
{
    Graph graph(1);
    const auto rectified = [&](ValueId value) {
        return graph.add(Activation{ActivationKind::relu}, {value});
    };
    ValueId value = rectified(convolve(graph, 0, 64, 3));
    for (int layer = 0; layer < 15; layer++) {
        value = convolve(graph, value, 64, 3);
        value = rectified(graph.add(Affine{numbers(64, 1), numbers(64, 0.1f)}, {value}));
    }
    value = convolve(graph, value, 1, 3);
    graph.add(Binary{BinaryKind::subtract}, {0, value});
    return graph;
}

ValueId leaky(Graph &graph, ValueId from)
{
    return graph.add(Activation{ActivationKind::leaky_relu, 0.2f}, {from});
}

// What comes in, and a fifth of what a dense block makes of it.
ValueId residual(Graph &graph, ValueId from, ValueId made)
{
    const std::vector<float> zeros(64, 0), fifth(64, 0.2f);
    return graph.add(Binary(), {graph.add(Affine{fifth, zeros}, {made}), from});
}

ValueId dense_block(Graph &graph, ValueId from)
{
    std::vector<ValueId> features = {from};
    for (int layer = 0; layer < 4; layer++) {
        const ValueId all = layer ? graph.add(Concatenation{}, features) : from;
        features.push_back(leaky(graph, convolve(graph, all, 32, 3)));
    }
    return residual(graph, from, convolve(graph, graph.add(Concatenation{}, features), 64, 3));
}

Graph rrdb()
{
    Graph graph(3);
    const ValueId first = convolve(graph, 0, 64, 3);
    ValueId value = first;
    for (int block = 0; block < 23; block++) {
        ValueId made = value;
        for (int dense = 0; dense < 3; dense++)
            made = dense_block(graph, made);
        value = residual(graph, value, made);
    }
    value = graph.add(Binary(), {convolve(graph, value, 64, 3), first});
    for (int doubling = 0; doubling < 2; doubling++) {
        value = graph.add(Interpolation{InterpolationKind::nearest, {2, 2}}, {value});
        value = leaky(graph, convolve(graph, value, 64, 3));
    }
    convolve(graph, leaky(graph, convolve(graph, value, 64, 3)), 3, 3);
    return graph;
}

double operations(const Graph &graph, Extent extent)
{
    const std::vector<Extent> extents = extents_of(graph, extent);
    double sum = 0;
    for (const Node &node : graph.nodes())
        if (const auto *it = std::get_if<Convolution>(&node.operation)) {
            const Extent made = extents[node.output];
            sum += 2 * static_cast<double>(it->weights.size()) *
                   static_cast<double>(made.height * made.width);
        }
    return sum;
}

struct Case {
    std::string name;
    std::shared_ptr<const Program> program;
    std::unique_ptr<Run> run;
    std::vector<std::byte> memory;
    double seconds = 1e9;
};

struct Memory {
    std::vector<float> in, out;
    Picture from, to;

    explicit Memory(const Program &program)
    {
        const auto take = [&](const Stage &stage, std::vector<float> &samples) {
            const Tensor &it = program.list().tensors[stage.output];
            samples = numbers(it.channels * it.extent.height * it.extent.width, 1);
            return Picture{samples.data(), planar_strides(it.extent)};
        };
        from = take(program.list().stages.front(), in);
        to = take(program.list().stages.back(), out);
    }
};

std::vector<Case> cases_of(const Program &base)
{
    std::vector<Case> cases;
    for (const int64_t rows : bands)
        for (const size_t mib : caches) {
            if (!rows && mib)
                continue;
            Case it = {.name = rows ? std::to_string(rows) + " rows" : "whole layers",
                       .program = Program::with_bands(base, rows, rows ? mib << 20 : 1),
                       .run = {}};
            if (mib)
                it.name += ", " + std::to_string(mib) + " MiB";
            it.name += ", " + std::to_string(it.program->schedule().groups.size()) + " groups";
            it.run = std::make_unique<Run>(it.program);
            it.memory.resize(it.run->memory_bytes());
            cases.push_back(std::move(it));
        }
    return cases;
}

LayerRanges int8_layers(const Graph &graph)
{
    const Extent extent = {96, 128};
    const int64_t channels = graph.values()[graph.input()].channels;
    std::vector<float> noise = numbers(channels * extent.height * extent.width, 1);
    const CalibrationPicture picture = {extent, {noise.data(), planar_strides(extent)}};
    const Calibration made = calibrate(graph, {&picture, 1}, {.decibel = 0});
    std::printf("%zu layers in int8, %.1f dB\n", made.in_int8, made.decibel);
    return made.layers;
}

void measure(const char *name, const Graph &graph, Extent extent, CompileOptions options,
             bool in_int8, bool prints_text)
{
    if (in_int8)
        options.int8 = int8_layers(graph);
    const double start = thread_seconds();
    const auto base = Program::compile(graph, extent, options);
    const double compiled = thread_seconds() - start;
    std::vector<Case> cases = cases_of(*base);
    Memory memory(*base);
    for (int round = 0; round <= rounds; round++)
        for (Case &it : cases) {
            const double before = thread_seconds();
            it.run->compute(memory.from, memory.to, it.memory.data());
            if (round)
                it.seconds = std::min(it.seconds, thread_seconds() - before);
        }
    const double work = operations(graph, extent) * 1e-9;
    std::printf("%s %dx%d, %.1f GFLOP, compiled in %.2f s\n", name, int(extent.width),
                int(extent.height), work, compiled);
    for (const Case &it : cases)
        std::printf("  %-30s %8.1f ms %7.1f GFLOP/s  %6.1f MiB\n", it.name.c_str(),
                    it.seconds * 1e3, work / it.seconds,
                    static_cast<double>(it.memory.size()) / (1 << 20));
    if (prints_text)
        std::printf("%s", base->text().c_str());
    std::fflush(stdout);
}

// In which order the colours come does not matter here.
void count_tiles(const char *name, const Graph &graph, Extent extent, const CompileOptions &options,
                 const std::string &path)
{
    const auto program = Program::compile(graph, extent, options);
    Run run(program);
    Memory memory(*program);
    std::vector<std::byte> scratch(run.memory_bytes());
    std::ifstream file(path, std::ios::binary);
    const auto bytes = static_cast<std::streamsize>(memory.in.size() * sizeof(float));
    Run::Tiles tiles;
    int frames = 0;
    for (; file.read(reinterpret_cast<char *>(memory.in.data()), bytes); frames++) {
        run.compute(memory.from, memory.to, scratch.data());
        tiles.all += run.tiles().all;
        tiles.direct += run.tiles().direct;
    }
    std::printf("%s: %lld of %lld tiles of %d frames of %dx%d without transforms\n", name,
                static_cast<long long>(tiles.direct), static_cast<long long>(tiles.all), frames,
                int(extent.width), int(extent.height));
}

struct Net {
    const char *name;
    Graph (*make)();
    Extent extent;
};

const Net nets[] = {{"espcn", espcn, {360, 640}},
                    {"srvgg", srvgg, {180, 320}},
                    {"dncnn", dncnn, {180, 320}},
                    {"rrdb", rrdb, {90, 160}}};

} // namespace

int main(int count, char **arguments)
try {
    const std::vector<std::string> given(arguments + 1, arguments + count);
    const auto has = [&](const std::string &word) {
        return std::find(given.begin(), given.end(), word) != given.end();
    };
    const bool all = std::none_of(given.begin(), given.end(),
                                  [](const std::string &word) { return word[0] != '-'; });
    CompileOptions options;
    if (has("--bf16"))
        options.precision = Precision::bf16;
    if (has("--interleaved"))
        options.layouts = LayoutChoice::interleaved;
    if (has("--direct"))
        options.layouts = LayoutChoice::direct;
    const std::string frames = "--frames=";
    const auto file = std::find_if(given.begin(), given.end(), [&](const std::string &word) {
        return word.rfind(frames, 0) == 0;
    });
    for (const Net &net : nets)
        if (!all && !has(net.name))
            continue;
        else if (file != given.end())
            count_tiles(net.name, net.make(), net.extent, options, file->substr(frames.size()));
        else
            measure(net.name, net.make(), net.extent, options, has("--int8"), has("--text"));
} catch (const std::exception &error) {
    std::fprintf(stderr, "fused_core: %s\n", error.what());
    return 1;
}
