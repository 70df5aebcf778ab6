// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The engine's C interface.
#include "dnn_torch/engine.h"

#include "engine_kit/sized.h"
#include "engine_kit/text.h"
#include "engines/torch/machine/device.h"
#include "engines/torch/run/images.h"
#include "engines/torch/run/model.h"
#include "engines/torch/run/plan.h"
#include "engines/torch/run/probe.h"
#include "engines/torch/run/session.h"
#include "failure.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <torch/version.h>
#include <vector>

namespace
{

using engine_kit::copy_as_line;
using engine_kit::taken;
using engine_torch::Failure;
using engine_torch::guarded;
using engine_torch::Phase;

std::string name_of(const DnnTorchTensor &tensor)
{
    return {tensor.name, strnlen(tensor.name, sizeof tensor.name)};
}

// The pictures are the tensor without a name.
DnnTorchTensor pictures_among(const DnnTorchTensor *in, size_t count)
{
    std::optional<DnnTorchTensor> pictures;
    for (size_t i = 0; i < count; i++) {
        const auto tensor = taken(engine_kit::element(in, i));
        if (tensor.name[0])
            continue;
        if (pictures)
            throw Failure(DNN_TORCH_BAD_INPUT, "two input tensors have no name");
        pictures = tensor;
    }
    if (!pictures)
        throw Failure(DNN_TORCH_BAD_INPUT, "no input tensor is without a name: such a one holds "
                                           "the pictures");
    return *pictures;
}

bool takes_values(const engine_torch::Constant &constant)
{
    return constant.kind != engine_torch::Constant::Kind::picture &&
           constant.kind != engine_torch::Constant::Kind::state;
}

// The extra inputs of a run, by name.
engine_torch::NamedTensors values_among(const DnnTorchTensor *in, size_t count,
                                        const engine_torch::Source &source)
{
    engine_torch::NamedTensors values;
    for (size_t i = 0; i < count; i++) {
        const auto tensor = taken(engine_kit::element(in, i));
        const std::string name = name_of(tensor);
        if (name.empty())
            continue;
        const auto &known = source.binding.constants;
        const bool is_known = std::any_of(known.begin(), known.end(), [&](const auto &each) {
            return each.name == name && takes_values(each);
        });
        if (!is_known)
            throw Failure(DNN_TORCH_BAD_INPUT,
                          "there is no extra input " + name + ": name it in the option inputs");
        if (!values.emplace(name, engine_torch::numbers_of(tensor)).second)
            throw Failure(DNN_TORCH_BAD_INPUT, "two input tensors are named " + name);
    }
    return values;
}

// At least one output must be given; it carries the requested type.
void expect_outputs(const engine_torch::Source &source, size_t count)
{
    if (count != 1 && (!source.returns_all() || count == 0))
        throw Failure(DNN_TORCH_BAD_INPUT,
                      "the engine returns one tensor and not " + std::to_string(count));
}

// The samples stay the caller's.
engine_torch::TuningParameters tuning_parameters(const DnnTorchPlanParameters &parameters,
                                                 int32_t channels)
{
    engine_torch::TuningParameters made = {.budget_seconds = parameters.budget_seconds,
                                           .samples = {},
                                           .as_saved = parameters.as_saved != 0};
    if (!parameters.samples)
        return made;
    const auto samples = taken(parameters.samples);
    if (samples.type != DNN_TORCH_F32 || engine_torch::shape_of(samples).channels != channels)
        throw Failure(DNN_TORCH_BAD_INPUT,
                      "the pictures to calibrate with are none of floats with the plan's channels");
    made.samples = engine_torch::tensor_over(samples);
    return made;
}

// Outputs without a tensor, up to `capacity`, get no type.
void give_all(const std::vector<DnnTorchTensor> &tensors, DnnTorchTensor *out, size_t capacity)
{
    if (tensors.size() > capacity)
        throw Failure(DNN_TORCH_BAD_OUTPUT, "the model returned " + std::to_string(tensors.size()) +
                                                " tensors, where at most " +
                                                std::to_string(capacity) +
                                                " are taken; choose some with output=NAME");
    for (size_t i = 0; i < capacity; i++)
        engine_kit::give_element(
            i < tensors.size() ? tensors[i] : engine_kit::sized<DnnTorchTensor>(), out, i);
}

int model_open(const DnnTorchSource *source, const DnnTorchOption *options, size_t option_count,
               DnnTorchModel **model, DnnTorchMessage *message) noexcept
{
    return guarded(Phase::loading, message, [&] {
        const engine_kit::Options known(options, option_count,
                                        {"device", "input", "output", "precision", "optimize",
                                         "allow", "inspect", "export", "input_type", "input_layout",
                                         "output_layout", "inputs", "results", "weights", "frames",
                                         "length"});
        *model = std::make_unique<DnnTorchModel>(taken(source), known).release();
    });
}

void model_close(DnnTorchModel **model) noexcept
{
    delete *model;
    *model = nullptr;
}

size_t model_tensors(const DnnTorchModel *model, DnnTorchDirection direction,
                     DnnTorchTensorInfo *infos, size_t capacity) noexcept
{
    const engine_torch::Description &description = model->description();
    const auto &tensors = direction == DNN_TORCH_INPUTS ? description.inputs : description.outputs;
    DnnTorchMessage message;
    guarded(Phase::loading, &message, [&] {
        for (size_t i = 0; i < std::min(capacity, tensors.size()); i++) {
            auto info = engine_kit::sized<DnnTorchTensorInfo>();
            copy_as_line(tensors[i].name, info.name, sizeof info.name);
            copy_as_line(tensors[i].type, info.type_text, sizeof info.type_text);
            info.rank = -1; // TorchScript does not say
            std::fill(std::begin(info.dims), std::end(info.dims), -1);
            engine_kit::give_element(info, infos, i);
        }
    });
    return tensors.size();
}

const char *model_metadata(const DnnTorchModel *model, const char *key) noexcept
{
    return key ? model->metadata(key) : nullptr;
}

int model_probe(DnnTorchModel *model, const DnnTorchTensor *in, size_t in_count,
                DnnTorchTensor *out, size_t out_count, DnnTorchMessage *message) noexcept
{
    return guarded(Phase::running, message, [&] {
        model->expect_runnable();
        expect_outputs(*model->source(), out_count);
        const engine_torch::Shape given = engine_torch::shape_of(pictures_among(in, in_count));
        if (model->source()->returns_all())
            return give_all(engine_torch::probe_all(*model, given), out, out_count);
        const engine_torch::Shape found = engine_torch::probe(*model, given);
        auto shape = taken(out);
        shape.type = DNN_TORCH_F32;
        shape.rank = 4;
        const int64_t dims[] = {found.batch, found.channels, found.height, found.width};
        std::copy(std::begin(dims), std::end(dims), shape.dims);
        engine_kit::give(shape, out);
    });
}

int plan_make(DnnTorchModel *model, const DnnTorchTensor *in, size_t in_count,
              const DnnTorchPlanParameters *parameters, DnnTorchPlan **plan,
              DnnTorchMessage *message) noexcept
{
    return guarded(Phase::running, message, [&] {
        const engine_torch::Shape shape = engine_torch::shape_of(pictures_among(in, in_count));
        *plan = std::make_unique<DnnTorchPlan>(*model, shape,
                                               tuning_parameters(taken(parameters), shape.channels))
                    .release();
    });
}

void plan_close(DnnTorchPlan **plan) noexcept
{
    delete *plan;
    *plan = nullptr;
}

void plan_facts(const DnnTorchPlan *plan, DnnTorchPlanFacts *facts) noexcept
{
    engine_kit::give(plan->facts(), facts);
}

const char *plan_metadata(const DnnTorchPlan *plan, const char *key) noexcept
{
    return key ? plan->metadata(key) : nullptr;
}

int session_open(const DnnTorchPlan *plan, int32_t threads, DnnTorchSession **session,
                 DnnTorchMessage *message) noexcept
{
    return guarded(Phase::loading, message,
                   [&] { *session = std::make_unique<DnnTorchSession>(*plan, threads).release(); });
}

void session_warm(DnnTorchSession *session) noexcept
{
    session->warm();
}

int session_run(DnnTorchSession *session, const DnnTorchTensor *in, size_t in_count,
                DnnTorchTensor *out, size_t out_count, DnnTorchRun *run,
                DnnTorchMessage *message) noexcept
{
    return guarded(Phase::running, message, [&] {
        expect_outputs(session->source(), out_count);
        DnnTorchRun report = taken(run);
        give_all(session->run(pictures_among(in, in_count),
                              values_among(in, in_count, session->source()), taken(out), report),
                 out, out_count);
        engine_kit::give(report, run);
    });
}

int session_reset(DnnTorchSession *session, DnnTorchMessage *message) noexcept
{
    return guarded(Phase::running, message, [&] { session->reset(); });
}

void *session_memory(DnnTorchSession *session, size_t bytes) noexcept
{
    DnnTorchMessage message;
    void *memory = nullptr;
    guarded(Phase::running, &message, [&] { memory = session->memory(bytes); });
    return memory;
}

size_t list_devices(DnnTorchDevice *devices, size_t capacity) noexcept
{
    DnnTorchMessage message;
    std::vector<DnnTorchDevice> known;
    guarded(Phase::loading, &message, [&] { known = engine_torch::known_devices(); });
    for (size_t i = 0; i < std::min(known.size(), capacity); i++)
        engine_kit::give_element(known[i], devices, i);
    return known.size();
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
    .size = sizeof(DnnTorchEngine),
    .name = "LibTorch",
    .version = TORCH_VERSION,
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
