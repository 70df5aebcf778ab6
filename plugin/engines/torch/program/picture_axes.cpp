// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "picture_axes.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace engine_torch
{

PictureAxes::PictureAxes(Layout layout) : is_met_(true), is_clear_(true)
{
    for (const char dimension : std::string_view(name_of(layout)))
        axes_.push_back(dimension == 'h' || dimension == 'w');
}

PictureAxes PictureAxes::unknown()
{
    PictureAxes axes;
    axes.is_met_ = true;
    return axes;
}

std::optional<size_t> PictureAxes::index_of(int64_t dimension) const
{
    const auto rank = static_cast<int64_t>(axes_.size());
    const int64_t index = dimension < 0 ? dimension + rank : dimension;
    return index >= 0 && index < rank ? std::optional(static_cast<size_t>(index)) : std::nullopt;
}

bool PictureAxes::is_spatial(int64_t dimension) const
{
    const auto index = index_of(dimension);
    return !index || axes_[*index] != 0;
}

std::optional<size_t> PictureAxes::spatial_place(int64_t dimension) const
{
    const auto index = index_of(dimension);
    if (!index || !axes_[*index])
        return std::nullopt;
    return static_cast<size_t>(
        std::count(axes_.begin(), axes_.begin() + static_cast<int64_t>(*index), char{1}));
}

bool PictureAxes::any_of_last(size_t count) const
{
    for (size_t i = 1; i <= count; i++)
        if (is_spatial(-static_cast<int64_t>(i)))
            return true;
    return false;
}

bool PictureAxes::join(const PictureAxes &other)
{
    if (!other.is_met_ || other == *this)
        return false;
    const PictureAxes joined = is_met_ ? unknown() : other;
    const bool changed = !(joined == *this);
    *this = joined;
    return changed;
}

PictureAxes PictureAxes::permuted(const std::vector<int64_t> &order) const
{
    PictureAxes result = unknown();
    if (!is_known() || order.size() != axes_.size())
        return is_met_ ? result : PictureAxes();
    result.is_clear_ = true;
    for (const int64_t dimension : order) {
        const auto index = index_of(dimension);
        if (!index)
            return unknown();
        result.axes_.push_back(axes_[*index]);
    }
    return result;
}

PictureAxes PictureAxes::transposed(int64_t one, int64_t other) const
{
    std::vector<int64_t> order;
    for (size_t i = 0; i < axes_.size(); i++)
        order.push_back(static_cast<int64_t>(i));
    const auto first = index_of(one), second = index_of(other);
    if (first && second)
        std::swap(order[*first], order[*second]);
    else
        order.clear();
    return permuted(order);
}

PictureAxes PictureAxes::reversed() const
{
    PictureAxes result = *this;
    std::reverse(result.axes_.begin(), result.axes_.end());
    return result;
}

PictureAxes PictureAxes::with(int64_t dimension) const
{
    if (!is_known())
        return *this;
    PictureAxes result = *this;
    const auto rank = static_cast<int64_t>(axes_.size());
    const int64_t index = dimension < 0 ? dimension + rank + 1 : dimension;
    if (index < 0 || index > rank)
        return unknown();
    result.axes_.insert(result.axes_.begin() + index, char{0});
    return result;
}

PictureAxes PictureAxes::without(const std::vector<int64_t> &dimensions) const
{
    if (!is_known())
        return *this;
    std::vector<size_t> gone;
    for (const int64_t dimension : dimensions) {
        const auto index = index_of(dimension);
        if (!index)
            return unknown();
        gone.push_back(*index);
    }
    PictureAxes result = *this;
    result.axes_.clear();
    for (size_t i = 0; i < axes_.size(); i++)
        if (std::find(gone.begin(), gone.end(), i) == gone.end())
            result.axes_.push_back(axes_[i]);
    return result;
}

PictureAxes PictureAxes::flattened(int64_t first, int64_t last) const
{
    const auto begin = index_of(first), end = index_of(last);
    if (!is_known() || !begin || !end || *end < *begin)
        return unknown();
    PictureAxes result = *this;
    const auto from = result.axes_.begin() + static_cast<int64_t>(*begin),
               to = result.axes_.begin() + static_cast<int64_t>(*end) + 1;
    *from = *std::max_element(from, to);
    result.axes_.erase(from + 1, to);
    return result;
}

} // namespace engine_torch
