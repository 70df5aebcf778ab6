// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The contract of a model that is open, and whether the model keeps to it.
#pragma once

#include "host/model/contract.h"
#include "host/model/model.h"
#include "host/size.h"
#include "model_probe.h"

#include <functional>
#include <memory>
#include <string>

namespace dnn_torch
{

// Reads the contract: from the options, the file beside the model, and what the engine tells.
// Throws Error.
Contract contract_of(const Model &model, const ContractOptions &options,
                     const std::string &contract_path);

struct ModelWithContract {
    std::shared_ptr<Model> model;
    Contract contract;
};

// Opens a model with what its contract says of tensors.  If the model's own file says more than
// the options and the file beside it, it is opened once more.  Throws Error.
ModelWithContract
open_with_contract(const ContractOptions &given, const std::string &contract_path,
                   ModelOptions options,
                   const std::function<std::shared_ptr<Model>(const ModelOptions &)> &open);

// Codes of 8 bits go up to 255, and what is true is 1, where nobody says otherwise.  Takes the
// types as engines name them; "" is not known.
void follow_types(const std::string &input_type, const std::string &output_type,
                  Contract &contract);

// For a model that makes a and b of Lab of so many channels: L of one channel goes from 0 to 100,
// and a and b from -128 to 128, where nobody says otherwise.
void settle_lab_numbers(int channels, Contract &contract);

// Returns a field's value with its origin: "input.channels 3 (net.pt.json)".
std::string field_with_origin(const std::string &name, const Contract &contract);

// "the contract says task classify (net.pt.json), but ", in front of what is true.
std::string contradicting(const std::string &name, const Contract &contract);
// "" if nobody says what the model is for.
std::string contradicting_task(const Contract &contract);

// The channels that both the model and the contract take.  Throws Error if there are none, and if
// the contract is one of another task than pictures.
Channels agreed_channels(const Contract &contract, Channels found);

// Throws Error if the model makes other channels than the contract says.  0 is not known.
void expect_made(const Contract &contract, int made);

// Throws Error if the model makes another size than the contract says.
void expect_scale(const Contract &contract, Size in, Size out);

} // namespace dnn_torch
