// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Findings as frame metadata, which metadata=print, select and drawtext read:
//
//     lavfi.dnn_torch.count             boxes in the frame's side data, of all filters
//     lavfi.dnn_torch.N.label           of box N, from 0 on, in the order of the side data
//     lavfi.dnn_torch.N.confidence      0 to 1
//     lavfi.dnn_torch.N.box             x,y,w,h in pixels
//     lavfi.dnn_torch.N.track           the object's number across frames
//     lavfi.dnn_torch.N.turned          centre x, centre y, width, height
//     lavfi.dnn_torch.N.angle           rotation of that box, in degrees, clockwise
//     lavfi.dnn_torch.N.key_points      x,y,confidence;x,y,confidence;...
//     lavfi.dnn_torch.N.class.M.label, .confidence
//     lavfi.dnn_torch.class.M.label, .confidence    of the whole frame
//
// Any thread, but one thread at a time per frame.
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

// Further boxes have no keys, but are included in `count`.
constexpr size_t most_boxes_with_keys = 1000;

// How the findings relate to the boxes of the frame's side data.
struct MetadataParameters {
    size_t first = 0;          // index of the first finding's box
    bool keeps_others = false; // keeps keys of the findings that this call does not set
};

// Returns whether an earlier filter has set the keys.
bool has_metadata(const AVFrame &frame);

// Returns the classes that earlier filters assigned to the whole frame.
std::vector<LabelScore> frame_classes_in(const AVFrame &frame);

// Sets the keys of all boxes.  `boxes` are the frame's side data; those from `parameters.first` on
// are found.things.  Removes keys of boxes that no longer exist.  Appends the classes of the whole
// frame to earlier ones.  Throws std::bad_alloc.
void write_metadata(AVFrame &frame, std::span<const AVDetectionBBox> boxes, const Findings &found,
                    const MetadataParameters &parameters);

// Returns the boxes of the frame's side data, with the tracks from the keys.
std::vector<Finding> things_in(const AVFrame &frame);

} // namespace dnn_torch
