// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What was found as a frame's metadata, which metadata=print, select and drawtext read:
//
//     lavfi.dnn_torch.count             boxes in the frame's side data, of all filters
//     lavfi.dnn_torch.N.label           of box N, from 0 on, in the order of the side data
//     lavfi.dnn_torch.N.confidence      0 to 1
//     lavfi.dnn_torch.N.box             x,y,w,h in pixels
//     lavfi.dnn_torch.N.track           the number that it keeps over frames
//     lavfi.dnn_torch.N.turned          middle x, middle y, width, height
//     lavfi.dnn_torch.N.angle           by which that is turned, in degrees, clockwise
//     lavfi.dnn_torch.N.key_points      x,y,confidence;x,y,confidence;...
//     lavfi.dnn_torch.N.class.M.label, .confidence
//     lavfi.dnn_torch.class.M.label, .confidence    of the frame as a whole
//
// Any thread, one at a time for a frame.
#pragma once

#include "findings.h"

extern "C" {
#include <libavutil/detection_bbox.h>
#include <libavutil/frame.h>
}

#include <span>
#include <vector>

namespace dnn_torch
{

// Boxes beyond that many have no keys, but count.
constexpr size_t most_boxes_with_keys = 1000;

// Where the findings are among all boxes of the frame's side data.
struct MetadataParameters {
    size_t first = 0;          // the place of the first finding
    bool keeps_others = false; // keys of findings that this call does not set stay
};

// Whether an earlier filter has set them.
bool has_metadata(const AVFrame &frame);

// Returns what earlier filters said of the frame as a whole.
std::vector<LabelScore> frame_classes_in(const AVFrame &frame);

// Sets the keys of all boxes.  `boxes` are the frame's side data; those from `parameters.first` on
// are found.things.  Keys of boxes that are no longer there go.  What is said of the frame as a
// whole comes behind what was said before.  Throws std::bad_alloc.
void write_metadata(AVFrame &frame, std::span<const AVDetectionBBox> boxes, const Findings &found,
                    const MetadataParameters &parameters);

// Returns the boxes of the frame's side data, with the tracks that the keys have for them.
// Empty if there are none.
std::vector<Finding> things_in(const AVFrame &frame);

} // namespace dnn_torch
