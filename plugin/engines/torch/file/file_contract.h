// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What a TorchScript file says about itself in addition to the model (_extra_files of
// torch.jit.save).  Needs no LibTorch.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace engine_torch
{

// The records that are read, after "extra/": our own, and Ultralytics'.
constexpr std::string_view own_contract_record = "dnn_torch.json";
constexpr std::string_view ultralytics_record = "config.txt";

using Facts = std::map<std::string, std::string, std::less<>>;

// Adds the record's JSON to the facts of model_metadata(), as one line of ASCII in pieces: KEY,
// KEY:1, ...  An invalid record is replaced by a JSON string, which the host refuses.
void add_contract(std::string_view key, std::string_view record, Facts &facts);

} // namespace engine_torch
