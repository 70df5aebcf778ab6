// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What a user wants of a detector while frames pass.
#pragma once

#include "host/detection/suppression.h"

#include <string>
#include <vector>

namespace dnn_torch
{

// What may change between two frames.
struct DetectParameters {
    float confidence = 0.25F; // what is found with less is dropped
    SuppressionParameters suppression = {};
    std::vector<std::string> classes = {}; // names or numbers of those that are kept; empty: all
};

// What the classes of a model are called.
struct ClassNames {
    std::vector<std::string> labels = {};
    int count = 0; // of classes; 0: not known
};

// Throws Error if a wanted class is none of the model's.
void check_classes(const std::vector<std::string> &wanted, const ClassNames &names);

// Which classes are kept, by their numbers.
class WantedClasses
{
public:
    // Names that the model does not know stand for nothing.
    WantedClasses(const std::vector<std::string> &wanted, const ClassNames &names);

    bool has(int label) const;

private:
    bool all_;
    std::vector<int> numbers_; // sorted
};

} // namespace dnn_torch
