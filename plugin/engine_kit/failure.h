// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Turns everything that goes wrong in an engine into a status and one line.
#pragma once

#include "dnn_torch/engine.h"

#include <optional>
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

// Returns the words of the exception that is being handled if its type is the library's own, or
// nullopt.  It is called inside a catch block.
using LibraryWords = std::optional<std::string> (*)();

// Fills the message and returns the status.  Call it inside a catch block only.  `words` is null
// for an engine whose library only throws std::exception.
DnnTorchStatus describe_current_exception(Phase phase, LibraryWords words,
                                          DnnTorchMessage &message) noexcept;

// Runs the body of an entry point.  No exception leaves it.
template <class Body>
int guarded(Phase phase, LibraryWords words, DnnTorchMessage *message, Body &&body) noexcept
{
    try {
        std::forward<Body>(body)();
        return DNN_TORCH_OK;
    } catch (...) {
        return describe_current_exception(phase, words, *message);
    }
}

} // namespace engine_kit
