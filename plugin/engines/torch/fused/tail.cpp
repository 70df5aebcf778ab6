// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tail.h"

#include <variant>

namespace engine_torch::fused
{
namespace
{

std::vector<float> padded(std::vector<float> numbers, const RowLayout &layout)
{
    numbers.resize(static_cast<size_t>(layout.padded_channels()));
    return numbers;
}

struct Preparation {
    const RowLayout &layout;

    PreparedStep operator()(const Activation &step) const { return step; }

    PreparedStep operator()(const Prelu &step) const
    {
        return PreparedPrelu{padded(step.slopes, layout)};
    }

    PreparedStep operator()(const Affine &step) const
    {
        return PreparedAffine{padded(step.scales, layout), padded(step.shifts, layout)};
    }

    PreparedStep operator()(const BinaryWith &step) const
    {
        return PreparedBinary{step.kind, step.reversed};
    }
};

} // namespace

PreparedTail prepare_tail(const Stage &stage, size_t fused_steps, const RowLayout &layout)
{
    PreparedTail tail;
    for (size_t place = 0; place < stage.tail.size(); place++) {
        const bool is_fused = place < fused_steps;
        if (const auto *binary = std::get_if<BinaryWith>(&stage.tail[place]))
            (is_fused ? tail.fused_others : tail.others).push_back(binary->other);
        if (!is_fused)
            tail.steps.push_back(std::visit(Preparation{layout}, stage.tail[place]));
    }
    return tail;
}

} // namespace engine_torch::fused
