// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// How far the kernels of a graph reach, given the sizes, strides and dilations of its convolutions,
// pools, shuffles and shifts.  Weights and samples do not matter.
#pragma once

#include "known_values.h"
#include "picture_axes.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <torch/csrc/jit/ir/ir.h>

namespace engine_torch
{

// Which samples of a value depend on a block of the picture, along one axis.  The picture is
// treated as if it had no borders.
struct Footprint {
    // The block begins at 0.  Its length is a multiple of the strides of all common nets.
    static constexpr int64_t block = 4096 * 9 * 5 * 7;

    int64_t first = 0, end = block;
    int64_t out = 1, in = 1; // an extent of `in` becomes one of `out`, in lowest terms
    int64_t step = 1;        // shifting the picture by a multiple of this shifts the result alike

    bool operator==(const Footprint &) const = default;
};

// Height and width, in this order.
using Footprints = std::array<Footprint, 2>;

// Returns nullopt if the scales of the values differ.
std::optional<Footprints> hull(const Footprints &one, const Footprints &other);

// Returns what of the result depends on the block, given what of the first input does.  Returns
// nullopt if the operator is no kernel with a known reach, such as one whose size is computed.
std::optional<Footprints> after_kernel(const torch::jit::Node &node, const std::string &name,
                                       const Footprints &of_input, const PictureAxes &axes,
                                       const KnownValues &known);

// In samples of the picture.
struct KernelReach {
    int64_t reach = 0, step = 1;
};

KernelReach reach_of(const Footprint &stretch);

} // namespace engine_torch
