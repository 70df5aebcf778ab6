// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What a user wants of a classifier, and which parts of a frame it is shown.
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
    automatic, // boxes where the frame's side data has some, or targets are named; else the frame
    frame,
    boxes,
};

// What may change between two frames.
struct ClassifyParameters {
    size_t top = 1;                        // how many classes are said at most
    float confidence = 0;                  // classes with less are not said
    std::vector<std::string> targets = {}; // labels of the boxes that are classified; empty: all
};

struct ClassifySettings {
    ScoreKind scores = ScoreKind::automatic;
    ClassifyWhat what = ClassifyWhat::automatic;
    std::optional<Placing> placing = {}; // none: frames are cropped, boxes stretched
    std::optional<Size> size = {};       // of the model's picture; none: found out
    size_t crops = 8;                    // boxes in one run of the model
};

// Whether boxes of that label are to be classified.  Numbers that a tracker put behind labels do
// not count: "person #3" is a "person".
bool is_target(const std::string &label, const std::vector<std::string> &targets);

// Returns the part of the frame that the box covers, at least a pixel of each extent; nullopt if
// it lies outside.  It begins at multiples of `chroma`.
std::optional<Region> region_of(const Box &box, Size frame, Size chroma);

// Returns how that part of a frame lies in the model's picture.
Placement place_part(const Region &part, Size picture, Placing placing, Size chroma);

} // namespace dnn_torch
