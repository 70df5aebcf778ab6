// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Boxes as FFmpeg's filters hand them on: AVDetectionBBox in a frame's side data.  drawbox,
// drawtext and showinfo read them.
//
// Any thread, one at a time for a frame.
#pragma once

#include "findings.h"

extern "C" {
#include <libavutil/detection_bbox.h>
#include <libavutil/frame.h>
}

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dnn_torch
{

// Boxes out of side data that anybody may have made.
struct KnownBoxes {
    std::string source;
    std::vector<AVDetectionBBox>
        boxes; // their texts end, and at most 4 classes are said to be there
};

// Returns nullopt if the frame has no such side data, or one that contradicts itself.
std::optional<KnownBoxes> read_boxes(const AVFrame &frame);

// Whether a detector has searched the frame, even if it found nothing.
bool is_searched(const AVFrame &frame);

// The same as findings, for a filter that says more of them.
std::vector<Finding> findings_of(std::span<const AVDetectionBBox> boxes);

// Returns the box in whole pixels.  Each edge lies within half a pixel of the finding's, but
// inside a frame of that size and at least one pixel from its opposite.  `label` is cut to
// what fits.
AVDetectionBBox box_of(const Finding &finding, std::string_view label, Size frame);

// Replaces what was said of the box's class, by at most 4 classes.
void put_classes(AVDetectionBBox &box, std::span<const LabelScore> classes);

// Replaces the frame's side data.  Other references to the frame keep what they have.  Without
// boxes it is a header alone, so that drawbox and drawtext find it and draw nothing.
// Throws std::bad_alloc.
void write_boxes(AVFrame &frame, std::string_view source, std::span<const AVDetectionBBox> boxes);

// Returns the longest beginning of the text that has at most that many bytes and ends
// with a whole character.
std::string_view cut_to_bytes(std::string_view text, size_t bytes);

} // namespace dnn_torch
