// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The contract of a model that is open, and whether the model keeps to it.
#pragma once

#include "host/contract/contract.h"
#include "host/inference/model.h"
#include "host/size.h"
#include "model_probe.h"

#include <string>

namespace dnn_torch
{

// Reads the contract: from the options, the file beside the model, and what the engine tells.
// Throws Error.
Contract contract_of(const Model &model, const ContractOptions &options,
                     const std::string &file_beside);

// Return a field's value with its origin: "input.channels 3 (net.pt.json)".
std::string field_with_origin(const std::string &name, const Contract &contract);

// The channels that both the model and the contract take.  Throws Error if there are none, and if
// the contract is one of another task than pictures.
Channels agreed_channels(const Contract &contract, Channels found);

// Throws Error if the model makes another size than the contract says.
void expect_scale(const Contract &contract, Size in, Size out);

} // namespace dnn_torch
