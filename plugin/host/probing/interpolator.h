// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Opens a model that makes a frame between two others, and finds out how it takes them: as two
// arguments or as one, with the time between them as a plane or as a number, or without it.
#pragma once

#include "model_contract.h"

#include <string>

namespace dnn_torch
{

// Follows the contract, if it says which frames the model gets.  Otherwise tries the ways that fit
// the model's arguments.  Throws Error.
ModelWithContract open_interpolator(const ContractOptions &given, const std::string &contract_path,
                                    const ModelOptions &options, const OpenFile &open);

// Whether the model makes frames at any time between the two; otherwise in the middle alone.
bool takes_time(const Contract &contract);

} // namespace dnn_torch
