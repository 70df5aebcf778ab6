// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What DAT and RGT share: everything but the attentions of their blocks.  Windows are wide in one
// half of the channels and tall in the other.
#pragma once

#include "attention.h"

#include <functional>
#include <string>

namespace engine_torch::attention
{

// Shared by all blocks of a network.
struct Rectangles {
    Window window;
    Expression masks[2], indices[2], positions[2];
};

// Attention of queries, keys and values (tokens x 3C) in both branches of `prefix`.
Expression rectangle_attention(Net &net, const Expression &qkv, const std::string &prefix,
                               const Rectangles &shared, bool is_shifted);

// Whether DAT and RGT shift the windows of this spatial block: every second one.
bool is_shifted(int64_t group, int64_t block);

// Linear, GELU, one half of the channels gated by the other, Linear.
Expression gated_feed_forward(Net &net, const Expression &tokens, const std::string &prefix);

// Writes block `number` of `group` and returns its tokens.
using WriteBlock = std::function<Expression(const Expression &tokens, const Rectangles &shared,
                                            int64_t group, int64_t number)>;

// Returns the whole network: groups of blocks between convolutions.  Throws a WeightFault if the
// window sizes contradict each other.
Blueprint network_of_rectangles(Net &net, const WriteBlock &write_block);

} // namespace engine_torch::attention
