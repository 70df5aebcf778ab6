// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// An engine that hands pictures on as they are, and does what its model says when that is due.
// A model is a line "WHEN WHAT": "run loop", "open attempts"; or empty.
#include "mischief.h"

#include "dnn_torch/engine.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

struct DnnTorchModel {
    std::string when, what;
};
struct DnnTorchPlan {
    const DnnTorchModel *model;
};
struct DnnTorchSession {
    const DnnTorchModel *model;
    std::vector<float> results;
};

namespace
{

std::string text_of(const DnnTorchSource &source)
{
    if (source.fd < 0)
        return {static_cast<const char *>(source.data), source.data_size};
    char text[256];
    ssize_t size = pread(source.fd, text, sizeof(text), 0);
    return {text, static_cast<size_t>(std::max<ssize_t>(size, 0))};
}

// Returns a failure only to tell what came about.
int mischief(const DnnTorchModel *model, const char *when, DnnTorchMessage *message = nullptr)
{
    if (model->when != when || model->what == "overwrite")
        return DNN_TORCH_OK;
    std::string came_about = do_mischief(model->what);
    if (came_about.empty() || !message)
        return DNN_TORCH_OK;
    std::snprintf(message->text, sizeof(message->text), "came about: %s", came_about.c_str());
    return DNN_TORCH_INTERNAL;
}

int model_open(const DnnTorchSource *source, const DnnTorchOption *, size_t, DnnTorchModel **model,
               DnnTorchMessage *message)
{
    std::string text = text_of(*source);
    size_t space = std::min(text.find(' '), text.size());
    auto *opened =
        new DnnTorchModel{text.substr(0, space), text.substr(std::min(space + 1, text.size()))};
    int status = mischief(opened, "open", message);
    if (status == DNN_TORCH_OK)
        *model = opened;
    else
        delete opened;
    return status;
}

void model_close(DnnTorchModel **model)
{
    if (*model)
        mischief(*model, "close");
    delete *model;
    *model = nullptr;
}

size_t model_tensors(const DnnTorchModel *model, DnnTorchDirection, DnnTorchTensorInfo *, size_t)
{
    mischief(model, "tensors");
    return 0;
}

const char *model_metadata(const DnnTorchModel *model, const char *key)
{
    // Each reply carries the notice: the first of them would always be the one.
    if (std::string(key) != "notice")
        mischief(model, "metadata");
    return nullptr;
}

int model_probe(DnnTorchModel *model, const DnnTorchTensor *in, size_t, DnnTorchTensor *out, size_t,
                DnnTorchMessage *message)
{
    out->type = in->type;
    out->rank = in->rank;
    std::copy(std::begin(in->dims), std::end(in->dims), out->dims);
    return mischief(model, "probe", message);
}

int plan_make(DnnTorchModel *model, const DnnTorchTensor *, size_t, const DnnTorchPlanParameters *,
              DnnTorchPlan **plan, DnnTorchMessage *message)
{
    int status = mischief(model, "plan", message);
    if (status == DNN_TORCH_OK)
        *plan = new DnnTorchPlan{model};
    return status;
}

void plan_close(DnnTorchPlan **plan)
{
    delete *plan;
    *plan = nullptr;
}

void plan_facts(const DnnTorchPlan *, DnnTorchPlanFacts *) {}

const char *plan_metadata(const DnnTorchPlan *, const char *)
{
    return nullptr;
}

int session_open(const DnnTorchPlan *plan, int32_t, DnnTorchSession **session,
                 DnnTorchMessage *message)
{
    int status = mischief(plan->model, "session", message);
    if (status == DNN_TORCH_OK)
        *session = new DnnTorchSession{plan->model, {}};
    return status;
}

void session_warm(DnnTorchSession *session)
{
    mischief(session->model, "warm");
}

int session_run(DnnTorchSession *session, const DnnTorchTensor *in, size_t, DnnTorchTensor *out,
                size_t, DnnTorchRun *, DnnTorchMessage *message)
{
    if (session->model->when == "run" && session->model->what == "overwrite")
        overwrite(*in);
    if (int status = mischief(session->model, "run", message))
        return status;
    size_t size = out->size;
    size_t count = 1;
    for (int i = 0; i < in->rank; i++)
        count *= static_cast<size_t>(in->dims[i]);
    const auto *samples = static_cast<const float *>(in->data);
    session->results.assign(samples, samples + count);
    *out = *in;
    out->size = size;
    out->data = session->results.data();
    return DNN_TORCH_OK;
}

int session_reset(DnnTorchSession *session, DnnTorchMessage *message)
{
    return mischief(session->model, "reset", message);
}

void *session_memory(DnnTorchSession *, size_t)
{
    return nullptr;
}

void session_stop(DnnTorchSession *session)
{
    mischief(session->model, "stop");
}

void session_close(DnnTorchSession **session)
{
    delete *session;
    *session = nullptr;
}

size_t list_devices(DnnTorchDevice *, size_t)
{
    return 0;
}

constexpr DnnTorchEngine table = {
    .abi = DNN_TORCH_ENGINE_ABI,
    .size = sizeof(DnnTorchEngine),
    .name = "stranger",
    .version = "1",
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
dnn_torch_engine(uint32_t abi)
{
    return abi == DNN_TORCH_ENGINE_ABI ? &table : nullptr;
}
