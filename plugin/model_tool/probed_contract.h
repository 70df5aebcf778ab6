// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A model's contract, with what trying the model showed.
#pragma once

#include "base/json.h"
#include "host/model/contract.h"
#include "subject.h"

#include <string>
#include <vector>

namespace dnn_torch
{

// The file beside the model, or "" if what is written now becomes that file.
std::string contract_file(const Request &request);

// Reads the contract of the model and of the file beside it.  Throws Error.
Contract known_contract(const Model &model, const Request &request);

// Adds what nobody has said before.  Throws Error if the model does not keep to the contract.
void add_trials(const Trials &trials, Contract &contract);

// Adds what the model is for, if nobody has said it before.
void add_task(const std::string &task, Contract &contract);

// "architecture": who says the field.
std::string origin_of(const std::string &field, const Contract &contract);

// "scale 4 (architecture)": each field that is known.
std::vector<std::string> fields_in_words(const Contract &contract);

// {"scale": {"value": 4, "origin": "architecture"}, "input": {...}, "output": {...}}.
json::Value with_origins(const Contract &contract);

// The text of a contract's file.  What is of the output as of the input is left out.
std::string file_of(const Contract &contract);

} // namespace dnn_torch
