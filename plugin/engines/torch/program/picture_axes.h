// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Which dimensions of a tensor in a graph are width and height of a picture.
#pragma once

#include "picture_layout.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace engine_torch
{

// Unknown until a tensor is met, and again if it is met with different axes.
class PictureAxes
{
public:
    PictureAxes() = default;
    explicit PictureAxes(Layout layout);
    static PictureAxes unknown();

    bool is_met() const { return is_met_; }
    bool is_known() const { return is_met_ && is_clear_; }
    // Whether the dimension, which may be negative, is width or height.  True if there is no such
    // dimension.  Call it only if the axes are known.
    bool is_spatial(int64_t dimension) const;
    bool any_of_last(size_t count) const;
    // Returns 0 for the first spatial dimension, 1 for the second one, and nullopt for the others.
    std::optional<size_t> spatial_place(int64_t dimension) const;

    // Merges the axes found on another path.  Returns whether this changed anything.
    bool join(const PictureAxes &other);

    PictureAxes permuted(const std::vector<int64_t> &order) const;
    PictureAxes transposed(int64_t one, int64_t other) const;
    PictureAxes reversed() const;
    PictureAxes with(int64_t dimension) const; // inserts a dimension that is not spatial
    PictureAxes without(const std::vector<int64_t> &dimensions) const;
    // Width and height may share a dimension afterwards.
    PictureAxes flattened(int64_t first, int64_t last) const;

    bool operator==(const PictureAxes &) const = default;

private:
    std::optional<size_t> index_of(int64_t dimension) const;

    bool is_met_ = false, is_clear_ = false;
    std::vector<char> axes_; // 1: width or height; empty unless known
};

} // namespace engine_torch
