// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Measures a model's reach: which samples of its result change with one sample of its input.  A
// model is local if that is a small part of the picture, and if the same content gives the same
// result wherever it is.  It takes about 40 runs on strips of 1024 pixels, for any model.
#pragma once

#include "host/frames/tiling.h"
#include "host/size.h"
#include "trial_pictures.h"

namespace dnn_torch
{

struct AxisLocality {
    bool is_local;
    int reach; // how many samples next to a tile's inner edge are wrong, in samples of the input
    int step;  // the same content gives the same result if it moves by multiples of this
    Ratio ratio;
};

struct Locality {
    AxisLocality across, down;
    bool is_local() const { return across.is_local && down.is_local; }
};

// Throws Error if the result's size is no multiple or simple fraction of the input's, and what
// `run` throws for the smallest pictures.
Locality measure_locality(const TrialParameters &parameters, const RunTrial &run);

} // namespace dnn_torch
