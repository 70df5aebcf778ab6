// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "assignment.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace dnn_torch
{
namespace
{

// The Hungarian method with prices: each row and column has one, and a pair costs its negative
// weight.  A pair is free if its cost equals the sum of both prices.  Rows are matched along free
// pairs, and prices change until the next row has an augmenting path.  There are no more rows than
// columns.
class HungarianMethod
{
public:
    explicit HungarianMethod(const PairWeights &weights)
        : weights_(weights), row_prices_(weights.rows), column_prices_(weights.columns),
          row_of_(weights.columns, unassigned)
    {
    }

    std::vector<size_t> columns()
    {
        for (size_t row = 0; row < weights_.rows; row++)
            match(row);
        std::vector<size_t> found(weights_.rows, unassigned);
        for (size_t column = 0; column < weights_.columns; column++)
            if (row_of_[column] != unassigned && weights_.at(row_of_[column], column) > 0)
                found[row_of_[column]] = column;
        return found;
    }

private:
    double slack(size_t row, size_t column) const
    {
        return -weights_.at(row, column) - row_prices_[row] - column_prices_[column];
    }
    void match(size_t first_row);
    void change_prices(size_t first_row, const std::vector<bool> &reached, double step,
                       std::vector<double> &slacks);

    const PairWeights &weights_;
    std::vector<double> row_prices_, column_prices_;
    std::vector<size_t> row_of_; // of each column
};

void HungarianMethod::change_prices(size_t first_row, const std::vector<bool> &reached, double step,
                                    std::vector<double> &slacks)
{
    row_prices_[first_row] += step;
    for (size_t column = 0; column < weights_.columns; column++)
        if (reached[column]) {
            row_prices_[row_of_[column]] += step;
            column_prices_[column] -= step;
        } else {
            slacks[column] -= step;
        }
}

void HungarianMethod::match(size_t first_row)
{
    std::vector<double> slacks(weights_.columns, std::numeric_limits<double>::infinity());
    // The column from which each was reached.
    std::vector<size_t> before(weights_.columns, unassigned);
    std::vector<bool> reached(weights_.columns);
    size_t row = first_row, from = unassigned;
    for (;;) {
        size_t nearest = unassigned;
        for (size_t column = 0; column < weights_.columns; column++) {
            if (reached[column])
                continue;
            if (slack(row, column) < slacks[column]) {
                slacks[column] = slack(row, column);
                before[column] = from;
            }
            if (nearest == unassigned || slacks[column] < slacks[nearest])
                nearest = column;
        }
        change_prices(first_row, reached, slacks[nearest], slacks);
        reached[nearest] = true;
        from = nearest;
        if (row_of_[nearest] == unassigned)
            break;
        row = row_of_[nearest];
    }
    for (; before[from] != unassigned; from = before[from])
        row_of_[from] = row_of_[before[from]];
    row_of_[from] = first_row;
}

PairWeights transposed(const PairWeights &weights)
{
    PairWeights other = {.rows = weights.columns,
                         .columns = weights.rows,
                         .values = std::vector<double>(weights.values.size())};
    for (size_t row = 0; row < weights.rows; row++)
        for (size_t column = 0; column < weights.columns; column++)
            other.values[column * other.columns + row] = weights.at(row, column);
    return other;
}

} // namespace

std::vector<size_t> assign_best(const PairWeights &weights)
{
    if (weights.rows <= weights.columns)
        return HungarianMethod(weights).columns();
    const PairWeights other = transposed(weights);
    const std::vector<size_t> rows = HungarianMethod(other).columns();
    std::vector<size_t> found(weights.rows, unassigned);
    for (size_t column = 0; column < rows.size(); column++)
        if (rows[column] != unassigned)
            found[rows[column]] = column;
    return found;
}

std::vector<size_t> assign_greedily(std::vector<Pair> pairs, size_t rows, size_t columns)
{
    std::sort(pairs.begin(), pairs.end(), [](const Pair &one, const Pair &other) {
        return std::tuple(-one.weight, one.row, one.column) <
               std::tuple(-other.weight, other.row, other.column);
    });
    std::vector<size_t> found(rows, unassigned);
    std::vector<bool> taken(columns);
    for (const Pair &pair : pairs)
        if (found[pair.row] == unassigned && !taken[pair.column]) {
            found[pair.row] = pair.column;
            taken[pair.column] = true;
        }
    return found;
}

} // namespace dnn_torch
