// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Graphs with random weights for the tests.
#pragma once

#include "engines/torch/fused/graph.h"
#include "engines/torch/fused/program.h"
#include "engines/torch/fused/run.h"
#include "fused_reference.h"

#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace engine_torch::fused
{

class Dice
{
public:
    explicit Dice(unsigned seed) : engine_(seed) {}

    // Both ends are possible.
    int64_t between(int64_t low, int64_t high)
    {
        return low + static_cast<int64_t>(engine_() % static_cast<unsigned>(high - low + 1));
    }

    std::vector<float> numbers(int64_t count, float low = -1, float high = 1)
    {
        std::vector<float> made(static_cast<size_t>(count));
        for (float &number : made)
            number = low + (high - low) * static_cast<float>(engine_() % 65536) / 65535.0f;
        return made;
    }

private:
    std::mt19937 engine_;
};

// Weights are such that values stay about as large as they are.
inline Convolution convolution(Dice &dice, int64_t in, int64_t out, Pair kernel, Pair padding,
                               int64_t groups = 1)
{
    const float most = 1.7f / std::sqrt(static_cast<float>(in / groups * kernel.y * kernel.x));
    return {.out_channels = out,
            .groups = groups,
            .kernel = kernel,
            .stride = {},
            .dilation = {},
            .padding = padding,
            .weights = dice.numbers(out * (in / groups) * kernel.y * kernel.x, -most, most),
            .bias = dice.numbers(out)};
}

inline Convolution convolution_3x3(Dice &dice, int64_t in, int64_t out)
{
    return convolution(dice, in, out, {3, 3}, {1, 1});
}

// x * scale + shift, with one number for all channels or one for each.
inline ValueId add_affine(Graph &graph, ValueId value, std::vector<float> scales,
                          std::vector<float> shifts)
{
    const auto channels = static_cast<size_t>(graph.values()[value].channels);
    for (std::vector<float> *numbers : {&scales, &shifts})
        if (numbers->size() == 1)
            numbers->resize(channels, numbers->front());
    return graph.add(Affine{std::move(scales), std::move(shifts)}, {value});
}

inline std::vector<float> compute(const std::shared_ptr<const Program> &program,
                                  const std::vector<float> &input, bool *is_sound = nullptr,
                                  Run::Tiles *tiles = nullptr)
{
    Run run(program);
    const Extent in = program->input_extent(), out = program->output_extent();
    const int64_t channels = program->list().tensors[program->list().stages.back().output].channels;
    std::vector<float> result(static_cast<size_t>(channels * out.height * out.width));
    std::vector<float> samples = input;
    // What is in memory before must not matter.
    std::vector<float> memory(run.memory_bytes() / sizeof(float), NAN);
    run.compute({samples.data(), planar_strides(in)}, {result.data(), planar_strides(out)},
                reinterpret_cast<std::byte *>(memory.data()));
    if (is_sound)
        *is_sound = run.is_sound();
    if (tiles)
        *tiles = run.tiles();
    return result;
}

} // namespace engine_torch::fused
