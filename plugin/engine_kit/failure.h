// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Turns everything that goes wrong in an engine into a status and one line.
#pragma once

#include "dnn_torch/engine.h"

#include <stdexcept>
#include <string>
#include <utility>

namespace engine_kit
{

// A failure that the engine found itself and describes in its own words.
class Failure : public std::runtime_error
{
public:
    Failure(DnnTorchStatus status, const std::string &text)
        : std::runtime_error(text), status_(status)
    {
    }
    DnnTorchStatus status() const noexcept { return status_; }

private:
    DnnTorchStatus status_;
};

// What an entry point was doing.  The meaning of a library's exception depends on it.
enum class Phase { loading, running };

// Returns the failure that an exception of the library means.  It gets neither a Failure nor a
// std::bad_alloc.
using Translate = Failure (*)(Phase, const std::exception &);

// The translation of a library whose messages are only for people.
Failure failure_in_words(Phase phase, const std::exception &error);

// `of_device`: the device's memory did not suffice.  `asked_for` is put after "the model ran".
Failure out_of_memory(Phase phase, bool of_device = false, const std::string &asked_for = "");

// Fills the message and returns the status.  Call it inside a catch block only.
DnnTorchStatus describe_current_exception(Phase phase, Translate translate,
                                          DnnTorchMessage &message) noexcept;

// Runs the body of an entry point.  No exception leaves it.
template <class Body>
int guarded(Phase phase, Translate translate, DnnTorchMessage *message, Body &&body) noexcept
{
    try {
        std::forward<Body>(body)();
        return DNN_TORCH_OK;
    } catch (...) {
        return describe_current_exception(phase, translate, *message);
    }
}

} // namespace engine_kit
