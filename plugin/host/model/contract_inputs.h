// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Extra inputs of a model, by name: numbers, planes of one number, or pictures.
#pragma once

#include "host/frames/images.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace dnn_torch
{

struct Contract;
struct NumberInput;
struct PictureInput;

// Takes the option `inputs`: "noise=0.1|sigma=25|mask"; a name without a value is a picture.
// Throws Error.
void apply_inputs_option(const std::string &text, Contract &contract);

// Takes the object of a file's field `inputs`.  Throws Error.
void apply_inputs(const nlohmann::ordered_json &inputs, const std::string &origin,
                  Contract &contract);

// Returns the value for a file's field `inputs`; null if there are no extra inputs.
nlohmann::ordered_json inputs_as_json(const Contract &contract);

// Returns "noise=0.1|sigma=25|mask=picture=1", as engines take it.  The channels of all pictures
// must be known.
std::string inputs_as_text(const Contract &contract);

// The value of an input that gets where the result lies between two frames.
constexpr const char *between_value = "between";

// Returns "picture of 1 channel".
std::string picture_in_words(const PictureInput &picture);

// Returns the picture's numbers, which default to the frame's.  The frame's mean and std do not
// apply to a picture of one channel.
PictureNumbers numbers_of(const PictureInput &picture, const PictureNumbers &frame);

// Returns the inputs with the value "number" or "time", which may be a "plane=time".
std::vector<NumberInput> numbers_in(const Contract &contract);

// Returns how many channels the pictures have together.
int extra_channels(const Contract &contract);

// Returns how many channels the input has, with all frames and pictures.
int input_channels(const Contract &contract, int frame_channels);

// How many frames before and after the current one the model gets, at most.
struct Neighbours {
    int before = 0, after = 0;
};
Neighbours neighbours_in(const Contract &contract);

} // namespace dnn_torch
