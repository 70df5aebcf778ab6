// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Of boxes that overlap and are of the same thing, the surest one stays.  Any thread.
#pragma once

#include "detection.h"

#include <cstddef>
#include <vector>

namespace dnn_torch
{

// As many as Ultralytics takes.
constexpr size_t most_candidates = 30'000;

struct SuppressionParameters {
    float iou = 0.45F;     // those that overlap a surer one by more are dropped; 1: none is
    bool agnostic = false; // also if they are of different classes
    int max_boxes = 300;   // how many stay at most
};

// Returns how much two boxes overlap, from 0 to 1: their common area divided by the area that
// they cover together.  Turned boxes are compared as they lie.
float overlap(const Detection &one, const Detection &other);
float overlap(const Box &one, const Box &other);

// Drops all but the surest `most`; those that stay keep their order.
void keep_surest(std::vector<Detection> &found, size_t most = most_candidates);

// Sorts the detections, the surest first and equally sure ones as they came, and drops those
// that overlap a surer one.  Detections that are no numbers are dropped, too.  Of more than
// 30000, only the surest 30000 are looked at.
void suppress(std::vector<Detection> &found, const SuppressionParameters &parameters);

} // namespace dnn_torch
