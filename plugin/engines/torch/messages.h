// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What only the messages of LibTorch, or of a model, tell.  They are searched here and nowhere
// else. Needs no LibTorch.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace engine_torch
{

enum class Fault {
    other,
    memory,        // the processor's memory ran out
    device_memory, // a GPU's memory ran out
    rank,          // the model takes tensors of 5 dimensions
    channels,      // the model takes another number of channels
    newer_file,    // a newer PyTorch saved the file
    no_operator    // the file names an operator that this LibTorch does not have
};

// TorchScript's interpreter turns every exception into a std::runtime_error, so only the text can
// tell.
Fault fault_in(std::string_view text);

// Whether a convolution read an input of that shape and takes other channels.
bool refuses_channels_of(std::string_view text, const std::array<int64_t, 4> &shape);

// Returns " (the model asked for 1.5 GiB at once)", or "" if the text names no size.
std::string asked_for(std::string_view text);

// Returns the text, or another for one that only describes how LibTorch is built.
std::string without_guesses(const std::string &text);

} // namespace engine_torch
