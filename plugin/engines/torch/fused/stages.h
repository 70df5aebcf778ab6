// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A graph for one frame size, as stages: a stage makes rows of one tensor out of rows of others.
// Operations sample by sample that follow a layer are the tail of that layer's stage, so that they
// cost no pass of their own over memory.
#pragma once

#include "graph.h"
#include "rows.h"

#include <cstdint>
#include <variant>
#include <vector>

namespace engine_torch::fused
{

using TensorId = size_t;

struct Tensor {
    int64_t channels = 0;
    Extent extent;
};

// x joined with the same sample of another tensor.  Reversed: other - x.
struct BinaryWith {
    BinaryKind kind = BinaryKind::add;
    TensorId other = 0;
    bool reversed = false;
};

using TailStep = std::variant<Activation, Prelu, Affine, BinaryWith>;

struct Load { // reads the frame
};

struct Store { // writes the result
};

struct Copy { // for the sake of its tail, or of another layout
};

// Quantises the input of a convolution in int8, as the result's layout says, with columns of zeros
// around the picture: those are quantised, which oneDNN's own padding is not.
struct Quantise {
    int64_t left = 0, right = 0;
};

// Depth to space.  `crop` is how many rows and columns of the result are left out at the top left.
struct Shuffle {
    Pair factor, crop = {0, 0};
};

// A convolution's padding is that at the top left.  That at the bottom right follows from the
// tensors' sizes.
using Core = std::variant<Load, Store, Copy, Convolution, Concatenation, Slice, Shuffle,
                          PixelUnshuffle, Interpolation, Padding, Quantise>;

struct Stage {
    Core core;
    std::vector<TensorId> inputs; // of the core; the tail has its own
    TensorId output = 0;          // of Store: what the caller gets
    std::vector<TailStep> tail;
};

// Stages are in an order in which they can run; the first one is Load and the last one Store.
struct StageList {
    std::vector<Tensor> tensors;
    std::vector<Stage> stages;
};

struct RowRange {
    int64_t first = 0, end = 0;
};

// The rows of its input that a stage needs to make those rows.  Both may be outside the picture:
// the caller clips them.
RowRange rows_needed(const Core &core, RowRange made);

// Returns what the stage reads: the core's inputs, then those of the tail.
std::vector<TensorId> tensors_read(const Stage &stage);

// Throws GraphError if the sizes do not fit.
StageList lower(const Graph &graph, Extent input);

} // namespace engine_torch::fused
