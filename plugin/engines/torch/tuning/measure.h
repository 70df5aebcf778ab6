// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Measures how fast the variants of a model are.
#pragma once

#include "engines/torch/program/variants.h"
#include "engines/torch/shape.h"

#include <chrono>
#include <vector>

namespace engine_torch
{

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start);
// Counts all images of a batch.
double pixels_of(const Shape &shape);

struct TriedVariant {
    Variant variant;
    bool may_win = true;      // false: measured only to tell the user about it
    double seconds = 0;       // one run of the whole shape; 0: not known
    int64_t bytes = 0;        // peak memory; 0: not known
    double operations = 0;    // see OperationCount; 0: not known
    double decibel = 0;       // PSNR against the plain module
    bool is_compared = false; // timed in turn with the others
    bool differs = false;     // its results differ from the plain module's
};

// The size of the pictures that the candidates were compared with.  If the code looks at their
// size, results with parts say nothing about whole pictures.
enum class Compared { not_at_all, with_parts, with_whole_pictures };

// Times the candidates in turn, on the calling thread, on as much of a picture as the rest of the
// budget allows, and for about that time.  If that is less than a small part needs, each runs once
// on a small part.  There must be at least one candidate.  If the model takes no parts and the
// budget allows no comparison, the first candidate's figures are an estimate, or missing.  Throws
// if memory runs out.
Compared measure(std::vector<TriedVariant> &candidates, const Source &source, const Shape &shape,
                 double budget_seconds);

} // namespace engine_torch
