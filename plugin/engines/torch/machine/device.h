// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The devices that LibTorch runs models on.  All differences between its
// versions and builds are in here; no header of a vendor is needed.
#pragma once

#include "dnn_torch/engine.h"

#include <c10/core/Device.h>
#include <c10/core/StreamGuard.h>
#include <optional>
#include <string>
#include <vector>

namespace engine_torch
{

// The device of the option's text, awake and working.  Throws a Failure that
// says what is in the way.
c10::Device open_device(const std::string &text);

// What list_devices() of the engine's table tells.
std::vector<DnnTorchDevice> known_devices();

// While one lives, the calling thread's work goes to a stream of its owner's, and
// what names no device to that of the stream.  Does nothing on the CPU.
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

// A stream for one session; nothing on the CPU.
std::optional<c10::Stream> make_stream(const c10::Device &device);

// Waits for what the calling thread has given the device to do.
void wait_for(const c10::Device &device);

} // namespace engine_torch
