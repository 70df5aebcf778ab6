// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Attention within square windows, as the transformers that follow Swin have it.
//
// A picture is B, H, W, C here.  Its windows are B, rows, columns, tokens, C, where a window's
// tokens are its pixels row by row.
#pragma once

#include "net.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace engine_torch
{

// Returns n where n * n is `square`.
std::optional<int64_t> whole_root(int64_t square);

// Returns n where a table has a row for each offset between two pixels of a window of n x n: it has
// (2n - 1) * (2n - 1) rows.  Throws a WeightFault if there is none, or if n is larger than any that
// is published.
int64_t window_of_table(const Weights &weights, const std::string &table);

// Throws a WeightFault if the pairs of a window's pixels would fill the memory.
void expect_few_pairs(int64_t queries, int64_t keys);

// How the keys of a window lie below its queries.
struct Positions {
    int64_t queries = 0; // a side of the window of queries, in pixels
    int64_t keys = 0;    // and of keys
    int64_t step = 1;    // queries in each direction that share a place with a key
};

// Returns the rows of a table for all pairs: queries * queries x keys * keys.
Expression relative_positions(Net &net, const Positions &positions);

// Returns the bias of each head for each pair, from the weight `table` or from any tensor.
Expression position_bias(Net &net, const std::string &table, const Expression &positions);
Expression position_bias_of(Net &net, const Expression &table, const Expression &positions);

// What keeps the parts of a shifted window apart that are no neighbours in the picture.
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
    // Of attention that compares directions alone: the logarithm of each head's factor.
    Expression logit_scale = "";
};

// Finds heads and channels by the table of biases and by the weight "PREFIXproj.weight".  Throws a
// WeightFault if they do not fit together.
Attention read_attention(Net &net, const std::string &prefix, const Expression &positions);

// Writes the attention of queries, keys and values (windows); no projection.
Expression attend(Net &net, const Attention &attention, const Expression &queries,
                  const Expression &keys, const Expression &values);

// A picture shifted to the right and down; what leaves it comes in on the other side.
Expression rolled(Net &net, const Expression &x, int64_t by);

// Picture to windows and back.  Both shift it if there are masks.
Expression to_windows(Net &net, const Expression &x, int64_t window, const ShiftMasks *masks);
Expression from_windows(Net &net, const Expression &x, int64_t window, const ShiftMasks *masks);

// Queries, keys and values of what the layer `name` makes of all three at once.
std::array<Expression, 3> thirds(Net &net, const Expression &x, const std::string &name,
                                 int64_t channels);

// The whole attention of Swin with its projections: "PREFIXqkv" and "PREFIXproj".
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

// B, C, H, W to B, H, W, C and back.
Expression channels_last(Net &net, const Expression &x);
Expression channels_first(Net &net, const Expression &x);

} // namespace engine_torch
