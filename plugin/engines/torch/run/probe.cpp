// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "probe.h"

#include "engines/torch/failure.h"
#include "engines/torch/machine/quiet.h"
#include "engines/torch/machine/run_scope.h"
#include "output.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/full.h>
#include <exception>
#include <system_error>
#include <thread>

namespace engine_torch
{
namespace
{

// Smaller pictures are done before another thread would have started.
constexpr int64_t large_samples = int64_t{1} << 18;

Shape run_grey(DnnTorchModel &model, const Shape &shape, int threads)
{
    const ThreadsScope own_threads(threads);
    const at::Tensor grey = at::full({shape.batch, shape.channels, shape.height, shape.width}, 0.5,
                                     at::TensorOptions(at::kFloat));
    const at::Tensor result =
        picture_of(model.rehearse(grey), model.output_name(), shape.batch, model.device());
    const auto extent = [&](int64_t dimension) {
        return static_cast<int32_t>(result.size(dimension));
    };
    return {extent(0), extent(1), extent(2), extent(3)};
}

// Runs on a thread of its own: OpenMP's threads stay with the thread that called them, and a fork()
// by that thread leaves a child that waits for them.
Shape run_grey_on_all_cores(DnnTorchModel &model, const Shape &shape)
{
    Shape result = {};
    std::exception_ptr failure;
    const auto run = [&](int threads) noexcept {
        try {
            result = run_grey(model, shape, threads);
        } catch (...) {
            failure = std::current_exception();
        }
    };
    try {
        std::thread(run, std::max(1, static_cast<int>(std::thread::hardware_concurrency()))).join();
    } catch (const std::system_error &) { // no more threads can be started
        run(1);
    }
    if (failure)
        std::rethrow_exception(failure);
    return result;
}

} // namespace

Shape probe(DnnTorchModel &model, const Shape &shape)
{
    model.expect_runnable();
    if (shape.is_empty())
        throw Failure(DNN_TORCH_BAD_INPUT,
                      "the shape to probe is empty: all its extents must be at least 1");
    if (const auto known = recall_probe(model.source(), model.wishes(), model.output_name(), shape))
        return *known;
    const int64_t samples = int64_t{shape.batch} * shape.channels * shape.height * shape.width;
    const Shape result =
        samples < large_samples ? run_grey(model, shape, 1) : run_grey_on_all_cores(model, shape);
    remember_probe(model.source(), model.wishes(), model.output_name(), shape, result);
    return result;
}

} // namespace engine_torch
