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

// All fields, in the order in which they are shown.
// As the option has it: "gray".
const char *name_of(As as);

const std::vector<std::string> &names_of_fields();
bool is_field(const std::string &name);

// Take the value as an option has it: "bgr", "-1..1", "0.485|0.456|0.406"; or as a JSON file has
// it: "bgr", [-1, 1], [0.485, 0.456, 0.406].  Throw Error that names the field.
void set_field_from_text(const std::string &name, const std::string &text,
                         const std::string &origin, Contract &contract);
void set_field_from_json(const std::string &name, const nlohmann::ordered_json &value,
                         const std::string &origin, Contract &contract);

// What nobody says of the output is as it is of the input.  Origins stay as they are.
void complete_output(Contract &contract);

// What a field says: "-1..1", "bgr"; or as JSON.  "" and null if it is not known.
std::string field_in_words(const std::string &name, const Contract &contract);
nlohmann::ordered_json field_as_json(const std::string &name, const Contract &contract);

} // namespace dnn_torch
