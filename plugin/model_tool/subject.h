// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Opens a model as the filter does, and tries what it takes.
#pragma once

#include "find_sizes.h"
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

// The engine and the device that run a command's models.
struct Backend {
    EngineChoice engine;
    DeviceChoice device;
    bool on_cpu() const { return device.device == "cpu"; }
};
// Throws Error.
Backend find_backend(const Request &request);

// Opens the file only to inspect it, even if it would be refused.  Throws Error.
std::shared_ptr<Model> open_to_inspect(const Backend &backend, const Request &request);

// Converts the file and writes it to the descriptor.  Returns a notice for the user, or "".  Throws
// Error.
std::string export_model(const Backend &backend, const Request &request, const std::string &format,
                         std::shared_ptr<const Descriptor> sink);

// Opens the model as the filter does with the option `precision`.  `results` are what the engine
// returns for it: "" is a picture.  Throws Error.
ModelWithContract open_model(const Backend &backend, const Request &request,
                             const std::string &precision, const std::string &results = "");

struct Trials {
    Channels channels;   // of a frame
    int output_channels; // for frame_channels()
    FoundSizes sizes;
    int input_channels; // of all frames and pictures of the input
    int frame_channels() const { return count_of(channels); }
};
// Tries the size of the request first and then small pictures, for a few seconds at most.  Throws
// Error if the model takes none.
Trials try_model(const ModelWithContract &subject, const Request &request);

// Returns the options of the request that the filter needs as well, without those that the model
// ignores.
std::vector<std::pair<std::string, std::string>> filter_options(const Request &request,
                                                                const Model &model);

} // namespace dnn_torch
