// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The user's settings of a classifier, and which parts of a frame it gets.
#pragma once

#include "host/findings/findings.h"
#include "host/findings/scores.h"
#include "host/frames/placement.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace dnn_torch
{

enum class ClassifyWhat {
    automatic, // boxes if the frame's side data has some or targets are given; else the frame
    frame,
    boxes,
};

// Settings that may change between two frames.
struct ClassifyParameters {
    size_t top = 1;                        // how many classes are reported at most
    float confidence = 0;                  // classes with less are not reported
    std::vector<std::string> targets = {}; // labels of the boxes that are classified; empty: all
};

struct ClassifySettings {
    ScoreKind scores = ScoreKind::automatic;
    ClassifyWhat what = ClassifyWhat::automatic;
    std::optional<Placing> placing = {}; // none: frames are cropped, boxes stretched
    std::optional<Size> size = {};       // of the model's input; none: found by probing
    size_t crops = 8;                    // boxes in one run of the model
};

// Returns whether boxes with this label are classified.  Ignores the number that a tracker
// appended: "person #3" is a "person".
bool is_target(const std::string &label, const std::vector<std::string> &targets);

// Returns the part of the frame that the box covers, at least one pixel wide and high; nullopt if
// the box is outside the frame.  It begins at multiples of `chroma`.
std::optional<Region> region_of(const Box &box, Size frame, Size chroma);

// Returns where this part of a frame is placed in the model's input.
Placement place_part(const Region &part, Size picture, Placing placing, Size chroma);

} // namespace dnn_torch
