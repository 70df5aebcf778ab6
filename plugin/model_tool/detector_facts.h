// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What dnn_torch_detect finds out about a model, for inspect.
#pragma once

#include "request.h"
#include "subject.h"

#include <string>
#include <vector>

namespace dnn_torch
{

struct DetectorFactsFound {
    std::string takes;   // "RGB of 640x640"
    std::string decoder; // the decoder's name
    int classes = 0;     // 0: not known
    std::vector<std::string> labels = {};
    std::string command; // a command line that uses the model
};

// Whether the contract says that the model finds things.
bool is_of_detector(const Contract &contract);

// Opens the model as the filter does, and tries it.  Throws Error if it is no detector.
DetectorFactsFound try_detector(const Place &place, const Request &request);

} // namespace dnn_torch
