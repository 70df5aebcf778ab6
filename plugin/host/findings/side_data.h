// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Boxes as FFmpeg's filters exchange them: AVDetectionBBox in a frame's side data.  drawbox,
// drawtext and showinfo read them.
//
// Any thread, but one thread at a time per frame.
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

// Boxes from side data that any filter may have written.  They are sanitised: texts are terminated,
// and no box has more than 4 classes.
struct KnownBoxes {
    std::string source;
    std::vector<AVDetectionBBox> boxes;
};

// Returns nullopt if the frame has no such side data, or if it is inconsistent.
std::optional<KnownBoxes> read_boxes(const AVFrame &frame);

// Returns whether the frame has box side data, even without boxes.
bool has_box_data(const AVFrame &frame);

// Converts boxes to findings, for a filter that refines them.
std::vector<Finding> findings_of(std::span<const AVDetectionBBox> boxes);

// Returns the box in whole pixels.  Each edge is within half a pixel of the finding's, but inside a
// frame of that size and at least one pixel from the opposite edge.  Truncates `label` if it is too
// long.
AVDetectionBBox box_of(const Finding &finding, std::string_view label, Size frame);

// Replaces the box's classes, by at most 4.
void put_classes(AVDetectionBBox &box, std::span<const LabelScore> classes);

// Replaces the frame's side data.  Other references to the frame keep theirs.  Without boxes it is
// only a header, so that drawbox and drawtext find it and draw nothing.  Throws std::bad_alloc.
void write_boxes(AVFrame &frame, std::string_view source, std::span<const AVDetectionBBox> boxes);

// Returns the longest prefix of the UTF-8 text that has at most that many bytes and ends with a
// whole character.
std::string_view truncated(std::string_view text, size_t bytes);

} // namespace dnn_torch
