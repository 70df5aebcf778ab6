// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A model's contract, completed by trying the model.
#pragma once

#include "host/model/contract.h"
#include "subject.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace dnn_torch
{

// Returns the contract's file next to the model, or "" if standard output is that file.
std::string contract_file(const Request &request);

// Reads the contract of the model and of the file next to it.  Throws Error.
Contract known_contract(const Model &model, const Request &request);

// Adds the fields that are not known yet.  Throws Error if the model contradicts the contract.
void add_trials(const Trials &trials, Contract &contract);

// Adds the model's task, if it is not known yet.
void add_task(const std::string &task, Contract &contract);

// Returns where the field's value comes from: "architecture".
std::string origin_of(const std::string &field, const Contract &contract);

// Returns "scale 4 (architecture)" for each known field.
std::vector<std::string> fields_in_words(const Contract &contract);

// Returns {"scale": {"value": 4, "origin": "architecture"}, "input": {...}, "output": {...}}.
nlohmann::ordered_json with_origins(const Contract &contract);

// Returns the text of a contract's file.  Leaves out fields of the output that equal the input's.
std::string file_of(const Contract &contract);

} // namespace dnn_torch
