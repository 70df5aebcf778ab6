// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The devices that LibTorch runs models on.  All differences between its versions and builds are
// hidden in here.  No vendor's header is needed.
#pragma once

#include "dnn_torch/engine.h"

#include <c10/core/Device.h>
#include <c10/core/StreamGuard.h>
#include <optional>
#include <string>
#include <vector>

namespace engine_torch
{

// Returns the device that the option names, after waking and trying it.  Throws a Failure that says
// why it cannot be used.
c10::Device open_device(const std::string &text);

// Returns what list_devices() of the engine's table reports.
std::vector<DnnTorchDevice> known_devices();

// While an object lives, the calling thread's work goes to the owner's stream, and work that names
// no device goes to that stream's device.  Does nothing on the CPU.
class StreamScope
{
public:
    explicit StreamScope(const std::optional<c10::Stream> &stream)
    {
        if (stream)
            guard_.reset_stream(*stream);
    }

private:
    c10::OptionalStreamGuard guard_;
};

// Returns a stream for one session, or nullopt on the CPU.
std::optional<c10::Stream> make_stream(const c10::Device &device);

// Waits until the device has done what the calling thread gave it.
void wait_for(const c10::Device &device);

} // namespace engine_torch
