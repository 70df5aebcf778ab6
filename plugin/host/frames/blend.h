// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Blends a tile with those that were written before it, row by row.
#pragma once

#include "frame_window.h"
#include "picture.h"
#include "picture_numbers.h"

#include <vector>

namespace dnn_torch
{

// Over how many samples a tile is blended with its neighbours: with those to the left and above,
// which were written before, and with those to the right, which come later.
struct BlendEdges {
    int left, above, right;
};

// Belongs to one thread.
class TileBlender
{
public:
    // As write_picture(), but what `result` has already counts at those edges, so that each
    // sample becomes the mean of its tiles, weighted by how far inside of them it lies.
    bool write(const Images &images, const PictureNumbers &numbers, int index,
               const AVFrame *source, AVFrame *result, const BlendEdges &edges,
               Part part = Part::seen);

    // The same for numbers of one channel that are no picture yet, into AV_PIX_FMT_GRAYF32.  What
    // is no number stays so.
    void write_floats(const Images &images, int index, AVFrame *result, const BlendEdges &edges);

private:
    void weigh(int width, const BlendEdges &edges, int y);
    void mix(const float *made, ptrdiff_t step, float *samples) const;

    std::vector<float> weights_; // of the tile, by column of one row
    std::vector<float> row_;
};

} // namespace dnn_torch
