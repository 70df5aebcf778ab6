// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What a model found in a frame, in the frame's pixels, and the interface of its readers.
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

// A class that a classifier assigns.
struct LabelScore {
    std::string label;
    float confidence = 0;
};

// An object in a frame.
struct Finding {
    Detection detection; // in the frame's pixels
    std::string label;
    int64_t track = 0;                    // the object's number across frames; 0: none
    std::vector<LabelScore> classes = {}; // of all classifiers, the likeliest of each first
    size_t earlier_classes = 0;           // how many of these come from earlier filters
};

// All findings in one frame.
struct Findings {
    std::vector<Finding> things = {};
    std::vector<LabelScore> classes = {}; // of the whole frame
    std::vector<Box> hidden = {};         // what is hidden in the frame
    bool in_doubt = false;                // something to hide may not be among them
};

// Identifies a frame.
struct FrameFacts {
    int64_t number = 0; // from 0 on
    int64_t pts = 0;    // may be AV_NOPTS_VALUE
    AVRational time_base = {0, 1};
    Size size = {};
};

// Takes the findings of each frame, in order.  Belongs to one thread.
class FindingsSink
{
public:
    virtual ~FindingsSink() = default;

    // Throws Error.
    virtual void write(const FrameFacts &frame, const Findings &found) = 0;
    // Called after the last frame.  Throws Error.
    virtual void end() {}
};

} // namespace dnn_torch
