// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The options that only dnn_torch_classify has.
#pragma once

#include "host/tasks/classify_parameters.h"
#include "options.h"

#include <cstddef>

namespace dnn_torch
{

// A group like those in options.h.
struct ClassifierSettings {
    char *target, *size;
    float confidence;
    int top, scores, on, fit, crops;
};

OptionTable classifier_options(size_t offset);

// Returns the settings that may change while frames pass.  Throws Error if the options contradict
// each other.
ClassifyParameters parameters_of(const ClassifierSettings &settings);

// Returns the settings that are fixed.  Throws Error.
ClassifySettings request_of(const ClassifierSettings &settings);

} // namespace dnn_torch
