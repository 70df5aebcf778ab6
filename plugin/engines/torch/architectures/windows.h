// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Attention within square windows, as in the transformers based on Swin.
//
// Pictures are B, H, W, C here.  Windows are B, rows, columns, tokens, C; a window's tokens are its
// pixels row by row.
#pragma once

#include "net.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace engine_torch
{

// Returns n with n * n = `square`.
std::optional<int64_t> whole_root(int64_t square);

// Returns the n of windows of n x n, from the (2n - 1) * (2n - 1) rows of a table that has one for
// each offset between two pixels.  Throws a WeightFault if there is none, or if n is larger than
// any published one.
int64_t window_of_table(const Weights &weights, const std::string &table);

// Throws a WeightFault if all pairs of a window's pixels would exhaust memory.
void expect_few_pairs(int64_t queries, int64_t keys);

// The positions of a window's keys relative to its queries.
struct Positions {
    int64_t queries = 0; // side of the window of queries, in pixels
    int64_t keys = 0;    // side of the window of keys
    int64_t step = 1;    // queries per key in each direction
};

// Returns the table rows of all pairs: queries * queries x keys * keys.
Expression relative_positions(Net &net, const Positions &positions);

// Returns each head's bias for each pair, from the weight `table` or from any tensor.
Expression position_bias(Net &net, const std::string &table, const Expression &positions);
Expression position_bias_of(Net &net, const Expression &table, const Expression &positions);

// Separates the parts of a shifted window that are not adjacent in the picture.
struct ShiftMasks {
    int64_t shift = 0;
    Expression down, right; // for the last row and the last column of windows
};

// Writes the masks for pictures of the size of `x` (B, H, W, C).
ShiftMasks shift_masks(Net &net, const Expression &x, int64_t window, int64_t shift);

// One attention over windows.
struct Attention {
    int64_t heads = 0;
    int64_t channels = 0; // of the queries
    Expression bias;
    const ShiftMasks *masks = nullptr; // null: not shifted
    // For attention that only compares directions: the logarithm of each head's factor.
    Expression logit_scale = "";
};

// Gets heads and channels from the bias table and the weight "PREFIXproj.weight".  Throws a
// WeightFault if they do not fit together.
Attention read_attention(Net &net, const std::string &prefix, const Expression &positions);

// Writes the attention of queries, keys and values (windows), without projection.
Expression attend(Net &net, const Attention &attention, const Expression &queries,
                  const Expression &keys, const Expression &values);

// Shifts a picture to the right and down; pixels that leave it enter on the opposite side.
Expression rolled(Net &net, const Expression &x, int64_t by);

// From a picture to windows and back.  Both shift if there are masks.
Expression to_windows(Net &net, const Expression &x, int64_t window, const ShiftMasks *masks);
Expression from_windows(Net &net, const Expression &x, int64_t window, const ShiftMasks *masks);

// Splits the output of the layer `name` into queries, keys and values.
std::array<Expression, 3> thirds(Net &net, const Expression &x, const std::string &name,
                                 int64_t channels);

// Swin's whole attention including projections: "PREFIXqkv" and "PREFIXproj".
Expression window_attention(Net &net, const Expression &x, const std::string &prefix,
                            const Attention &attention, int64_t window);

// The windows of all blocks of a network.
struct Windows {
    int64_t window = 0;
    Expression positions; // relative_positions() of the window
};

// Swin's transformer block: "PREFIXnorm1", "PREFIXattn.", "PREFIXnorm2", "PREFIXmlp.".  Throws a
// WeightFault if its windows have another size.
Expression swin_block(Net &net, const Expression &x, const std::string &prefix,
                      const Windows &windows, const ShiftMasks *masks);

// "PREFIXfc1", GELU, "PREFIXfc2".
Expression perceptron(Net &net, const Expression &x, const std::string &prefix);

// From B, C, H, W to B, H, W, C and back.
Expression channels_last(Net &net, const Expression &x);
Expression channels_first(Net &net, const Expression &x);

} // namespace engine_torch
