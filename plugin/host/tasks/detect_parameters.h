// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A detector's parameters that may change while frames pass.
#pragma once

#include "host/detection/suppression.h"

#include <string>
#include <vector>

namespace dnn_torch
{

// Settings that may change between two frames.
struct DetectParameters {
    float confidence = 0.25F; // detections with less are dropped
    SuppressionParameters suppression = {};
    std::vector<std::string> classes = {}; // names or numbers of classes to keep; empty: all
};

// The names of a model's classes.
struct ClassNames {
    std::vector<std::string> labels = {};
    int count = 0; // of classes; 0: not known
};

// Throws Error if the model lacks a requested class.
void check_classes(const std::vector<std::string> &wanted, const ClassNames &names);

// The set of classes that are kept.
class WantedClasses
{
public:
    // Ignores names that the model does not have.
    WantedClasses(const std::vector<std::string> &wanted, const ClassNames &names);

    bool has(int label) const;

private:
    bool all_;
    std::vector<int> numbers_; // sorted
};

} // namespace dnn_torch
