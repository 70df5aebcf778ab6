// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "model.h"

#include "graph_checks.h"
#include "load.h"
#include "optimize.h"
#include "run_scope.h"
#include "text.h"

#include <ATen/ATen.h>

namespace
{

std::string or_empty(const char *text)
{
    return text ? text : "";
}

} // namespace

DnnTorchModel::DnnTorchModel(const DnnTorchModelOptions &options)
    : output_name_(or_empty(options.output_name)), threads_(options.threads)
{
    engine_torch::check_options(options);
    const std::string wanted = or_empty(options.input_name);
    plain_ = engine_torch::load_module(options.path);
    input_name_ = engine_torch::choose_input(plain_, options.path, wanted);
    if (!wanted.empty() && wanted != input_name_)
        add_notice("input=" + wanted + " is ignored: the model's input is called " + input_name_);
    prepare(options.optimize != 0);
}

// A frozen copy is made in any case: only there has the code that belongs to
// training gone, which would look like state.
void DnnTorchModel::prepare(bool optimize)
{
    // Small pictures and many short operations: more threads only meet.
    const engine_torch::ThreadsScope one_thread(1);
    std::string notice;
    const auto frozen = engine_torch::freeze(plain_, notice);
    const auto traits = engine_torch::traits_of(frozen ? *frozen : plain_, input_name_);
    writes_input_ = traits.writes_input;
    keeps_state_ = traits.keeps_state;
    if (keeps_state_)
        add_notice("the model may remember earlier pictures: its runs are made one after another, "
                   "and are in order only with workers=1");
    else if (optimize && frozen)
        optimized_ = engine_torch::optimize(plain_, *frozen, input_name_, notice);
    if (optimize && !keeps_state_ && !frozen)
        notice = "the model cannot be frozen and runs as it was saved: " + notice;
    if (optimize && !keeps_state_)
        add_notice(notice);
    notice_without_optimized_ = notice_;
    if (optimized_)
        notice_without_optimized_ +=
            (notice_.empty() ? "" : "; ") +
            std::string("the optimised model failed, so that the model runs as it was saved");
}

void DnnTorchModel::add_notice(const std::string &notice)
{
    if (!notice.empty())
        notice_ += (notice_.empty() ? "" : "; ") + notice;
}

const char *DnnTorchModel::notice() const noexcept
{
    return (optimized_failed_ ? notice_without_optimized_ : notice_).c_str();
}

c10::IValue DnnTorchModel::forward(const at::Tensor &images)
{
    // Only state needs the lock.  LibTorch compiles each function under a lock
    // of its own and keeps nothing else between runs, so that even first runs
    // may meet.
    if (keeps_state_) {
        const std::lock_guard<std::mutex> lock(one_at_a_time_);
        return call(plain_, images).deepcopy();
    }
    return optimized_ && !optimized_failed_ ? call_optimized(images) : call(plain_, images);
}

// The plain module has the last word on a failure, and better words for it.
c10::IValue DnnTorchModel::call_optimized(const at::Tensor &images)
{
    try {
        return call(*optimized_, images);
    } catch (const std::exception &error) {
        if (engine_torch::tells_of_memory(error.what()))
            throw;
    }
    c10::IValue result = call(plain_, images);
    optimized_failed_ = true;
    return result;
}

c10::IValue DnnTorchModel::call(const torch::jit::Module &module, const at::Tensor &images)
{
    const bool touches = writes_input_ || keeps_state_;
    return engine_torch::call_forward(module, input_name_, touches ? images.clone() : images);
}
