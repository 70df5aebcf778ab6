// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds out what dnn_torch_classify would about a model.
#pragma once

#include "command_line.h"
#include "request.h"
#include "subject.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dnn_torch
{

struct ClassifierFacts {
    std::string takes; // "RGB of 224x224"
    int64_t classes = 0;
    std::vector<std::string> labels = {};
    std::string notice;  // the engine's
    std::string command; // a command line that uses the model
};

// Returns a command line that uses the model with these options, and with the request's size.
std::string classifier_command(const Request &request, FilterOptions options);

// Opens the model as the filter does, and tries it.  Throws Error if it is not a classifier.
ClassifierFacts try_classifier(const Backend &backend, const Request &request);

} // namespace dnn_torch
