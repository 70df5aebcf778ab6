// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Decoders make detections of the tensors that a detector returns.  Each kind is one file with
// a table of the shapes that it takes; decoders.h lists them.
//
// Any thread may use a decoder.
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

// What is known of a detector.  Zeros, empty texts and empty lists are not known.
struct DetectorFacts {
    Size input = {};                  // of the picture that the model gets
    int classes = 0;                  // how many it tells apart, without one for nothing
    std::string task = {};            // of the contract: "detect", "pose", "obb", "segment"
    std::optional<bool> end2end = {}; // detections need no suppression
    std::vector<float> anchors = {};  // width, height, width, height, ... in pixels of the input
    Size cells = {};                  // of YOLOv2: how many its grid has, across and down
    int key_points = 0, key_point_numbers = 0; // 17 and 3 of a pose
};

struct DecodeParameters {
    float confidence = 0.25F; // what is found with less is dropped
};

class Decoder
{
public:
    virtual ~Decoder() = default;

    // As the option `decoder` has it: "yolov8".
    virtual const char *name() const = 0;
    // How many classes the tensors are for; 0: they do not show it.
    virtual int classes() const = 0;
    // Whether class 0 is usually the background.
    virtual bool has_background() const { return false; }
    // Whether boxes have an angle.
    virtual bool has_turned_boxes() const { return false; }
    // Whether boxes come that overlap and are of the same thing.
    virtual bool needs_suppression() const = 0;
    // Whether the facts' anchors and cells count.
    virtual bool has_anchors() const { return false; }

    // Appends what picture `index` of the batch shows to `found`.  Boxes may reach beyond the
    // picture.  What is no number, or has no extent, is left out.  Throws Error if the tensors
    // have not the shapes that the decoder was made for.
    virtual void decode(std::span<const DnnTorchTensor> tensors, int index,
                        const DecodeParameters &parameters,
                        std::vector<Detection> &found) const = 0;

    // Gives key points to detections that decode() made of the same tensors and the same picture.
    // Of thousands of boxes few stay, so key points are read of those.  Throws Error.
    virtual void add_key_points(std::span<const DnnTorchTensor>, int /*index*/,
                                std::span<Detection> /*found*/) const
    {
    }

    // Whether the tensors have masks.
    virtual bool has_masks() const { return false; }
    // Gives masks to such detections.  They cost much more than boxes.  Throws Error.
    virtual void add_masks(std::span<const DnnTorchTensor>, int /*index*/,
                           std::span<Detection> /*found*/) const
    {
    }
};

} // namespace dnn_torch
