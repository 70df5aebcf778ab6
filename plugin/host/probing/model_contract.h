// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The contract of an open model, and whether the model meets it.
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

// Reads the contract from the options, the file next to the model, and the engine.  Throws Error.
Contract contract_of(const Model &model, const ContractOptions &options,
                     const std::string &contract_path);

struct ModelWithContract {
    std::shared_ptr<Model> model;
    Contract contract;
};

// Opens the file with such options.
using OpenFile = std::function<std::shared_ptr<Model>(const ModelOptions &)>;

// Opens a model with its contract's fields about tensors.  If the model's own file sets more of
// them than the options and the file next to it, opens it again.  `complete`, if given, completes
// each contract that is read.  Throws Error.
ModelWithContract open_with_contract(const ContractOptions &given, const std::string &contract_path,
                                     ModelOptions options, const OpenFile &open,
                                     const std::function<void(Contract &)> &complete = nullptr);

// Sets the ranges of types if nothing else does: uint8 samples go up to 255, and true is 1.  Takes
// the types as engines name them; "" is not known.
void set_ranges_of_types(const std::string &input_type, const std::string &output_type,
                         Contract &contract);

// Sets the ranges of a model that returns a and b of Lab, if nothing else does: the input of one
// channel is L, from 0 to 100, and a and b go from -128 to 128.
void set_ranges_of_lab(int channels, Contract &contract);

// Returns a field's value with its origin: "input.channels 3 (net.pt.json)".
std::string field_with_origin(const std::string &name, const Contract &contract);

// Returns the start of an error: "the contract says task classify (net.pt.json), but ".
std::string contradicting(const std::string &name, const Contract &contract);
// Returns the same for the task; "" if the contract has none.
std::string contradicting_task(const Contract &contract);

// Returns the channels that both the model and the contract take.  Throws Error if there are none,
// or if the contract's task is not about pictures.
Channels agreed_channels(const Contract &contract, Channels found);

// Throws Error if the number of output channels is not the contract's.  0 is not known.
void expect_made(const Contract &contract, int made);

// Throws Error if the scale from `in` to `out` is not the contract's.
void expect_scale(const Contract &contract, Size in, Size out);

} // namespace dnn_torch
