// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What a model gets beside the frame, by the names of its inputs: numbers, planes of one number, or
// further pictures.
#pragma once

#include "host/frames/picture_numbers.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace dnn_torch
{

struct Contract;
struct PictureInput;

// Takes the option `inputs`: "noise=0.1|sigma=25|mask"; a name without a value is a picture.
// Throws Error.
void apply_inputs_option(const std::string &text, Contract &contract);

// Takes the object of a file's field `inputs`.  Throws Error.
void apply_inputs(const nlohmann::ordered_json &inputs, const std::string &origin,
                  Contract &contract);

// Returns what a file's field `inputs` would have; null if the model gets nothing beside frames.
nlohmann::ordered_json inputs_as_json(const Contract &contract);

// "noise=0.1|sigma=25|mask=picture=1", as engines take it.  The channels of all pictures must be
// known.
std::string inputs_as_text(const Contract &contract);

// "picture of 1 channel".
std::string picture_in_words(const PictureInput &picture);

// What the picture's numbers are to the model, beside a frame with those numbers.  Mean and std of
// R, G and B say nothing of one channel.
PictureNumbers numbers_of(const PictureInput &picture, const PictureNumbers &frame);

// How many channels the pictures have together.
int extra_channels(const Contract &contract);

} // namespace dnn_torch
