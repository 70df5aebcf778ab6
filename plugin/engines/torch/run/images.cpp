// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "images.h"

#include "engine_kit/sized.h"
#include "engines/torch/failure.h"

#include <algorithm>
#include <array>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/nan_to_num.h>
#include <cmath>
#include <limits>

namespace engine_torch
{
namespace
{

[[noreturn]] void refuse_input(const char *words)
{
    throw Failure(DNN_TORCH_BAD_INPUT, words);
}

constexpr int32_t picture_rank = 4;
// No machine has memory for more.  LibTorch ends the process where a product overflows.
constexpr int64_t most_samples = int64_t{1} << 48;

// Not every version of LibTorch has an unsigned type of 16 bits.
at::ScalarType scalar_type_of(int32_t type)
{
    switch (type) {
    case DNN_TORCH_U8:
        return at::kByte;
    case DNN_TORCH_U16:
        return at::kShort;
    case DNN_TORCH_F32:
        return at::kFloat;
    default:
        refuse_input("the elements of the input are none that this engine knows");
    }
}

using Strides = std::array<int64_t, picture_rank>; // in elements

bool fit(const DnnTorchTensor &input, const Strides &strides, int64_t size)
{
    for (size_t i = 0; i < strides.size(); i++)
        if (input.dims[i] != 1 && input.strides[i] != size * strides[i])
            return false;
    return true;
}

// Takes channels as planes wherever the strides allow it.  If both layouts fit, they must not give
// different results.
Strides strides_of(const DnnTorchTensor &input, const Shape &shape, int64_t size)
{
    const int64_t channels = shape.channels, height = shape.height, width = shape.width;
    const Strides planar = {channels * height * width, height * width, width, 1};
    const Strides interleaved = {channels * height * width, 1, channels * width, channels};
    if (fit(input, planar, size))
        return planar;
    if (fit(input, interleaved, size))
        return interleaved;
    refuse_input("the input has gaps; this engine takes pictures without any");
}

void check(const DnnTorchTensor &input)
{
    if (!input.data)
        refuse_input("the input has no samples");
    if (shape_of(input).is_empty())
        refuse_input("the input is empty: all its extents must be at least 1");
    if (input.type != DNN_TORCH_F32 && input.white < 1)
        refuse_input("the input does not say which code is white");
}

int32_t type_of(const at::Tensor &tensor)
{
    switch (tensor.scalar_type()) {
    case at::kByte:
        return DNN_TORCH_U8;
    case at::kShort:
        return DNN_TORCH_U16;
    case at::kLong:
        return DNN_TORCH_I64;
    default:
        return DNN_TORCH_F32;
    }
}

} // namespace

Shape shape_of(const DnnTorchTensor &pictures)
{
    if (pictures.rank != picture_rank)
        refuse_input("the input is not of rank 4, [batch, channels, height, width]");
    int64_t room = most_samples;
    const auto extent = [&](size_t i) {
        const int64_t given = std::max<int64_t>(pictures.dims[i], 0);
        room /= std::max<int64_t>(given, 1);
        if (given > std::numeric_limits<int32_t>::max() || room == 0)
            refuse_input("the input is too large");
        return static_cast<int32_t>(given);
    };
    // The order of a braced list is the order of the calls.
    Shape shape = {
        .batch = extent(0), .channels = extent(1), .height = extent(2), .width = extent(3)};
    const bool has_range =
        std::isfinite(pictures.low) && std::isfinite(pictures.high) && pictures.low < pictures.high;
    if (has_range) {
        shape.low = pictures.low;
        shape.high = pictures.high;
    }
    return shape;
}

at::Tensor tensor_over(const DnnTorchTensor &pictures)
{
    const at::ScalarType type = scalar_type_of(pictures.type);
    check(pictures);
    const Shape shape = shape_of(pictures);
    const Strides strides =
        strides_of(pictures, shape, static_cast<int64_t>(c10::elementSize(type)));
    return at::from_blob(pictures.data, {shape.batch, shape.channels, shape.height, shape.width},
                         strides, at::TensorOptions(type));
}

at::Tensor numbers_of(const DnnTorchTensor &view)
{
    if (view.type != DNN_TORCH_F32 && view.type != DNN_TORCH_I64)
        refuse_input("an extra input is neither of float32 nor of int64");
    if (!view.data || view.rank < 0 || view.rank > DNN_TORCH_DIMENSIONS)
        refuse_input("an extra input has no numbers, or too many dimensions");
    const at::ScalarType type = view.type == DNN_TORCH_F32 ? at::kFloat : at::kLong;
    int64_t stride = static_cast<int64_t>(c10::elementSize(type)), room = most_samples;
    for (int32_t i = view.rank - 1; i >= 0; i--) {
        const int64_t extent = view.dims[i];
        if (extent < 1 || extent > room)
            refuse_input("an extra input is empty or too large");
        if (extent != 1 && view.strides[i] != stride)
            refuse_input("an extra input has gaps");
        room /= extent;
        stride *= extent;
    }
    return at::from_blob(view.data, {view.dims, static_cast<size_t>(view.rank)},
                         at::TensorOptions(type))
        .clone();
}

at::Tensor floats_of(const at::Tensor &elements, int32_t white)
{
    if (elements.scalar_type() == at::kFloat)
        return elements;
    if (elements.scalar_type() == at::kByte)
        return elements.to(at::kFloat).div_(white);
    return elements.to(at::kInt).bitwise_and_(0xffff).to(at::kFloat).div_(white);
}

at::Tensor integers_of(const at::Tensor &floats, int32_t type, int32_t white)
{
    const at::Tensor integers =
        at::nan_to_num(floats, 0.0, 1.0, 0.0).mul_(white).round_().clamp_(0, white);
    return type == DNN_TORCH_U8 ? integers.to(at::kByte) : integers.to(at::kInt).to(at::kShort);
}

DnnTorchTensor view_of(const at::Tensor &tensor)
{
    const auto size = static_cast<int64_t>(tensor.element_size());
    auto view = engine_kit::sized<DnnTorchTensor>();
    view.data = tensor.data_ptr();
    view.type = type_of(tensor);
    view.rank = static_cast<int32_t>(tensor.dim());
    for (int64_t i = 0; i < tensor.dim(); i++) {
        view.dims[i] = tensor.size(i);
        view.strides[i] = size * tensor.stride(i);
    }
    return view;
}

at::Tensor grey_pictures(const Shape &shape, double white)
{
    return at::full({shape.batch, shape.channels, shape.height, shape.width}, white / 2,
                    at::TensorOptions(at::kFloat));
}

} // namespace engine_torch
