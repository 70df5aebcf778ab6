// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A model that has been opened as the filter opens it, and what trying it showed.
#pragma once

#include "find_sizes.h"
#include "host/inference/device_choice.h"
#include "host/inference/model.h"
#include "host/tasks/model_probe.h"
#include "request.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace dnn_torch
{

// Where and by what the models of a command run.
struct Place {
    const DnnTorchEngine *engine;
    DeviceChoice device;
    bool on_cpu() const { return device.device == "cpu"; }
};
// Throws Error.
Place find_place(const Request &request);

// Opens the file to look at it, also where it would be refused.  Throws Error.
std::shared_ptr<Model> look_at_model(const Place &place, const Request &request);

// As the filter does with the option `precision`.  Throws Error.
std::shared_ptr<Model> open_model(const Place &place, const Request &request,
                                  const std::string &precision);

struct Trials {
    Channels channels;
    FoundSizes sizes;
    int fed_channels() const { return channels == Channels::luma ? 1 : 3; }
};
// Tries small pictures, and the size of the request before them, for some seconds at
// most; throws Error where none will do.
Trials try_model(const std::shared_ptr<Model> &model, const Request &request);

// What of the request the filter has to be told as well.
std::vector<std::pair<std::string, std::string>> filter_options(const Request &request);

} // namespace dnn_torch
