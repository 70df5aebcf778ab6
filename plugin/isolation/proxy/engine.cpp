// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The C interface of the engine "isolated", which runs any other engine in a process of its own.
#include "dnn_torch/engine.h"

#include "engine_kit/failure.h"
#include "engine_kit/sized.h"
#include "engine_kit/text.h"
#include "model.h"
#include "session.h"

#include <memory>
#include <utility>

namespace
{

using engine_kit::Failure;
using engine_kit::Phase;
using engine_kit::taken;

// `owner` is a model or a session.
template <class Owner> void expect_ours(const Owner &owner)
{
    if (!owner.is_ours())
        throw Failure(DNN_TORCH_RUN_FAILED,
                      "the model was opened by the process that this one was forked from; open "
                      "it anew");
}

template <class Body> int guarded(Phase phase, DnnTorchMessage *message, Body &&body) noexcept
{
    return engine_kit::guarded(phase, engine_kit::failure_in_words, message,
                               std::forward<Body>(body));
}

// For functions that report no failure.
template <class Body> void unless_it_fails(Body &&body) noexcept
{
    DnnTorchMessage ignored;
    guarded(Phase::running, &ignored, std::forward<Body>(body));
}

int model_open(const DnnTorchSource *source, const DnnTorchOption *options, size_t option_count,
               DnnTorchModel **model, DnnTorchMessage *message) noexcept
{
    return guarded(Phase::loading, message, [&] {
        *model = std::make_unique<DnnTorchModel>(
                     isolation::Settings(taken(source), options, option_count))
                     .release();
    });
}

// Frees nothing in a forked process, because nothing may be touched there.
void model_close(DnnTorchModel **model) noexcept
{
    if (*model && (*model)->is_ours())
        delete *model;
    *model = nullptr;
}

size_t model_tensors(const DnnTorchModel *model, DnnTorchDirection direction,
                     DnnTorchTensorInfo *infos, size_t capacity) noexcept
{
    size_t count = 0;
    unless_it_fails([&] {
        expect_ours(*model);
        count = const_cast<DnnTorchModel *>(model)->tensors(direction, infos, capacity);
    });
    return count;
}

const char *model_metadata(const DnnTorchModel *model, const char *key) noexcept
{
    const char *text = nullptr;
    unless_it_fails([&] {
        expect_ours(*model);
        text = const_cast<DnnTorchModel *>(model)->metadata(key);
    });
    return text;
}

int model_probe(DnnTorchModel *model, const DnnTorchTensor *in, size_t in_count,
                DnnTorchTensor *out, size_t out_count, DnnTorchMessage *message) noexcept
{
    return guarded(Phase::running, message, [&] {
        expect_ours(*model);
        model->probe(in, in_count, out, out_count);
    });
}

int plan_make(DnnTorchModel *model, const DnnTorchTensor *in, size_t in_count,
              const DnnTorchPlanParameters *parameters, DnnTorchPlan **plan,
              DnnTorchMessage *message) noexcept
{
    return guarded(Phase::running, message, [&] {
        expect_ours(*model);
        *plan = std::make_unique<DnnTorchPlan>(*model, in, in_count, taken(parameters)).release();
    });
}

void plan_close(DnnTorchPlan **plan) noexcept
{
    if (*plan && (*plan)->model().is_ours())
        delete *plan;
    *plan = nullptr;
}

void plan_facts(const DnnTorchPlan *plan, DnnTorchPlanFacts *facts) noexcept
{
    engine_kit::give(plan->facts(), facts);
}

const char *plan_metadata(const DnnTorchPlan *plan, const char *key) noexcept
{
    const char *text = nullptr;
    unless_it_fails([&] {
        expect_ours(plan->model());
        text = plan->metadata(key);
    });
    return text;
}

int session_open(const DnnTorchPlan *plan, int32_t threads, DnnTorchSession **session,
                 DnnTorchMessage *message) noexcept
{
    return guarded(Phase::loading, message, [&] {
        expect_ours(plan->model());
        *session = std::make_unique<DnnTorchSession>(*plan, threads).release();
    });
}

void session_warm(DnnTorchSession *session) noexcept
{
    unless_it_fails([&] {
        expect_ours(*session);
        session->warm();
    });
}

int session_run(DnnTorchSession *session, const DnnTorchTensor *in, size_t in_count,
                DnnTorchTensor *out, size_t out_count, DnnTorchRun *run,
                DnnTorchMessage *message) noexcept
{
    return guarded(Phase::running, message, [&] {
        expect_ours(*session);
        DnnTorchRun report = taken(run);
        const auto give_report = [&] { engine_kit::give(report, run); };
        try {
            const std::string crash = session->run(in, in_count, out, out_count, report);
            engine_kit::copy_as_line(crash, message->text, sizeof message->text);
        } catch (...) {
            give_report();
            throw;
        }
        give_report();
    });
}

int session_reset(DnnTorchSession *session, DnnTorchMessage *message) noexcept
{
    return guarded(Phase::running, message, [&] {
        expect_ours(*session);
        session->reset();
    });
}

void *session_memory(DnnTorchSession *session, size_t bytes) noexcept
{
    void *memory = nullptr;
    unless_it_fails([&] {
        expect_ours(*session);
        memory = session->memory(bytes);
    });
    return memory;
}

void session_stop(DnnTorchSession *session) noexcept
{
    if (session->is_ours())
        session->stop();
}

void session_close(DnnTorchSession **session) noexcept
{
    if (*session && (*session)->is_ours())
        delete *session;
    *session = nullptr;
}

// The engines that run in the child list theirs.
size_t list_devices(DnnTorchDevice *, size_t) noexcept
{
    return 0;
}

constexpr DnnTorchEngine engine = {
    .abi = DNN_TORCH_ENGINE_ABI,
    .size = sizeof(DnnTorchEngine),
    .name = "isolated",
    .version = PROJECT_VERSION,
    .model_open = model_open,
    .model_close = model_close,
    .model_tensors = model_tensors,
    .model_metadata = model_metadata,
    .model_probe = model_probe,
    .plan_make = plan_make,
    .plan_close = plan_close,
    .plan_facts = plan_facts,
    .plan_metadata = plan_metadata,
    .session_open = session_open,
    .session_warm = session_warm,
    .session_run = session_run,
    .session_reset = session_reset,
    .session_memory = session_memory,
    .session_stop = session_stop,
    .session_close = session_close,
    .list_devices = list_devices,
};

} // namespace

extern "C" __attribute__((visibility("default"))) const DnnTorchEngine *
dnn_torch_engine(uint32_t host_abi)
{
    return host_abi == DNN_TORCH_ENGINE_ABI ? &engine : nullptr;
}
