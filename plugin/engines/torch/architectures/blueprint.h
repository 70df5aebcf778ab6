// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// An architecture's description of a network: code, and the weights it uses.  Needs no LibTorch.
#pragma once

#include "engines/torch/checkpoint/weights.h"

#include <string>
#include <utility>
#include <vector>

namespace engine_torch
{

// A tensor that the code uses as self.NAME: one of the checkpoint, or generated numbers.
struct NetTensor {
    std::string attribute;
    std::string weight; // its name in the checkpoint; "" for generated numbers
    std::vector<int64_t> shape;
    std::vector<int64_t> indices; // either these
    std::vector<float> numbers;   // or these
};

struct Blueprint {
    std::string architecture;
    // Parameters read from the weights, in the order of display: {"blocks", "23"}.
    std::vector<std::pair<std::string, std::string>> parameters = {};
    int64_t scale = 1;
    int64_t in_channels = 3, out_channels = 3;
    // Whether each sample of the result only depends on a bounded part of the picture.
    bool is_local = true;
    // The frames whose channels the input has, by their distance from the current one.
    int64_t first_frame = 0, last_frame = 0;
    std::string border = "reflect"; // where there are no such frames: "reflect" or "repeat"
    // Whether windows of a batch are compared, to compute once what several of them have.  Results
    // do not depend on that, although the code branches on samples.
    bool shares_windows = false;
    // Arguments that get what forward() returned for the frame before: {"r1", 2}.
    std::vector<std::pair<std::string, int64_t>> states = {};
    std::string between = ""; // the argument that says where the result is between two frames
    std::string task = "picture", as = ""; // as in a contract
    int64_t minimum = 1;                   // pixels in each direction; smaller pictures are padded
    // Windows and the like begin at multiples of this, so tiles must, too.
    int64_t alignment = 1;
    // TorchScript: the functions of one class, including forward(self, x)
    std::string source = "";
    std::vector<NetTensor> tensors = {};
};

// Returns the known requirements of the network, as the JSON of a contract (docs/contract.md).
std::string contract_of(const Blueprint &network);

} // namespace engine_torch
