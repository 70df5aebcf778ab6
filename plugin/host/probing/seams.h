// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Tests whether tiles give the same result as the whole picture: a strip as long as the frame runs
// whole, and then in tiles.  That finds effects that show only in long pictures, such as a model
// that reads their size, or a result that slowly changes from one side to the other.  Takes the
// time and the memory of a few strips that are 16 pixels high, or as high as the model's smallest
// pictures.
#pragma once

#include "host/frames/tiling.h"
#include "trial_pictures.h"

#include <vector>

namespace dnn_torch
{

struct Cut {
    Axis axis;
    int extent, tile;
    std::vector<TileSpan> spans;
};

// Throws what `run` throws.
bool is_seamless(const TrialParameters &parameters, const Cut &cut, const RunTrial &run);

} // namespace dnn_torch
