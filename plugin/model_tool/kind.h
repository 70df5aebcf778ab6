// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds out which filter a model is for, and what that filter would find out.
#pragma once

#include "command_line.h"
#include "host/model/contract.h"
#include "request.h"
#include "subject.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace dnn_torch
{

enum class Kind { picture, detector, classifier };

// Functions that try a model as each kind.  They throw Error if it is of another kind.
struct Attempts {
    std::function<void()> picture, detector, classifier;
};

// Tries the model as the kind that its contract's task implies, and returns the kind.  Without such
// a task, tries it as a model of pictures first, then as the others.  If all fail, throws the first
// attempt's Error, which tells most.
Kind find_kind(const Contract &contract, const Attempts &attempts);

// What dnn_torch_classify would find out.
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

// What dnn_torch_detect would find out.
struct DetectorFactsFound {
    std::string takes;   // "RGB of 640x640"
    std::string decoder; // the decoder's name
    int classes = 0;     // 0: not known
    std::vector<std::string> labels = {};
    std::string notice;  // the engine's
    std::string command; // a command line that uses the model
};

// Returns a command line that uses the model with these options, and with the request's size.
std::string detector_command(const Request &request, FilterOptions options);

// Opens the model as the filter does, and tries it.  Throws Error if it is not a detector.
DetectorFactsFound try_detector(const Backend &backend, const Request &request);

} // namespace dnn_torch
