// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tensor_view.h"

#include "base/compose.h"
#include "base/terminal.h"
#include "host/error.h"

#include <algorithm>
#include <cmath>

namespace dnn_torch
{
namespace
{

std::string_view name_of(const DnnTorchTensor &tensor)
{
    return {tensor.name, strnlen(tensor.name, sizeof tensor.name)};
}

std::string shape_text(const DnnTorchTensor &tensor)
{
    std::string extents;
    for (int axis = 0; axis < std::clamp(tensor.rank, 0, DNN_TORCH_DIMENSIONS); axis++)
        add_to_list(extents, std::to_string(tensor.dims[axis]), ",");
    const std::string name = printable(name_of(tensor));
    return concat(name, name.empty() ? "[" : " [", extents, "]");
}

// Checks the values of one picture.
bool has_too_many_values(const DnnTorchTensor &tensor, int picture_axis)
{
    int64_t values = 1;
    for (int axis = 0; axis < tensor.rank; axis++)
        if (axis != picture_axis &&
            __builtin_mul_overflow(values, std::max<int64_t>(tensor.dims[axis], 0), &values))
            return true;
    return values > most_values;
}

// `left` is how many more values are looked at.
bool has_no_number_from(const DnnTorchTensor &tensor, int axis, const char *data, int64_t &left)
{
    if (axis == tensor.rank) {
        float value = 0;
        std::memcpy(&value, data, sizeof value);
        left--;
        return !std::isfinite(value);
    }
    bool any = false;
    for (int64_t i = 0; i < tensor.dims[axis] && left >= 0 && !any; i++)
        any = has_no_number_from(tensor, axis + 1, data + i * tensor.strides[axis], left);
    return any;
}

} // namespace

bool has_no_number(std::span<const DnnTorchTensor> tensors)
{
    return std::any_of(tensors.begin(), tensors.end(), [](const DnnTorchTensor &tensor) {
        if (tensor.type != DNN_TORCH_F32 || !tensor.data)
            return false;
        int64_t left = most_values;
        return has_no_number_from(tensor, 0, static_cast<const char *>(tensor.data), left) ||
               left < 0;
    });
}

bool has_shape(const DnnTorchTensor &tensor, std::initializer_list<int64_t> extents)
{
    if (tensor.rank != static_cast<int>(extents.size()) || tensor.rank > DNN_TORCH_DIMENSIONS)
        return false;
    return std::equal(
        extents.begin(), extents.end(), tensor.dims,
        [](int64_t wanted, int64_t extent) { return wanted == any_extent || wanted == extent; });
}

bool is_named(const DnnTorchTensor &tensor, std::string_view last_part)
{
    const std::string_view name = name_of(tensor);
    return name.substr(name.rfind('.') + 1) == last_part; // npos + 1 is 0
}

std::string_view name_before_last(const DnnTorchTensor &tensor)
{
    const std::string_view name = name_of(tensor);
    const size_t point = name.rfind('.');
    return point == std::string_view::npos ? std::string_view() : name.substr(0, point);
}

std::string shapes_text(std::span<const DnnTorchTensor> tensors)
{
    constexpr size_t most = 8;
    std::string list;
    for (const DnnTorchTensor &tensor : tensors.first(std::min(most, tensors.size())))
        add_to_list(list, shape_text(tensor));
    if (tensors.size() > most)
        list += concat(" and ", tensors.size() - most, " more");
    return list.empty() ? "no tensors" : list;
}

Rows rows_of(const DnnTorchTensor &tensor, int index, const RowAxes &axes)
{
    const int64_t pictures = axes.picture < 0 ? 1 : tensor.dims[axes.picture];
    if (index < 0 || index >= pictures)
        throw Error(AVERROR(EINVAL),
                    concat("the model returns detections of ", counted(pictures, "picture"),
                           ", and picture ", index + 1, " is missing; use batch_size=1"));
    if (tensor.type != DNN_TORCH_F32 && tensor.type != DNN_TORCH_I64)
        throw Error(AVERROR(EINVAL), "a detector's tensors hold floats or 64-bit integers");
    if (has_too_many_values(tensor, axes.picture))
        throw Error(AVERROR(EINVAL),
                    concat("the model returned more values for a picture than are read (",
                           most_values, "): ", shape_text(tensor)));
    Rows rows = {.data = static_cast<const char *>(tensor.data),
                 .count = tensor.dims[axes.rows],
                 .width = axes.values < 0 ? 1 : tensor.dims[axes.values],
                 .row_step = tensor.strides[axes.rows],
                 .value_step = axes.values < 0 ? 0 : tensor.strides[axes.values],
                 .whole_numbers = tensor.type == DNN_TORCH_I64};
    for (int axis = 0; axis < tensor.rank; axis++)
        if (tensor.dims[axis] <= 0)
            rows.count = 0; // there is nothing to read
    if (!rows.data)
        rows.count = 0;
    else if (axes.picture >= 0)
        rows.data += index * tensor.strides[axes.picture];
    return rows;
}

void refuse_tensors(const char *decoder, std::span<const DnnTorchTensor> tensors)
{
    throw Error(AVERROR(EINVAL), concat("decoder=", decoder, " does not take the model's tensors: ",
                                        shapes_text(tensors)));
}

} // namespace dnn_torch
