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

// The strides of a batch without gaps, in samples.
struct Strides {
    std::int64_t batch, channel, row, column;

    bool fit(const DnnTorchImages &input) const
    {
        return steps_by(input.batch, input.batch_stride, sample_size * batch) &&
               steps_by(input.channels, input.channel_stride, sample_size * channel) &&
               steps_by(input.height, input.row_stride, sample_size * row) &&
               steps_by(input.width, input.column_stride, sample_size * column);
    }
};

// Channels one after the other wherever that fits: where both do, the two
// layouts must not give different results.
Strides strides_of(const DnnTorchImages &input)
{
    const std::int64_t channels = input.channels, height = input.height, width = input.width;
    const Strides planar = {channels * height * width, height * width, width, 1};
    const Strides interleaved = {channels * height * width, 1, channels * width, channels};
    if (planar.fit(input))
        return planar;
    if (interleaved.fit(input))
        return interleaved;
    refuse("the input has gaps; this engine takes pictures without any");
}

void check_input(const DnnTorchImages &input)
{
    if (!input.data)
        refuse("the input has no samples");
    if (input.element != DNN_TORCH_F32)
        refuse("the input is not of float32, which this engine takes alone");
    if (input.batch < 1 || input.channels < 1 || input.height < 1 || input.width < 1)
        refuse("the input is empty: all its extents must be at least 1");
}

at::Tensor tensor_over(const DnnTorchImages &input)
{
    const Strides strides = strides_of(input);
    return at::from_blob(input.data, {input.batch, input.channels, input.height, input.width},
                         {strides.batch, strides.channel, strides.row, strides.column},
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

DnnTorchSession::DnnTorchSession(DnnTorchModel &model, std::int32_t threads)
    : model_(model), threads_(threads)
{
    if (threads < 1)
        throw Failure(DNN_TORCH_BAD_OPTION, "threads is below 1");
}

void DnnTorchSession::warm(const DnnTorchShape &shape) noexcept
{
    if (stopped_ || model_.keeps_state())
        return;
    try {
        engine_torch::use_threads(threads_);
        model_.forward(at::full({shape.batch, shape.channels, shape.height, shape.width}, 0.5,
                                at::TensorOptions(at::kFloat)));
    } catch (...) {
        // The next run will tell.
    }
}

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
    engine_torch::use_threads(threads_);
    const at::Tensor images = tensor_over(input);
    output_ =
        kept(engine_torch::picture_of(model_.forward(images), model_.output_name(), input.batch),
             images);
    check_stopped();
    return view_of(output_);
}
