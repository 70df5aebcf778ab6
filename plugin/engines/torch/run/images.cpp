// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "images.h"

#include "engines/torch/failure.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/nan_to_num.h>

namespace engine_torch
{
namespace
{

[[noreturn]] void refuse(const char *words)
{
    throw Failure(DNN_TORCH_BAD_INPUT, words);
}

// LibTorch has no unsigned type of 16 bits in all versions.
at::ScalarType type_of(int32_t element)
{
    switch (element) {
    case DNN_TORCH_U8:
        return at::kByte;
    case DNN_TORCH_U16:
        return at::kShort;
    case DNN_TORCH_F32:
        return at::kFloat;
    default:
        refuse("the elements of the input are none that this engine knows");
    }
}

bool steps_by(int32_t extent, int64_t stride, int64_t wanted)
{
    return extent == 1 || stride == wanted;
}

// The strides of a batch without gaps, in elements.
struct Strides {
    int64_t batch, channel, row, column;

    bool fit(const DnnTorchImages &input, int64_t size) const
    {
        return steps_by(input.batch, input.batch_stride, size * batch) &&
               steps_by(input.channels, input.channel_stride, size * channel) &&
               steps_by(input.height, input.row_stride, size * row) &&
               steps_by(input.width, input.column_stride, size * column);
    }
};

// Channels one after the other wherever that fits: where both do, the two
// layouts must not give different results.
Strides strides_of(const DnnTorchImages &input, int64_t size)
{
    const int64_t channels = input.channels, height = input.height, width = input.width;
    const Strides planar = {channels * height * width, height * width, width, 1};
    const Strides interleaved = {channels * height * width, 1, channels * width, channels};
    if (planar.fit(input, size))
        return planar;
    if (interleaved.fit(input, size))
        return interleaved;
    refuse("the input has gaps; this engine takes pictures without any");
}

void check(const DnnTorchImages &input)
{
    if (!input.data)
        refuse("the input has no samples");
    if (input.batch < 1 || input.channels < 1 || input.height < 1 || input.width < 1)
        refuse("the input is empty: all its extents must be at least 1");
    if (input.element != DNN_TORCH_F32 && input.white < 1)
        refuse("the input does not say which code is white");
}

int32_t element_of(const at::Tensor &picture)
{
    switch (picture.scalar_type()) {
    case at::kByte:
        return DNN_TORCH_U8;
    case at::kShort:
        return DNN_TORCH_U16;
    default:
        return DNN_TORCH_F32;
    }
}

} // namespace

at::Tensor tensor_over(const DnnTorchImages &images)
{
    const at::ScalarType type = type_of(images.element);
    check(images);
    const Strides strides = strides_of(images, static_cast<int64_t>(c10::elementSize(type)));
    return at::from_blob(images.data, {images.batch, images.channels, images.height, images.width},
                         {strides.batch, strides.channel, strides.row, strides.column},
                         at::TensorOptions(type));
}

at::Tensor floats_of(const at::Tensor &elements, int32_t white)
{
    if (elements.scalar_type() == at::kFloat)
        return elements;
    if (elements.scalar_type() == at::kByte)
        return elements.to(at::kFloat).div_(white);
    return elements.to(at::kInt).bitwise_and_(0xffff).to(at::kFloat).div_(white);
}

at::Tensor codes_of(const at::Tensor &floats, int32_t element, int32_t white)
{
    const at::Tensor codes =
        at::nan_to_num(floats, 0.0, 1.0, 0.0).mul_(white).round_().clamp_(0, white);
    return element == DNN_TORCH_U8 ? codes.to(at::kByte) : codes.to(at::kInt).to(at::kShort);
}

DnnTorchImages view_of(const at::Tensor &picture)
{
    const auto size = static_cast<int64_t>(picture.element_size());
    DnnTorchImages view = {};
    view.data = picture.data_ptr();
    view.element = element_of(picture);
    view.batch = static_cast<int32_t>(picture.size(0));
    view.channels = static_cast<int32_t>(picture.size(1));
    view.height = static_cast<int32_t>(picture.size(2));
    view.width = static_cast<int32_t>(picture.size(3));
    view.batch_stride = size * picture.stride(0);
    view.channel_stride = size * picture.stride(1);
    view.row_stride = size * picture.stride(2);
    view.column_stride = size * picture.stride(3);
    return view;
}

} // namespace engine_torch
