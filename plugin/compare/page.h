// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The pictures of a page and of a contact sheet, cut to what fits, and the page itself.
#pragma once

#include "columns.h"

#include <optional>
#include <string>
#include <vector>

namespace dnn_torch
{

struct Crop {
    int left, top, width, height;
};

struct ShownFrame {
    double seconds;
    PictureSize size;         // of the largest result; all pictures are shown at this size
    double pixel_aspect;      // width of its pixels, by their height
    std::optional<Crop> crop; // nullopt: the whole frame
};

struct ShownPicture {
    std::string file; // "": there is none
    PictureSize size{};
};

struct Comparison {
    CompareOptions options;
    std::vector<ShownFrame> frames;
    std::vector<Column> columns;
    std::vector<std::vector<ShownPicture>> pictures; // by column and frame
};

// Fills in the frames and the pictures: crops of large frames, smaller ones if the page would
// become too large.  Throws std::runtime_error.
void cut_pictures(const Programs &programs, const Cut &source, Comparison &comparison);

// Returns the whole page.
std::string page_of(const Comparison &comparison);

// Draws all pictures in rows of frames and columns of models.  Throws std::runtime_error.
void draw_sheet(const Programs &programs, const TemporaryFolder &folder,
                const Comparison &comparison, const std::string &file);

} // namespace dnn_torch
