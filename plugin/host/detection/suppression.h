// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Non-maximum suppression: of overlapping boxes of the same object, keeps the most confident one.
// Thread-safe.
#pragma once

#include "detection.h"

#include <cstddef>
#include <vector>

namespace dnn_torch
{

// The same number as in Ultralytics.
constexpr size_t most_candidates = 30'000;

struct SuppressionParameters {
    float iou = 0.45F;     // boxes that overlap a more confident one by more are dropped; 1: none
    bool agnostic = false; // compare boxes of different classes, too
    int max_boxes = 300;   // how many are kept at most
};

// Returns the intersection over union of two boxes, from 0 to 1.  Compares turned boxes as turned.
float overlap(const Detection &one, const Detection &other);
float overlap(const Box &one, const Box &other);

// Drops all but the `most` most confident detections, whose order stays the same.
void keep_most_confident(std::vector<Detection> &found, size_t most = most_candidates);

// Sorts the detections by confidence, equal ones in their original order, and drops those that
// overlap a more confident one, or are not finite.  Uses only the 30000 most confident detections.
void suppress(std::vector<Detection> &found, const SuppressionParameters &parameters);

} // namespace dnn_torch
