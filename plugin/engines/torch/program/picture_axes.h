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

// Nothing is known of a tensor before it was met, and no longer once it was met in two ways.
class PictureAxes
{
public:
    PictureAxes() = default;
    explicit PictureAxes(Layout layout);
    static PictureAxes unknown();

    bool is_met() const { return is_met_; }
    bool is_known() const { return is_met_ && is_clear_; }
    // Only if they are known: whether the dimension, which may be negative, is width or height.
    // True if there is no such dimension.
    bool is_spatial(int64_t dimension) const;
    bool any_of_last(size_t count) const;
    // 0 for the dimension that is the first of width and height, 1 for the other one, nullopt for
    // those that are neither.
    std::optional<size_t> spatial_place(int64_t dimension) const;

    // Takes what another way leads to.  Returns whether that has changed anything.
    bool join(const PictureAxes &other);

    PictureAxes permuted(const std::vector<int64_t> &order) const;
    PictureAxes transposed(int64_t one, int64_t other) const;
    PictureAxes with(int64_t dimension) const; // a further one, of no picture
    PictureAxes without(const std::vector<int64_t> &dimensions) const;

    bool operator==(const PictureAxes &) const = default;

private:
    std::optional<size_t> index_of(int64_t dimension) const;

    bool is_met_ = false, is_clear_ = false;
    std::vector<char> axes_; // 1: width or height; empty unless they are known
};

} // namespace engine_torch
