// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// How anything that goes wrong in the engine leaves it: as a status and a line.
#pragma once

#include "dnn_torch/engine.h"

#include <stdexcept>
#include <string>
#include <utility>

namespace engine_torch
{

// A failure that we found ourselves and have words for.
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

// What an entry was doing says what an exception of LibTorch's means.
enum class Phase { loading, running };

// Call it inside a catch block only.  Fills the message, returns the status.
DnnTorchStatus describe_current_exception(Phase phase, DnnTorchMessage &message) noexcept;

// The short message of an exception, for a sentence of ours.
std::string words_of(const std::exception &error);

// Whether memory ran out, which no other way of computing would help.
bool is_out_of_memory(const std::exception &error);

// Runs the body of an entry; nothing thrown gets past it.
template <class Body> int guarded(Phase phase, DnnTorchMessage *message, Body &&body) noexcept
{
    try {
        std::forward<Body>(body)();
        return DNN_TORCH_OK;
    } catch (...) {
        return describe_current_exception(phase, *message);
    }
}

} // namespace engine_torch
