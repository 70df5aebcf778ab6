// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The engine's C edge.
#include "dnn_torch/engine.h"

#include "engines/torch/file/describe.h"
#include "engines/torch/machine/device.h"
#include "engines/torch/run/model.h"
#include "engines/torch/run/probe.h"
#include "engines/torch/run/session.h"
#include "failure.h"

#include <memory>
#include <torch/version.h>
#include <vector>

namespace
{

using engine_torch::guarded;
using engine_torch::Phase;

int model_open(const DnnTorchModelOptions *options, DnnTorchModel **model,
               DnnTorchMessage *message) noexcept
{
    return guarded(Phase::loading, message,
                   [&] { *model = std::make_unique<DnnTorchModel>(*options).release(); });
}

int model_describe(const char *path, DnnTorchDescription *description,
                   DnnTorchMessage *message) noexcept
{
    return guarded(Phase::loading, message,
                   [&] { *description = engine_torch::describe(path ? path : ""); });
}

void model_close(DnnTorchModel **model) noexcept
{
    delete *model;
    *model = nullptr;
}

int model_probe(DnnTorchModel *model, const DnnTorchShape *shape, DnnTorchShape *result,
                DnnTorchMessage *message) noexcept
{
    return guarded(Phase::running, message, [&] { *result = engine_torch::probe(*model, *shape); });
}

int model_tune(DnnTorchModel *model, const DnnTorchShape *shape, double budget_seconds,
               DnnTorchTuning *tuning, DnnTorchMessage *message) noexcept
{
    return guarded(Phase::running, message, [&] { *tuning = model->tune(*shape, budget_seconds); });
}

const char *model_notice(const DnnTorchModel *model) noexcept
{
    return model->notice();
}

const char *model_form(const DnnTorchModel *model) noexcept
{
    return model->form();
}

const char *model_advice(const DnnTorchModel *model) noexcept
{
    return model->advice();
}

int session_open(DnnTorchModel *model, int32_t threads, DnnTorchSession **session,
                 DnnTorchMessage *message) noexcept
{
    return guarded(Phase::loading, message, [&] {
        *session = std::make_unique<DnnTorchSession>(*model, threads).release();
    });
}

void session_warm(DnnTorchSession *session, const DnnTorchShape *shape) noexcept
{
    session->warm(*shape);
}

int session_run(DnnTorchSession *session, const DnnTorchImages *input, DnnTorchImages *output,
                DnnTorchMessage *message) noexcept
{
    return guarded(Phase::running, message, [&] { *output = session->run(*input, *output); });
}

void *session_memory(DnnTorchSession *session, int64_t bytes) noexcept
{
    DnnTorchMessage message;
    void *memory = nullptr;
    guarded(Phase::running, &message, [&] { memory = session->memory(bytes); });
    return memory;
}

int32_t list_devices(DnnTorchDevice *devices, int32_t capacity) noexcept
{
    DnnTorchMessage message;
    std::vector<DnnTorchDevice> known;
    guarded(Phase::loading, &message, [&] { known = engine_torch::known_devices(); });
    for (size_t i = 0; i < known.size() && static_cast<int32_t>(i) < capacity; i++)
        devices[i] = known[i];
    return static_cast<int32_t>(known.size());
}

void session_stop(DnnTorchSession *session) noexcept
{
    session->stop();
}

void session_close(DnnTorchSession **session) noexcept
{
    delete *session;
    *session = nullptr;
}

constexpr DnnTorchEngine engine = {
    .abi = DNN_TORCH_ENGINE_ABI,
    .name = "LibTorch",
    .version = TORCH_VERSION,
    .model_open = model_open,
    .model_describe = model_describe,
    .model_close = model_close,
    .model_probe = model_probe,
    .model_tune = model_tune,
    .model_notice = model_notice,
    .model_form = model_form,
    .model_advice = model_advice,
    .session_open = session_open,
    .session_warm = session_warm,
    .session_run = session_run,
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
