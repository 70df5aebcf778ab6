// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "probe.h"

#include "base/compose.h"
#include "binding_choice.h"
#include "engines/torch/failure.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <system_error>
#include <thread>

namespace engine_torch
{
namespace
{

// Smaller pictures are done before another thread would have started.
constexpr int64_t large_samples = int64_t{1} << 18;

// Runs on a thread of its own: OpenMP's threads stay with the thread that called them, and a fork()
// by that thread leaves a child that waits for them.
Rehearsal run_on_all_cores(DnnTorchModel &model, const Shape &shape)
{
    Rehearsal result;
    std::exception_ptr failure;
    const auto run = [&](int threads) noexcept {
        try {
            result = run_and_choose_binding(model, shape, threads);
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

Shape result_of(const Blueprint &network, const Shape &shape)
{
    const int64_t height = shape.height * network.scale, width = shape.width * network.scale;
    if (height > INT32_MAX || width > INT32_MAX)
        throw Failure(DNN_TORCH_BAD_INPUT, "the result would be too large");
    return {shape.batch, static_cast<int32_t>(network.out_channels), static_cast<int32_t>(height),
            static_cast<int32_t>(width)};
}

// An operator's failure is the fault of the weights, unless options say something of tensors.
Shape small_result(DnnTorchModel &model, const Blueprint &network, const Shape &shape)
{
    const RequestedBinding asked = model.source()->asked;
    try {
        return run_and_choose_binding(model, shape, 1).picture;
    } catch (const Failure &) {
        throw;
    } catch (const std::exception &error) {
        const auto status = failure_of(Phase::running, error).status();
        const bool is_of_run = status == DNN_TORCH_RUN_FAILED || status == DNN_TORCH_WRONG_RANK ||
                               status == DNN_TORCH_WRONG_CHANNELS;
        if (!is_of_run || asked.type || asked.layout || asked.output_layout)
            throw;
        throw Failure(DNN_TORCH_BAD_MODEL,
                      dnn_torch::concat("the network looks like ", network.architecture,
                                        ", but does not run with these weights: ",
                                        engine_torch::words_of(error)));
    }
}

// Returns how many channels go in, with those of extra pictures.
int32_t channels_into(const DnnTorchModel &model, const Blueprint &network)
{
    int64_t channels = network.in_channels;
    for (const std::vector<Constant> &choices : model.source()->asked.constants)
        channels += choices.empty() ? 0 : choices.front().channels;
    return static_cast<int32_t>(channels);
}

// One small picture shows whether the network runs at all and is what was read off the weights.
// Larger ones would only take time: a transformer needs seconds for each.
void check_small(DnnTorchModel &model, const Blueprint &network)
{
    constexpr int32_t extent = 16;
    const Shape shape = {1, channels_into(model, network), extent, extent};
    const Shape wanted = result_of(network, shape), actual = small_result(model, network, shape);
    if (model.returns_first() && (actual.channels != wanted.channels ||
                                  actual.height != wanted.height || actual.width != wanted.width))
        throw Failure(DNN_TORCH_BAD_MODEL,
                      dnn_torch::concat("the network looks like ", network.architecture,
                                        ", but turns pictures of 16x16 into ", actual.width, "x",
                                        actual.height));
}

void expect_channels(DnnTorchModel &model, const Blueprint &network, const Shape &shape)
{
    model.check_network([&] {
        const auto lock = model.lock_binding();
        check_small(model, network);
    });
    if (const int32_t channels = channels_into(model, network); shape.channels != channels)
        throw Failure(DNN_TORCH_WRONG_CHANNELS,
                      dnn_torch::concat("the network takes ",
                                        dnn_torch::counted(channels, "channel"), ", not ",
                                        shape.channels));
}

void expect_sense(const DnnTorchModel &model, const Shape &shape)
{
    model.expect_runnable();
    if (shape.is_empty())
        throw Failure(DNN_TORCH_BAD_INPUT,
                      "the shape to probe is empty: all its extents must be at least 1");
}

Rehearsal run_on_fit_threads(DnnTorchModel &model, const Shape &shape)
{
    const int64_t samples = int64_t{shape.batch} * shape.channels * shape.height * shape.width;
    return samples < large_samples ? run_and_choose_binding(model, shape, 1)
                                   : run_on_all_cores(model, shape);
}

} // namespace

std::vector<DnnTorchTensor> probe_all(DnnTorchModel &model, const Shape &shape)
{
    expect_sense(model, shape);
    auto lock = model.lock_binding();
    if (model.has_binding())
        lock.unlock();
    std::vector<DnnTorchTensor> shapes;
    for (const HandedTensor &handed : run_on_fit_threads(model, shape).tensors) {
        shapes.push_back(view_of(handed));
        shapes.back().data = nullptr;
    }
    return shapes;
}

Shape probe(DnnTorchModel &model, const Shape &shape)
{
    expect_sense(model, shape);
    if (const Blueprint *const network = model.network()) {
        expect_channels(model, *network, shape);
        if (model.returns_first())
            return result_of(*network, shape);
    }
    auto lock = model.lock_binding();
    if (model.has_binding())
        lock.unlock();
    const std::string &output = model.output_name();
    const auto known = recall_probe(*model.source(), model.requested(), output, shape);
    if (known && set_binding_by_text(model, known->binding))
        return known->result;
    const Shape result = run_on_fit_threads(model, shape).picture;
    if (const auto text = binding_text(model))
        remember_probe(*model.source(), model.requested(), output, shape,
                       {.result = result, .binding = *text});
    return result;
}

} // namespace engine_torch
