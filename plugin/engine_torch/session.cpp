// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "session.h"

#include "failure.h"
#include "output.h"
#include "run_scope.h"

#include <ATen/ATen.h>

namespace
{

using engine_torch::Failure;

constexpr std::int64_t sample_size = sizeof(float);

[[noreturn]] void refuse(const char *words)
{
    throw Failure(DNN_TORCH_BAD_INPUT, words);
}

bool steps_by(std::int32_t extent, std::int64_t stride, std::int64_t wanted)
{
    return extent == 1 || stride == wanted;
}

void check_input(const DnnTorchImages &input)
{
    if (!input.data)
        refuse("the input has no samples");
    if (input.element != DNN_TORCH_F32)
        refuse("the input is not of float32, which this engine takes alone");
    if (input.batch < 1 || input.channels < 1 || input.height < 1 || input.width < 1)
        refuse("the input is empty: all its extents must be at least 1");
    const std::int64_t row = sample_size * input.width;
    const std::int64_t channel = row * input.height;
    if (!steps_by(input.width, input.column_stride, sample_size) ||
        !steps_by(input.height, input.row_stride, row) ||
        !steps_by(input.channels, input.channel_stride, channel) ||
        !steps_by(input.batch, input.batch_stride, channel * input.channels))
        refuse("the input has gaps; this engine takes contiguous pictures alone");
}

at::Tensor tensor_over(const DnnTorchImages &input)
{
    return at::from_blob(input.data, {input.batch, input.channels, input.height, input.width},
                         at::TensorOptions(at::kFloat));
}

// A model that returns its input returns memory of the caller's.
at::Tensor kept(const at::Tensor &picture, const at::Tensor &images)
{
    return picture.is_alias_of(images) ? picture.clone() : picture;
}

DnnTorchImages view_of(const at::Tensor &picture)
{
    DnnTorchImages view = {};
    view.data = picture.data_ptr();
    view.element = DNN_TORCH_F32;
    view.batch = static_cast<std::int32_t>(picture.size(0));
    view.channels = static_cast<std::int32_t>(picture.size(1));
    view.height = static_cast<std::int32_t>(picture.size(2));
    view.width = static_cast<std::int32_t>(picture.size(3));
    view.batch_stride = sample_size * picture.stride(0);
    view.channel_stride = sample_size * picture.stride(1);
    view.row_stride = sample_size * picture.stride(2);
    view.column_stride = sample_size * picture.stride(3);
    return view;
}

} // namespace

void DnnTorchSession::check_stopped() const
{
    if (stopped_)
        throw Failure(DNN_TORCH_STOPPED, "the run was stopped");
}

DnnTorchImages DnnTorchSession::run(const DnnTorchImages &input)
{
    check_stopped();
    check_input(input);
    // Given back first, so that the model can use the same memory again.
    output_ = at::Tensor();
    engine_torch::use_threads(model_.threads());
    const at::Tensor images = tensor_over(input);
    output_ =
        kept(engine_torch::picture_of(model_.forward(images), model_.output_name(), input.batch),
             images);
    check_stopped();
    return view_of(output_);
}
