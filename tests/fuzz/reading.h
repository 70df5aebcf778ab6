// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What comes of reading a model's file.
#pragma once

#include "dnn_torch/engine.h"
#include "engines/torch/failure.h"
#include "fuzz.h"

#include <exception>
#include <new>
#include <string>
#include <string_view>

namespace fuzz
{

// Calls `read`, which gets the input as the engine gets a file of that name.
template <class Read>
Outcome outcome_of_reading(std::string_view input, const char *name, Read &&read)
{
    const DnnTorchSource source = {.size = sizeof source,
                                   .name = name,
                                   .fd = -1,
                                   .data = input.data(),
                                   .data_size = input.size()};
    try {
        return read(source);
    } catch (const engine_torch::Failure &failure) {
        return {Ending::refused, 0, failure.what()};
    } catch (const std::bad_alloc &) {
        return {Ending::out_of_memory, 0, ""};
    } catch (const std::exception &error) {
        return {Ending::fault, 0, std::string("not in our words: ") + error.what()};
    }
}

} // namespace fuzz
