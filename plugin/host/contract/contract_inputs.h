// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What a model gets beside pictures: numbers, or planes of one number, by the names of its inputs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace dnn_torch
{

struct Contract;

// Takes the option `inputs`: "noise=0.1|sigma=25".  Throws Error.
void apply_inputs_option(const std::string &text, Contract &contract);

// Takes the object of a file's field `inputs`.  Throws Error.
void apply_inputs(const nlohmann::ordered_json &inputs, const std::string &origin,
                  Contract &contract);

// "noise=0.1|sigma=25", as engines take it.
std::string inputs_as_text(const Contract &contract);

} // namespace dnn_torch
