// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Measures how far a model looks: which samples of its result change with one sample of its input.
// A model is local if that is a small part of the picture, and if the same content gives the same
// result wherever it lies.
#pragma once

#include "host/frames/convert.h"
#include "host/size.h"
#include "tiling.h"

#include <functional>
#include <optional>
#include <vector>

namespace dnn_torch
{

// A picture, channel after channel.
struct TrialPicture {
    Size size = {0, 0};
    std::vector<float> samples;
};

// Runs the model once.  Throws Error if it refuses the picture.
using RunTrial = std::function<TrialPicture(const TrialPicture &)>;

struct TrialTerms {
    int channels;
    int made = 0;             // channels that come out; 0: as many
    int multiple = 1;         // of which width and height must be
    Size least = {1, 1};      // that they must have
    std::optional<Size> only; // the one size that the model takes
    NumberMap numbers;        // what the model's numbers are
};

struct AxisLocality {
    bool is_local;
    int reach; // how far a sample's influence goes, in samples of the input
    int step;  // the same content gives the same result if it moves by multiples of this
    Ratio ratio;
};

struct Locality {
    AxisLocality across, down;
    bool is_local() const { return across.is_local && down.is_local; }
};

// Throws Error if the model's result is no multiple or simple fraction of its input, and what
// `run` throws for the smallest pictures.
Locality measure_locality(const TrialTerms &terms, const RunTrial &run);

} // namespace dnn_torch
