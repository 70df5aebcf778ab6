// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Parts of networks that attend within windows: DAT, RGT, OmniSR, ATD.
//
// "Tokens" are N,H,W,C; "a picture" is N,C,H,W.  A function here writes lines into the network and
// returns the name of the result.  The longer parts are functions of TorchScript, which are
// compiled once and called by all blocks.
#pragma once

#include "net.h"

#include <string>

namespace engine_torch::attention
{

struct Window {
    int64_t height = 0, width = 0;

    int64_t size() const { return height * width; }
    Window turned() const { return {.height = width, .width = height}; }
};

Expression to_tokens(Net &net, const Expression &picture);
Expression to_picture(Net &net, const Expression &tokens);

// Throws a WeightFault unless `heads` divide `channels`.
void expect_heads(const Net &net, int64_t channels, int64_t heads);

// For each pair of a window's positions the row of a table of relative positions, as one dimension.
// `window` must be bounded by the size of some weight.
Expression relative_indices(Net &net, const Window &window);
// The rows' bias as heads x size x size, from a table of rows x heads.
Expression position_bias(Net &net, const Expression &table, const Expression &indices,
                         const Window &window);

// What keeps a shifted window from attending to the picture's other end: one matrix for each
// window, for tokens whose size is a multiple of the window.  The shift is half a window.
Expression shift_mask(Net &net, const Expression &tokens, const Window &window);
constexpr const char *no_mask = "None";

// ---- windows that lie in one half of the channels and stand in the other (DAT, RGT)

// The window of the first half: `prefix` has the branches "attns.0." and "attns.1.".  Throws a
// WeightFault if the tables of positions contradict each other.
Window window_of(const Net &net, const std::string &prefix);

// What all blocks of a network share.
struct Rectangles {
    Window window;
    Expression masks[2], indices[2], positions[2];
};
// `tokens` has the size of all tokens that the blocks work on.
Rectangles rectangles(Net &net, const Expression &tokens, const Window &window);

// Attention of queries, keys and values (tokens x 3C) in both branches of `prefix`.
Expression rectangle_attention(Net &net, const Expression &qkv, const std::string &prefix,
                               const Rectangles &shared, bool is_shifted);

// The rule by which DAT and RGT shift the windows of every second spatial block.
bool is_shifted(int64_t group, int64_t block);

// Linear, GELU, one half of the channels gated by the other, Linear.
Expression gated_feed_forward(Net &net, const Expression &tokens, const std::string &prefix);

// ---- attention between channels (DAT, OmniSR)

// Makes self.channel_attention(q, k, v, temperature) known to the network's code.
void use_channel_attention(Net &net);
// Of queries, keys and values with the channels in the last dimension but one.
Expression channel_attention(Net &net, const Expression &query, const Expression &key,
                             const Expression &value, const std::string &temperature);

} // namespace engine_torch::attention
