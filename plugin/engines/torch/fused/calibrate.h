// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds the ranges of the inputs of a graph's convolutions, and which of them lose little in int8.
#pragma once

#include "graph.h"
#include "int8.h"
#include "program.h"

#include <cstddef>
#include <span>
#include <vector>

namespace engine_torch::fused
{

// A picture to calibrate with, in memory of the caller's.
struct CalibrationPicture {
    Extent extent;
    Picture picture; // only read
};

struct CalibrationGoal {
    double decibel = 40; // PSNR of the result in int8 from that in fp32
    double peak = 1;     // of the result; 0: its largest sample
    // How many pictures are judged, from the first on; 0: all.  The others only count for the
    // ranges, and in deep networks not all of them do.
    size_t judged = 0;
};

struct Calibration {
    LayerRanges layers; // for CompileOptions
    size_t in_int8 = 0; // how many of them
    double decibel = 0; // at most 99.9
};

// Computes the same for the same samples on all processors, but for the last bits.  If all layers
// together lose too much, those that lose the most by themselves stay in fp32.  Throws what
// Program::compile() throws.
Calibration calibrate(const Graph &graph, std::span<const CalibrationPicture> samples,
                      const CalibrationGoal &goal);

} // namespace engine_torch::fused
