// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "session.h"

#include "base/compose.h"
#include "binding_choice.h"
#include "engines/torch/failure.h"
#include "engines/torch/machine/allocator.h"
#include "engines/torch/machine/device.h"
#include "engines/torch/machine/run_scope.h"
#include "engines/torch/program/states.h"
#include "images.h"
#include "output.h"

#include <algorithm>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty_strided.h>
#include <string>
#include <vector>

namespace
{

using engine_torch::Failure;
using engine_torch::Turn;

// A model's preparations are a small part of a longer run, and a frame that waits for the session
// would wait for two runs.
constexpr double longest_warming = 0.1;

// Returns memory for transfers, or ordinary memory if LibTorch has no other for the device.
at::Tensor transfer_memory(at::IntArrayRef sizes, at::IntArrayRef strides, at::ScalarType type)
{
    const at::TensorOptions options(type);
    try {
        return at::empty_strided(sizes, strides, options.pinned_memory(true));
    } catch (const std::exception &) {
        return at::empty_strided(sizes, strides, options);
    }
}

Turn turn_of(const DnnTorchRun &run)
{
    Turn turn = {.number = run.number, .predecessor = std::nullopt, .has_more = run.more != 0};
    if (run.predecessor_distance > 0)
        turn.predecessor = run.number - run.predecessor_distance;
    return turn;
}

bool wants_integers(const DnnTorchTensor &request)
{
    return (request.type == DNN_TORCH_U8 || request.type == DNN_TORCH_U16) && request.white > 0;
}

} // namespace

DnnTorchSession::DnnTorchSession(const DnnTorchPlan &plan, int32_t threads)
    : plan_(plan), membership_(plan.first_frames()), model_(plan.model()), threads_(threads),
      stream_(engine_torch::make_stream(model_.device())), state_(model_.new_state()),
      most_at_once_(plan.runs_one_by_one() ? 1 : 0)
{
    if (threads < 1)
        throw Failure(DNN_TORCH_BAD_OPTION, "threads is below 1");
}

// Deletes the old state first, because its values of tensors in the code go with it.
void DnnTorchSession::reset()
{
    output_ = at::Tensor();
    tensors_.clear();
    states_.clear();
    state_.reset();
    state_ = model_.new_state();
}

void DnnTorchSession::warm() noexcept
{
    if (stopped_ || model_.keeps_state() || plan_.facts().run_seconds > longest_warming)
        return;
    try {
        const engine_torch::StreamScope own_stream(stream_);
        engine_torch::use_threads(threads_);
        const engine_torch::Shape &shape = plan_.shape();
        const int32_t batch = plan_.runs_one_by_one() ? 1 : shape.batch;
        plan_.rehearse(engine_torch::grey_pictures(
            {batch, shape.channels, shape.height, shape.width}, plan_.source().binding.white()));
        engine_torch::wait_for(model_.device());
    } catch (...) {
        // The next run reports it.
    }
}

void *DnnTorchSession::memory(size_t bytes)
{
    if (model_.device().is_cpu() || bytes == 0)
        return nullptr;
    const engine_torch::StreamScope own_device(stream_);
    memory_ = transfer_memory({static_cast<int64_t>(bytes)}, {1}, at::kByte);
    return memory_.data_ptr();
}

void DnnTorchSession::check_stopped() const
{
    if (stopped_)
        throw Failure(DNN_TORCH_STOPPED, "the run was stopped");
}

// A device's memory is small: a batch that does not fit at once may fit in parts.  A size that did
// not fit once is not tried again, because each failure empties the device's caches.
at::Tensor DnnTorchSession::run_in_parts(const at::Tensor &images, int64_t number, const Turn &turn)
{
    const int64_t count = images.size(0);
    if (plan_.source().takes_segments())
        return run_segment(images, number, turn);
    if (most_at_once_ == 0 || count <= most_at_once_)
        return run_or_halve(images, number, turn);
    std::vector<at::Tensor> pictures;
    for (int64_t first = 0, size; first < count; first += size) {
        size = std::min(most_at_once_, count - first);
        Turn part = turn;
        part.has_more = turn.has_more || first + size < count;
        pictures.push_back(run_or_halve(images.narrow(0, first, size), number + first, part));
    }
    return at::cat(pictures);
}

