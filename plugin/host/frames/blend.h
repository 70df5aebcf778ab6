// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Blends a tile with the tiles written before it, row by row.
#pragma once

#include "frame_window.h"
#include "images.h"
#include "picture.h"

#include <vector>

namespace dnn_torch
{

// The number of samples over which a tile is blended with its neighbours.  The ones to the left
// and above were written before it; the one to the right comes later.
struct BlendEdges {
    int left, above, right;
};

// Belongs to one thread.
class TileBlender
{
public:
    // Like write_picture(), but blends with what `result` already has at those edges.  Each
    // sample becomes the mean of its tiles, weighted by how far inside each tile it is.
    bool write(const Images &images, const PictureNumbers &numbers, int index,
               const AVFrame *source, AVFrame *result, const BlendEdges &edges,
               Part part = Part::seen);

    // The same for one channel of numbers that are no picture yet, into AV_PIX_FMT_GRAYF32.  NaN
    // stays NaN.
    void write_floats(const Images &images, int index, AVFrame *result, const BlendEdges &edges);

private:
    void weigh(int width, const BlendEdges &edges, int y);
    void mix(const float *tile, ptrdiff_t step, float *samples) const;

    std::vector<float> weights_; // of the tile in one row, by column
    std::vector<float> row_;
};

} // namespace dnn_torch
