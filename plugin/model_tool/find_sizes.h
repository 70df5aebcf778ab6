// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds out which sizes a model takes and the sizes of its results, by trying small ones.
#pragma once

#include "host/size.h"

#include <functional>
#include <optional>
#include <string>

namespace dnn_torch
{

// A rule for the width or the height of the pictures that a model takes: smallest, smallest + step,
// smallest + 2 * step ...
struct ExtentRule {
    int step; // 0: `smallest` is the only extent
    int smallest;
    bool operator==(const ExtentRule &) const = default;
};

// output = input * numerator / denominator + offset
struct ExtentScale {
    int numerator, denominator, offset;
    bool rounded; // the result is rounded to an integer, or to the model's own grid
    bool operator==(const ExtentScale &) const = default;
};

struct FoundSizes {
    Size tried, result; // a size that the model takes, and the size of its result
    bool complete;      // false: time ran out, and the rules cover only what was tried
    ExtentRule width, height;
    std::optional<ExtentScale> across, down; // nullopt if no rule was found
};

// Returns the size of the result, or nullopt if the model refuses the size.
using TrySize = std::function<std::optional<Size>(Size)>;

// Tries sizes for about `seconds`, beginning with `first` if it is given.  Returns nullopt if the
// model refused every size.
std::optional<FoundSizes> find_sizes(const TrySize &try_size, double seconds,
                                     std::optional<Size> first = {});

// Returns the largest size up to `most` that the rules allow, or the smallest one.
Size fit_size(const FoundSizes &sizes, Size most);

// Returns a text such as "any, from 5x5", "multiples of 4, from 8x8" or "64x48 only".
std::string sizes_in_words(const FoundSizes &sizes);

// Returns a text such as "2", "1/2, rounded", "1, less 4" or "always 32x24".
std::string scale_in_words(const FoundSizes &sizes);

} // namespace dnn_torch