at::Tensor DnnTorchSession::run_or_halve(const at::Tensor &images, int64_t number, const Turn &turn)
{
    try {
        return run_once(images, number, turn);
    } catch (const std::exception &error) {
        if (images.size(0) < 2 || plan_.facts().in_order || !engine_torch::is_out_of_memory(error))
            throw;
    }
    most_at_once_ = (images.size(0) + 1) / 2;
    model_.note("a batch of " + std::to_string(images.size(0)) +
                " does not fit into memory and runs in parts; a lower batch_size would do");
    return run_in_parts(images, number, turn);
}

// A model that took the lengths of the trials may refuse this one.
at::Tensor DnnTorchSession::run_segment(const at::Tensor &images, int64_t number, const Turn &turn)
{
    const engine_torch::Segment &segment = plan_.source().binding.segment;
    const int64_t count = images.size(0);
    const bool is_whole = count >= segment.length;
    try {
        if (is_whole || !segment.is_filled)
            return run_once(images, number, turn);
    } catch (const std::exception &error) {
        if (is_whole || stopped_ || engine_torch::is_out_of_memory(error))
            throw;
        model_.note("the model does not take segments of " + dnn_torch::counted(count, "frame") +
                    "; they are filled up");
    }
    const at::Tensor filled = engine_torch::filled_up(images, segment);
    return run_once(filled, number, turn).narrow(0, 0, count);
}

at::Tensor DnnTorchSession::run_once(const at::Tensor &images, int64_t number, const Turn &turn)
{
    const c10::IValue returned = forward(images, number, turn);
    const engine_torch::Source &source = plan_.source();
    if (source.output)
        return engine_torch::picture_of(returned, *source.output, images.size(0), model_.device());
    const engine_torch::OutputChoice choice = engine_torch::choose_output(
        returned, engine_torch::output_request(model_, source, images.sizes()));
    return engine_torch::picture_of(returned, choice, images.size(0), model_.device());
}

// Those of a part of the batch.
engine_torch::NamedTensors DnnTorchSession::values_of(int64_t number, int64_t count) const
{
    engine_torch::NamedTensors values = values_;
    for (const engine_torch::Constant &constant : plan_.source().binding.constants) {
        const auto found = values.find(constant.name);
        if (found != values.end() && constant.changes && count < batch_ &&
            found->second.numel() == batch_)
            found->second = found->second.narrow(0, number - first_number_, count);
    }
    return values;
}

c10::IValue DnnTorchSession::forward(const at::Tensor &images, int64_t number, const Turn &turn)
{
    const engine_torch::Source &source = plan_.source();
    const c10::IValue returned = forward_with(
        images, {.number = number, .states = states_, .values = values_of(number, images.size(0))},
        turn);
    states_ = engine_torch::next_states(returned, source, states_, images);
    return returned;
}

c10::IValue DnnTorchSession::forward_with(const at::Tensor &images,
                                          const engine_torch::RunArguments &given, const Turn &turn)
{
    return state_ ? model_.run_with(plan_.source(), *state_, images, given)
                  : plan_.forward(images, given, turn, stopped_);
}

// The result has the channel layout of the input.
at::Tensor DnnTorchSession::to_caller(const at::Tensor &picture, const at::Tensor &elements,
                                      const DnnTorchTensor &request)
{
    had_nan_ = false;
    // Maps hold plain numbers, to which `white` does not apply.
    if (!wants_integers(request) || plan_.source().asked.results == engine_torch::Results::maps)
        return brought_back(picture);
    const bool interleaved = elements.size(1) > 1 && elements.stride(1) == 1;
    const at::Tensor nan = picture.isnan().any();
    at::Tensor result = brought_back(engine_torch::integers_of(picture, request.type, request.white)
                                         .contiguous(interleaved ? at::MemoryFormat::ChannelsLast
                                                                 : at::MemoryFormat::Contiguous));
    had_nan_ = nan.item<bool>();
    return result;
}

