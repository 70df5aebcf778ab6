// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The fields of a contract, by their names: "input.range", "output.order", "scale".
//
// Each field is one entry of a table in contract_fields.cpp.
#pragma once

#include "contract.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace dnn_torch
{

// Returns the option's value: "gray".
const char *name_of(As as);

// Returns all fields, in the order in which they are shown.
const std::vector<std::string> &names_of_fields();
bool is_field(const std::string &name);

// Set a field from an option's value: "bgr", "-1..1", "0.485|0.456|0.406"; or from a JSON value:
// "bgr", [-1, 1], [0.485, 0.456, 0.406].  Throw Error that names the field.
void set_field_from_text(const std::string &name, const std::string &text,
                         const std::string &origin, Contract &contract);
void set_field_from_json(const std::string &name, const nlohmann::ordered_json &value,
                         const std::string &origin, Contract &contract);

// Copies the output's unset fields from the input.  Origins stay as they are.
void complete_output(Contract &contract);

// Return a field's value: "-1..1", "bgr"; or as JSON.  "" and null if it is not known.
std::string field_in_words(const std::string &name, const Contract &contract);
nlohmann::ordered_json field_as_json(const std::string &name, const Contract &contract);

} // namespace dnn_torch
