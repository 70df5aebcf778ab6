// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The options of dnn_torch_classify that no other filter has.
#pragma once

#include "host/tasks/classify_parameters.h"
#include "options.h"

#include <cstddef>

namespace dnn_torch
{

// A group as those in options.h.
struct ClassifierSettings {
    char *target, *size;
    float confidence;
    int top, scores, on, fit, crops;
};

OptionTable classifier_options(size_t offset);

// What may change while frames pass.  Throws Error if the options contradict each other.
ClassifyParameters parameters_of(const ClassifierSettings &settings);

// The rest.  Throws Error.
ClassifySettings request_of(const ClassifierSettings &settings);

} // namespace dnn_torch
