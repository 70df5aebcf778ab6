// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The contract: what a model's tensors mean.  docs/contract.md has the schema.
//
// Each field comes from the first of these that says it: the filter's options, a JSON file beside
// the model (net.pt.json for net.pt), what is usual.  Any thread.
#pragma once

#include "host/frames/picture_numbers.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace dnn_torch
{

struct Contract {
    PictureNumbers input, output;
    // Where each field comes from, by its name: "input.range" is from "net.pt.json".  What is
    // not there is as usual.
    std::map<std::string, std::string> origins = {};
};

// The options that say something of the contract, as the user wrote them; "" is not given.
struct ContractOptions {
    std::string range, order, mean, std;

    bool operator==(const ContractOptions &) const = default;
};

// Throws Error that names the option or the field, and the file if it is there but makes no sense.
Contract read_contract(const ContractOptions &options, const std::string &model_path);

// Where the contract of a model lies, and what is in such a file; nullopt if there is none.  The
// second throws Error if it cannot be read.
std::string contract_path(const std::string &model_path);
std::optional<std::string> contract_text(const std::string &path);

// "input.range 0..255 (option), ...": the fields that are not as usual; or "".
std::string contract_in_words(const Contract &contract);

// The parts of read_contract().

// Sets what the text of a JSON file says.  `origin` is the file's name.
void apply_json(std::string_view text, const std::string &origin, Contract &contract);
void apply_options(const ContractOptions &options, Contract &contract);

} // namespace dnn_torch
