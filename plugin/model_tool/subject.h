// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A model that was opened as the filter opens it, and what trying it showed.
#pragma once

#include "find_sizes.h"
#include "host/model/device_choice.h"
#include "host/model/engine_choice.h"
#include "host/model/model.h"
#include "host/probing/model_contract.h"
#include "host/probing/model_probe.h"
#include "request.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace dnn_torch
{

// The device and the engine that run a command's models.
struct Place {
    EngineChoice engine;
    DeviceChoice device;
    bool on_cpu() const { return device.device == "cpu"; }
};
// Throws Error.
Place find_place(const Request &request);

// Opens the file to look at it, even if it would be refused.  Throws Error.
std::shared_ptr<Model> look_at_model(const Place &place, const Request &request);

// Converts the file and writes it to the descriptor.  Returns what the user should know about it,
// or "".  Throws Error.
std::string export_model(const Place &place, const Request &request, const std::string &format,
                         std::shared_ptr<const Descriptor> sink);

// Opens the model as the filter does with the option `precision`.  `results` are what the engine
// gives of it: "" is a picture.  Throws Error.
ModelWithContract open_model(const Place &place, const Request &request,
                             const std::string &precision, const std::string &results = "");

struct Trials {
    Channels channels;
    int made; // channels that come out, of as many as fed_channels()
    FoundSizes sizes;
    int fed_channels() const { return count_of(channels); }
};
// Tries the size of the request first and then small pictures, for some seconds at most.  Throws
// Error if the model takes none.
Trials try_model(const ModelWithContract &subject, const Request &request);

// Returns the options of the request that the filter needs as well.
std::vector<std::pair<std::string, std::string>> filter_options(const Request &request);

} // namespace dnn_torch
