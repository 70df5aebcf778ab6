// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A network as an architecture describes it: code, and which weights it uses.  Needs no LibTorch.
#pragma once

#include "engines/torch/checkpoint/weights.h"

#include <string>
#include <utility>
#include <vector>

namespace engine_torch
{

// A tensor that the code uses as self.NAME: one of the checkpoint's, or numbers of our own.
struct NetTensor {
    std::string attribute;
    std::string weight; // its name in the checkpoint, or "" for numbers of our own
    std::vector<int64_t> shape;
    std::vector<int64_t> indices; // either these
    std::vector<float> numbers;   // or these
};

struct Blueprint {
    std::string architecture;
    // What was read off the weights, in the order in which it is shown: {"blocks", "23"}.
    std::vector<std::pair<std::string, std::string>> parameters;
    int64_t scale = 1;
    int64_t in_channels = 3, out_channels = 3;
    // Whether a sample of the result depends on a bounded part of the picture alone.
    bool is_local = true;
    // Windows and the like begin at multiples of it: so must a tile.
    int64_t alignment = 1;
    std::string source; // TorchScript: the functions of one class, forward(self, x) among them
    std::vector<NetTensor> tensors;
};

// What the network is known to want, as the JSON of a contract (docs/contract.md).
std::string contract_of(const Blueprint &network);

} // namespace engine_torch
