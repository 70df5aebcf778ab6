// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A transposed convolution as an ordinary one.
#pragma once

#include "graph.h"

namespace engine_torch::fused
{

// Computes each of the stride's phases as channels of its own.  Depth to space by the stride, with
// the original padding cut off at the top left, gives the original's result, term by term.
struct PhasedConvolution {
    Convolution convolution;
    Extent extent; // of the convolution's result
};

// Whether the phases need many times the original's weights, most of them zeros, because the kernel
// is much smaller than the stride.  All arguments are the original's.
bool is_wasteful_in_phases(int64_t weights, Pair kernel, Pair stride);

PhasedConvolution in_phases(const TransposedConvolution &original, int64_t in_channels, Extent in,
                            Extent out);

} // namespace engine_torch::fused