// The device has done all its work when this returns.
at::Tensor DnnTorchSession::brought_back(const at::Tensor &picture)
{
    if (picture.device().is_cpu())
        return picture;
    const at::Tensor dense =
        picture.is_non_overlapping_and_dense() ? picture : picture.contiguous();
    if (!staging_.defined() || staging_.sizes() != dense.sizes() ||
        staging_.strides() != dense.strides() || staging_.scalar_type() != dense.scalar_type())
        staging_ = transfer_memory(dense.sizes(), dense.strides(), dense.scalar_type());
    staging_.copy_(dense, true);
    engine_torch::wait_for(model_.device());
    return staging_;
}

std::vector<DnnTorchTensor> DnnTorchSession::run(const DnnTorchTensor &input,
                                                 const engine_torch::NamedTensors &values,
                                                 const DnnTorchTensor &request, DnnTorchRun &run)
{
    check_stopped();
    values_ = values;
    first_number_ = run.number;
    batch_ = input.dims[0];
    // Freed first, so that the model can use the same memory again.
    output_ = at::Tensor();
    tensors_.clear();
    const engine_torch::StreamScope own_stream(stream_);
    const engine_torch::MemoryScope own_memory;
    engine_torch::use_threads(threads_);
    try {
        return run_on_stream(input, request, run);
    } catch (...) {
        wait_after_failure();
        let_others_begin(run);
        throw;
    }
}

// A failed run may have left work on the device that reads the caller's memory.
void DnnTorchSession::wait_after_failure() const noexcept
{
    try {
        engine_torch::wait_for(model_.device());
    } catch (...) {
        // The device is lost, and the work with it.
    }
}

// A failed run has no further tiles.
void DnnTorchSession::let_others_begin(const DnnTorchRun &run) const
{
    Turn turn = turn_of(run);
    turn.has_more = false;
    plan_.first_frames().begin(turn);
}

std::vector<DnnTorchTensor> DnnTorchSession::run_on_stream(const DnnTorchTensor &input,
                                                           const DnnTorchTensor &request,
                                                           DnnTorchRun &run)
{
    const at::Tensor elements = engine_torch::tensor_over(input);
    const at::Tensor images = engine_torch::floats_of(
        elements.to(model_.device(), elements.scalar_type(), true), input.white);
    if (plan_.source().returns_all())
        return run_for_all(images, elements, run);
    return {run_for_picture(images, elements, request, run)};
}

DnnTorchTensor DnnTorchSession::run_for_picture(const at::Tensor &images,
                                                const at::Tensor &elements,
                                                const DnnTorchTensor &request, DnnTorchRun &run)
{
    const at::Tensor picture = run_in_parts(images, run.number, turn_of(run));
    output_ = to_caller(picture, elements, request);
    // If a model returns its input, the result is memory of the caller.
    if (output_.is_alias_of(elements))
        output_ = output_.clone();
    check_stopped();
    DnnTorchTensor view = engine_torch::view_of(output_);
    view.white = view.type == DNN_TORCH_F32 ? 0 : request.white;
    run.had_nan = had_nan_;
    return view;
}

std::vector<DnnTorchTensor> DnnTorchSession::run_for_all(const at::Tensor &images,
                                                         const at::Tensor &elements,
                                                         const DnnTorchRun &run)
{
    tensors_ = engine_torch::all_tensors(run_whole_batch(images, run), model_.output_name(),
                                         model_.device());
    engine_torch::wait_for(model_.device());
    std::vector<DnnTorchTensor> views;
    for (engine_torch::HandedTensor &handed : tensors_) {
        if (handed.tensor.is_alias_of(elements))
            handed.tensor = handed.tensor.clone();
        views.push_back(view_of(handed));
    }
    check_stopped();
    return views;
}

c10::IValue DnnTorchSession::run_whole_batch(const at::Tensor &images, const DnnTorchRun &run)
{
    if (images.size(0) > 1 && plan_.source().has_states())
        throw Failure(DNN_TORCH_BAD_INPUT, "a model with states takes one picture at a time, and "
                                           "its tensors cannot be put together; use batch_size=1");
    try {
        return forward(images, run.number, turn_of(run));
    } catch (const std::exception &error) {
        if (images.size(0) < 2 || !engine_torch::is_out_of_memory(error))
            throw;
    }
    throw Failure(DNN_TORCH_OUT_OF_MEMORY, "a batch of " + std::to_string(images.size(0)) +
                                               " does not fit into memory; use a lower batch_size");
}
