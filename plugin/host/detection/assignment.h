// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The assignment problem: matches rows to columns.  Thread-safe.
#pragma once

#include <cstddef>
#include <vector>

namespace dnn_torch
{

// The weight of each pair of a row and a column: above 0, or 0 if they must not be matched.
struct PairWeights {
    size_t rows = 0, columns = 0;
    std::vector<double> values = {}; // row by row

    double at(size_t row, size_t column) const { return values[row * columns + column]; }
};

constexpr size_t unassigned = static_cast<size_t>(-1);

// Returns the column of each row, or `unassigned`.  No column is used twice, and the sum of the
// weights is the highest possible.  Takes cubic time.
std::vector<size_t> assign_best(const PairWeights &weights);

// A pair that may be matched.
struct Pair {
    size_t row = 0, column = 0;
    double weight = 0;
};

// The same in less time, but without the highest sum: takes the pair of the highest weight first,
// and equal ones in the order of rows and columns.
std::vector<size_t> assign_greedily(std::vector<Pair> pairs, size_t rows, size_t columns);

} // namespace dnn_torch
