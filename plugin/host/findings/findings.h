// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What was found in a frame, in the frame's own pixels and words, and what reads it.
#pragma once

#include "host/detection/detection.h"
#include "host/size.h"

extern "C" {
#include <libavutil/rational.h>
}

#include <cstdint>
#include <string>
#include <vector>

namespace dnn_torch
{

// A label that a classifier gives.
struct LabelScore {
    std::string label;
    float confidence = 0;
};

// Something in a frame.
struct Finding {
    Detection detection; // in the frame's pixels
    std::string label;
    int64_t track = 0;                    // the number that the thing keeps over frames; 0: none
    std::vector<LabelScore> classes = {}; // what classifiers say of it, of each the likeliest first
    size_t earlier_classes = 0;           // how many of these earlier filters said
};

// What the model found in one frame.
struct Findings {
    std::vector<Finding> things = {};
    std::vector<LabelScore> classes = {}; // of the frame as a whole
};

// Which frame it is.
struct FrameFacts {
    int64_t number = 0; // from 0 on
    int64_t pts = 0;    // may be AV_NOPTS_VALUE
    AVRational time_base = {0, 1};
    Size size = {};
};

// Takes what was found, a frame at a time and in order.  Belongs to one thread.
class FindingsSink
{
public:
    virtual ~FindingsSink() = default;

    // Throws Error.
    virtual void write(const FrameFacts &frame, const Findings &found) = 0;
    // No frame follows.  Throws Error.
    virtual void end() {}
};

} // namespace dnn_torch
