// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Decoders convert a detector's output tensors to detections.  Each kind is one file with a table
// of the shapes that it takes; decoders.h lists them.
//
// Thread-safe.
#pragma once

#include "detection.h"
#include "dnn_torch/engine.h"
#include "host/size.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dnn_torch
{

// What is known about a detector.  Zeros, empty texts and empty lists mean unknown.
struct DetectorFacts {
    Size input = {};                  // of the model's input picture
    int classes = 0;                  // how many it has, without a "no object" class
    std::string task = {};            // of the contract: "detect", "pose", "obb", "segment"
    std::optional<bool> end2end = {}; // detections need no suppression
    std::vector<float> anchors = {};  // width, height, width, height, ... in pixels of the input
    Size cells = {};                  // of YOLOv2: the size of its grid
    int key_points = 0, key_point_numbers = 0; // 17 and 3 of a pose
};

struct DecodeParameters {
    float confidence = 0.25F; // detections with less are dropped
};

class Decoder
{
public:
    virtual ~Decoder() = default;

    // Returns the value of the option `decoder`: "yolov8".
    virtual const char *name() const = 0;
    // Returns how many classes the tensors have; 0: unknown.
    virtual int classes() const = 0;
    // Whether class 0 is usually the background.
    virtual bool has_background() const { return false; }
    // Whether boxes have an angle.
    virtual bool has_turned_boxes() const { return false; }
    // Whether several overlapping boxes may be of the same object.
    virtual bool needs_suppression() const = 0;
    // Whether the decoder uses the facts' anchors and cells.
    virtual bool has_anchors() const { return false; }

    // Appends the detections in picture `index` of the batch to `found`.  Boxes may reach beyond
    // the picture.  Skips boxes that have a NaN or no extent.  Throws Error if the tensors do not
    // have the shapes that the decoder was made for.
    virtual void decode(std::span<const DnnTorchTensor> tensors, int index,
                        const DecodeParameters &parameters,
                        std::vector<Detection> &found) const = 0;

    // Adds key points to detections that decode() returned for the same tensors and picture.  It is
    // separate because few of thousands of boxes remain after suppression.  Throws Error.
    virtual void add_key_points(std::span<const DnnTorchTensor>, int /*index*/,
                                std::span<Detection> /*found*/) const
    {
    }

    // Whether the tensors have masks.
    virtual bool has_masks() const { return false; }
    // Adds masks in the same way.  They cost much more than boxes.  Throws Error.
    virtual void add_masks(std::span<const DnnTorchTensor>, int /*index*/,
                           std::span<Detection> /*found*/) const
    {
    }
};

} // namespace dnn_torch
