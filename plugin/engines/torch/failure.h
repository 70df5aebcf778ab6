// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// How LibTorch's exceptions leave the engine.
#pragma once

#include "engine_kit/failure.h"
#include "messages.h"

namespace engine_torch
{

using engine_kit::Failure;
using engine_kit::Phase;

Fault fault_of(const std::exception &error);

// Returns the short message of an exception, to be put into a sentence of ours.
std::string words_of(const std::exception &error);

// Whether memory ran out.  No other way of computing would help then.
bool is_out_of_memory(const std::exception &error);

Failure failure_of(Phase phase, const std::exception &error);

// Runs the body of an entry point.  No exception leaves it.
template <class Body> int guarded(Phase phase, DnnTorchMessage *message, Body &&body) noexcept
{
    return engine_kit::guarded(phase, failure_of, message, std::forward<Body>(body));
}

} // namespace engine_torch
