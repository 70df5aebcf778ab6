// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "failure.h"

#include "engine_kit/text.h"

#include <c10/util/Exception.h>

#include <new>

namespace engine_torch
{
namespace
{

std::string text_of(const std::exception &error)
{
    const auto *of_torch = dynamic_cast<const c10::Error *>(&error);
    return of_torch ? of_torch->what_without_backtrace() : error.what();
}

// Errors of the model in its run may be about its input.
DnnTorchStatus status_of(Phase phase, Fault fault)
{
    if (phase == Phase::loading)
        return DNN_TORCH_BAD_MODEL;
    return fault == Fault::rank       ? DNN_TORCH_WRONG_RANK
           : fault == Fault::channels ? DNN_TORCH_WRONG_CHANNELS
                                      : DNN_TORCH_RUN_FAILED;
}

} // namespace

// The message of OutOfMemoryError need not say that memory ran out.  A traceback shows the model's
// code, which may speak of channels in any case.
Fault fault_of(const std::exception &error)
{
    if (dynamic_cast<const std::bad_alloc *>(&error))
        return Fault::memory;
    const bool is_memory = dynamic_cast<const c10::OutOfMemoryError *>(&error);
    const Fault fault = fault_in(is_memory ? "out of memory: " + text_of(error) : text_of(error));
    const bool is_of_input = fault == Fault::rank || fault == Fault::channels;
    return is_of_input ? fault_in(words_of(error)) : fault;
}

std::string words_of(const std::exception &error)
{
    const std::string words = engine_kit::short_message(without_guesses(text_of(error)));
    return words.empty() ? "no reason given" : words;
}

bool is_out_of_memory(const std::exception &error)
{
    const Fault fault = fault_of(error);
    return fault == Fault::memory || fault == Fault::device_memory;
}

Failure failure_of(Phase phase, const std::exception &error)
{
    const Fault fault = fault_of(error);
    if (fault == Fault::memory || fault == Fault::device_memory)
        return engine_kit::out_of_memory(phase, fault == Fault::device_memory,
                                         asked_for(text_of(error)));
    return {status_of(phase, fault), words_of(error)};
}

} // namespace engine_torch
