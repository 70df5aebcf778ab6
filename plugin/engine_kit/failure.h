// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// How anything that goes wrong in an engine leaves it: as a status and a line.
#pragma once

#include "dnn_torch/engine.h"

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace engine_kit
{

// A failure that the engine found itself and has words for.
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

// What an entry was doing says what a library's exception means.
enum class Phase { loading, running };

// The words of the exception that is being handled, if its type is one of the library's own.
// It is called inside a catch block.
using LibraryWords = std::optional<std::string> (*)();

// Call it inside a catch block only.  Fills the message, returns the status.
// `words` is null for an engine whose library throws std::exception alone.
DnnTorchStatus describe_current_exception(Phase phase, LibraryWords words,
                                          DnnTorchMessage &message) noexcept;

// Runs the body of an entry; nothing thrown gets past it.
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
