// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Which sizes a model takes and what it makes of them, found by trying small ones.
#pragma once

#include "host/size.h"

#include <functional>
#include <optional>
#include <string>

namespace dnn_torch
{

// The width or the height of the pictures that a model takes:
// smallest, smallest + step, smallest + 2 * step ...
struct ExtentRule {
    int step; // 0: that one extent alone
    int smallest;
    bool operator==(const ExtentRule &) const = default;
};

// output = input * numerator / denominator + offset
struct ExtentScale {
    int numerator, denominator, offset;
    bool rounded; // where that is no whole number, or the model has a grid of its own
    bool operator==(const ExtentScale &) const = default;
};

struct FoundSizes {
    Size tried, result; // one that the model takes, and what comes out
    bool complete;      // false: time was up, and the rules hold what had been seen by then
    ExtentRule width, height;
    std::optional<ExtentScale> across, down; // nothing where no rule was seen
};

// Returns the size of the result, or nullopt if the model refuses the size.
using TrySize = std::function<std::optional<Size>(Size)>;

// Tries sizes for about `seconds` and begins with `first` if it is given.  Returns
// nullopt if the model refused every size.
std::optional<FoundSizes> find_sizes(const TrySize &try_size, double seconds,
                                     std::optional<Size> first = {});

// The largest size up to `wanted` that the rules allow, or the smallest one.
Size fit_size(const FoundSizes &sizes, Size wanted);

// "any, from 5x5", "multiples of 4, from 8x8", "64x48 only".
std::string sizes_in_words(const FoundSizes &sizes);

// "2", "1/2, rounded", "1, less 4", "always 32x24".
std::string scale_in_words(const FoundSizes &sizes);

} // namespace dnn_torch
