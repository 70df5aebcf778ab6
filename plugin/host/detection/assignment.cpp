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

// The Hungarian method with prices: each row and column has one, and a pair costs what it is not
// worth.  A pair is free where its cost equals both prices; rows are matched along free pairs, and
// prices change until the next row has a way.  There are no more rows than columns.
class HungarianMethod
{
public:
    explicit HungarianMethod(const Worths &worths)
        : worths_(worths), row_prices_(worths.rows), column_prices_(worths.columns),
          row_of_(worths.columns, nobody)
    {
    }

    std::vector<size_t> columns()
    {
        for (size_t row = 0; row < worths_.rows; row++)
            match(row);
        std::vector<size_t> found(worths_.rows, nobody);
        for (size_t column = 0; column < worths_.columns; column++)
            if (row_of_[column] != nobody && worths_.at(row_of_[column], column) > 0)
                found[row_of_[column]] = column;
        return found;
    }

private:
    double slack(size_t row, size_t column) const
    {
        return -worths_.at(row, column) - row_prices_[row] - column_prices_[column];
    }
    void match(size_t first_row);
    void change_prices(size_t first_row, const std::vector<bool> &reached, double step,
                       std::vector<double> &slacks);

    const Worths &worths_;
    std::vector<double> row_prices_, column_prices_;
    std::vector<size_t> row_of_; // of each column
};

void HungarianMethod::change_prices(size_t first_row, const std::vector<bool> &reached, double step,
                                    std::vector<double> &slacks)
{
    row_prices_[first_row] += step;
    for (size_t column = 0; column < worths_.columns; column++)
        if (reached[column]) {
            row_prices_[row_of_[column]] += step;
            column_prices_[column] -= step;
        } else {
            slacks[column] -= step;
        }
}

void HungarianMethod::match(size_t first_row)
{
    std::vector<double> slacks(worths_.columns, std::numeric_limits<double>::infinity());
    std::vector<size_t> before(worths_.columns, nobody); // the column from which it was reached
    std::vector<bool> reached(worths_.columns);
    size_t row = first_row, from = nobody;
    for (;;) {
        size_t nearest = nobody;
        for (size_t column = 0; column < worths_.columns; column++) {
            if (reached[column])
                continue;
            if (slack(row, column) < slacks[column]) {
                slacks[column] = slack(row, column);
                before[column] = from;
            }
            if (nearest == nobody || slacks[column] < slacks[nearest])
                nearest = column;
        }
        change_prices(first_row, reached, slacks[nearest], slacks);
        reached[nearest] = true;
        from = nearest;
        if (row_of_[nearest] == nobody)
            break;
        row = row_of_[nearest];
    }
    for (; before[from] != nobody; from = before[from])
        row_of_[from] = row_of_[before[from]];
    row_of_[from] = first_row;
}

Worths turned(const Worths &worths)
{
    Worths other = {.rows = worths.columns,
                    .columns = worths.rows,
                    .values = std::vector<double>(worths.values.size())};
    for (size_t row = 0; row < worths.rows; row++)
        for (size_t column = 0; column < worths.columns; column++)
            other.values[column * other.columns + row] = worths.at(row, column);
    return other;
}

} // namespace

std::vector<size_t> assign_best(const Worths &worths)
{
    if (worths.rows <= worths.columns)
        return HungarianMethod(worths).columns();
    const Worths other = turned(worths);
    const std::vector<size_t> rows = HungarianMethod(other).columns();
    std::vector<size_t> found(worths.rows, nobody);
    for (size_t column = 0; column < rows.size(); column++)
        if (rows[column] != nobody)
            found[rows[column]] = column;
    return found;
}

std::vector<size_t> assign_greedily(std::vector<Pair> pairs, size_t rows, size_t columns)
{
    std::sort(pairs.begin(), pairs.end(), [](const Pair &one, const Pair &other) {
        return std::tuple(-one.worth, one.row, one.column) <
               std::tuple(-other.worth, other.row, other.column);
    });
    std::vector<size_t> found(rows, nobody);
    std::vector<bool> taken(columns);
    for (const Pair &pair : pairs)
        if (found[pair.row] == nobody && !taken[pair.column]) {
            found[pair.row] = pair.column;
            taken[pair.column] = true;
        }
    return found;
}

} // namespace dnn_torch
