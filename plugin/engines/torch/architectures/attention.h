// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Parts of networks with attention within windows: DAT, RGT, OmniSR, ATD.
//
// "Tokens" are N,H,W,C; "a picture" is N,C,H,W.  A function here adds lines to the network's code
// and returns the name of the result.  Longer parts are TorchScript functions, which are compiled
// once and called by all blocks.
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

// Returns, for each pair of positions in a window, the row in the table of relative positions, as
// one dimension.  The size of some weight must bound `window`.
Expression relative_indices(Net &net, const Window &window);
// Returns the bias as heads x size x size, from a table of rows x heads.
Expression position_bias(Net &net, const Expression &table, const Expression &indices,
                         const Window &window);

// Returns a mask that keeps a shifted window from attending to the picture's opposite side: one
// matrix per window, for tokens in a multiple of the window's size.  The shift is half a window.
Expression shift_mask(Net &net, const Expression &tokens, const Window &window);
constexpr const char *no_mask = "None";

// Adds self.window_attention(qkv, bias, mask or None, height, width) to the network's code: qkv is
// 3,N,H,W,C, the bias is that of position_bias(), and windows are shifted if there is a mask.
void use_window_attention(Net &net);

// ---- attention between channels (DAT, OmniSR)

// Adds self.channel_attention(q, k, v, temperature) to the network's code.
void use_channel_attention(Net &net);
// Takes queries, keys and values with the channels in the second last dimension.
Expression channel_attention(Net &net, const Expression &query, const Expression &key,
                             const Expression &value, const std::string &temperature);

} // namespace engine_torch::attention
