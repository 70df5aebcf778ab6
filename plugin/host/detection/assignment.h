// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Who belongs to whom.  Any thread.
#pragma once

#include <cstddef>
#include <vector>

namespace dnn_torch
{

// What it is worth that a row gets a column: above 0, or 0 if it may not.
struct Worths {
    size_t rows = 0, columns = 0;
    std::vector<double> values = {}; // row by row

    double at(size_t row, size_t column) const { return values[row * columns + column]; }
};

constexpr size_t nobody = static_cast<size_t>(-1);

// Returns the column of each row, or `nobody`.  No column is given twice, and the sum of the worths
// is the highest that there is.  Takes time with the cube of the extents.
std::vector<size_t> assign_best(const Worths &worths);

// One pair that may be.
struct Pair {
    size_t row = 0, column = 0;
    double worth = 0;
};

// The same in less time, and not the highest sum: the worthiest pair first, equal ones in their
// order of rows and columns.
std::vector<size_t> assign_greedily(std::vector<Pair> pairs, size_t rows, size_t columns);

} // namespace dnn_torch
