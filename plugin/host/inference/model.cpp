// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model.h"

#include "engine_call.h"
#include "held_signals.h"
#include "time_limit.h"

#include "base/module_path.h"
#include "devices/verdict.h"

extern "C" {
#include <libavutil/error.h>
}

#include <algorithm>
#include <climits>
#include <dlfcn.h>
#include <mutex>
#include <vector>

namespace dnn_torch
{
namespace
{

using Time = std::chrono::microseconds;

int error_code(int status)
{
    switch (status) {
    case DNN_TORCH_BAD_OPTION:
    case DNN_TORCH_BAD_INPUT:
        return AVERROR(EINVAL);
    case DNN_TORCH_NO_FILE:
        return AVERROR(ENOENT);
    case DNN_TORCH_BAD_MODEL:
    case DNN_TORCH_BAD_OUTPUT:
        return AVERROR_INVALIDDATA;
    case DNN_TORCH_NO_DEVICE:
        return AVERROR(ENODEV);
    case DNN_TORCH_OUT_OF_MEMORY:
        return AVERROR(ENOMEM);
    case DNN_TORCH_STOPPED:
        return AVERROR_EXIT;
    case DNN_TORCH_INTERNAL:
        return AVERROR_BUG;
    default:
        return AVERROR_EXTERNAL;
    }
}

void check(int status, const DnnTorchMessage &message)
{
    if (status != DNN_TORCH_OK)
        throw Error(error_code(status), message.text);
}

// The path, or empty with `places` telling where it was looked for.
std::string find(const std::string &file_name, std::string &places)
{
    char path[PATH_MAX];
    bool found = dnn_torch_find_module(reinterpret_cast<const void *>(&open_engine),
                                       file_name.c_str(), path, sizeof(path));
    places = found ? "" : path;
    return found ? path : "";
}

std::string find_engine(const std::string &name)
{
    if (name.empty() || name.find('/') != std::string::npos)
        throw Error(AVERROR(EINVAL), "'" + name + "' is no engine's name; try engine=torch");
    std::string file_name = "engine-" + name + ".so", places;
    std::string path = find(file_name, places);
    if (path.empty())
        throw Error(AVERROR(ENOENT), "there is no " + file_name + " in " + places +
                                         "; choose another engine or install that one");
    return path;
}

// LibTorch's constructors register for exit() by the hundreds.  An exit() in their
// midst, from a signal's handler, would run half of that beside them.
void *open_library(const std::string &path)
{
    static std::mutex one_at_a_time;
    std::lock_guard lock(one_at_a_time);
    HeldSignals held;
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library)
        throw Error(AVERROR_EXTERNAL, std::string("the engine cannot be loaded: ") + dlerror());
    watch_exit();
    return library;
}

const char *or_null(const std::string &text)
{
    return text.empty() ? nullptr : text.c_str();
}

// Reading a file and building the model from it is more than a run.
Time limit_to_open(Time timeout)
{
    return timeout.count() ? std::max<Time>(timeout, std::chrono::seconds(10)) : timeout;
}

// The forms of a model are tried on some pictures each, most of them small.
Time limit_to_tune(Time timeout, double budget_seconds)
{
    auto budget = std::chrono::duration_cast<Time>(std::chrono::duration<double>(budget_seconds));
    return timeout.count() ? 4 * timeout + 2 * budget : timeout;
}

TimeLimit limit_of(Time most, const std::string &doing)
{
    return {most, "the model has not come back within " + in_seconds(most) + " while " + doing +
                      "; raise timeout if it may take longer"};
}

// Runs what closes something of an engine's, unless the process ends, which frees all.
template <class Close> void closing(Close close) noexcept
{
    try {
        EngineCall call;
        close();
    } catch (const Error &) {
        // The process ends.
    }
}

std::shared_ptr<DnnTorchModel> open_model(const DnnTorchEngine &engine, const ModelOptions &options)
{
    EngineCall call;
    DnnTorchMessage message{};
    DnnTorchModelOptions plain{};
    plain.path = options.path.c_str();
    plain.device = options.device.c_str();
    plain.input_name = or_null(options.input_name);
    plain.output_name = or_null(options.output_name);
    plain.precision = or_null(options.precision);
    plain.optimize = or_null(options.optimize);
    plain.allow = or_null(options.allow);
    DnnTorchModel *model = nullptr;
    check(engine.model_open(&plain, &model, &message), message);
    return {model,
            [&engine](DnnTorchModel *opened) { closing([&] { engine.model_close(&opened); }); }};
}

} // namespace

const DnnTorchEngine *open_engine(const std::string &name)
{
    void *symbol = dlsym(open_library(find_engine(name)), DNN_TORCH_ENGINE_SYMBOL);
    if (!symbol)
        throw Error(AVERROR_EXTERNAL, "engine-" + name + ".so is no engine: it lacks " +
                                          DNN_TORCH_ENGINE_SYMBOL + "()");
    const DnnTorchEngine *engine =
        reinterpret_cast<DnnTorchEngineFunction *>(symbol)(DNN_TORCH_ENGINE_ABI);
    if (!engine || engine->abi != DNN_TORCH_ENGINE_ABI)
        throw Error(AVERROR_EXTERNAL,
                    "engine-" + name + ".so speaks engine ABI " +
                        (engine ? std::to_string(engine->abi) : std::string("other than")) +
                        (engine ? " and not " : " ") + std::to_string(DNN_TORCH_ENGINE_ABI) +
                        "; install the engine and the filters from one release");
    return engine;
}

DeviceChoice choose_device(const std::string &device, const std::string &engine)
{
    // Nobody is asked for the CPU, nor for a word that is no device.
    Facts facts;
    if (std::string places; needs_probe(device))
        facts = gather_facts_for(device, {find("device-probe", places), find_engine(engine)});
    Verdict verdict = verdict_for(device, facts);
    if (!verdict.usable)
        throw Error(AVERROR(ENODEV), "device=" + device + " cannot be used: " + verdict.reason +
                                         (verdict.remedy.empty() ? "" : "; ") + verdict.remedy);
    return {verdict.device, verdict.reason};
}

DnnTorchDescription describe_model(const DnnTorchEngine &engine, const std::string &path,
                                   Time timeout)
{
    return value_within(limit_of(limit_to_open(timeout), "its file was read"), [&engine, path] {
        EngineCall call;
        DnnTorchMessage message{};
        DnnTorchDescription description{};
        check(engine.model_describe(path.c_str(), &description, &message), message);
        return description;
    });
}

// ---- a model ----------------------------------------------------------------

// `work` may not refer to this object: it may outlive it.
template <class Work> auto Model::within(Time limit, const std::string &doing, Work work)
{
    if (lost_)
        throw Error(*lost_);
    try {
        return value_within(limit_of(limit, doing), std::move(work));
    } catch (const Error &error) {
        if (error.code() == AVERROR(ETIMEDOUT))
            lost_ = error;
        throw;
    }
}

Model::Model(const DnnTorchEngine &engine, const ModelOptions &options)
    : engine_(engine), timeout_(options.timeout)
{
    model_ = within(limit_to_open(timeout_), "it was opened",
                    [&engine, options] { return open_model(engine, options); });
}

Size Model::probe(Size size, int channels)
{
    DnnTorchShape shape = {1, channels, size.height, size.width};
    auto run = [engine = &engine_, model = model_, shape] {
        EngineCall call;
        DnnTorchMessage message{};
        DnnTorchShape found{};
        check(engine->model_probe(model.get(), &shape, &found, &message), message);
        return found;
    };
    DnnTorchShape result = within(timeout_, "it was tried on " + to_text(size), run);
    if (result.channels != channels)
        throw Error(AVERROR_INVALIDDATA, "the model turns " + std::to_string(channels) +
                                             " channels into " + std::to_string(result.channels) +
                                             "; the filter needs as many out as in");
    return {result.width, result.height};
}

DnnTorchTuning Model::tune(const DnnTorchShape &shape, double budget_seconds)
{
    auto measure = [engine = &engine_, model = model_, shape, budget_seconds] {
        EngineCall call;
        DnnTorchMessage message{};
        DnnTorchTuning tuning{};
        check(engine->model_tune(model.get(), &shape, budget_seconds, &tuning, &message), message);
        return tuning;
    };
    return within(limit_to_tune(timeout_, budget_seconds), "its fastest form was looked for",
                  measure);
}

std::string Model::notice() const
{
    return engine_.model_notice(model_.get());
}
std::string Model::advice() const
{
    return engine_.model_advice(model_.get());
}
std::string Model::form() const
{
    return engine_.model_form(model_.get());
}

// ---- a session --------------------------------------------------------------

Session::Session(std::shared_ptr<Model> model, int threads) : model_(std::move(model))
{
    EngineCall call;
    DnnTorchMessage message{};
    check(model_->engine_.session_open(model_->model_.get(), threads, &session_, &message),
          message);
}

Session::~Session()
{
    closing([this] { model_->engine_.session_close(&session_); });
}

void *Session::memory(int64_t bytes)
{
    EngineCall call;
    return model_->engine_.session_memory(session_, bytes);
}

void Session::warm(const DnnTorchShape &shape)
{
    EngineCall call;
    model_->engine_.session_warm(session_, &shape);
}

DnnTorchImages Session::run(const DnnTorchImages &input)
{
    EngineCall call;
    DnnTorchMessage message{};
    DnnTorchImages output{};
    output.element = input.element;
    output.white = input.white;
    check(model_->engine_.session_run(session_, &input, &output, &message), message);
    bool like_input = output.element == input.element && output.white == input.white;
    if (output.element != DNN_TORCH_F32 && !like_input)
        throw Error(AVERROR_EXTERNAL, "the engine gave pictures of an unknown element type");
    if (output.batch != input.batch)
        throw Error(AVERROR_INVALIDDATA, "the model returned " + std::to_string(output.batch) +
                                             " pictures for " + std::to_string(input.batch) +
                                             "; it must return one for each");
    return output;
}

DnnTorchImages float_planes(float *data, int batch, int channels, Size size)
{
    DnnTorchImages images{};
    images.data = data;
    images.element = DNN_TORCH_F32;
    images.batch = batch;
    images.channels = channels;
    images.height = size.height;
    images.width = size.width;
    images.column_stride = sizeof(float);
    images.row_stride = images.column_stride * size.width;
    images.channel_stride = images.row_stride * size.height;
    images.batch_stride = images.channel_stride * channels;
    return images;
}

DnnTorchImages float_pixels(float *data, int batch, int channels, Size size)
{
    DnnTorchImages images = float_planes(data, batch, channels, size);
    images.channel_stride = sizeof(float);
    images.column_stride = images.channel_stride * channels;
    images.row_stride = images.column_stride * size.width;
    return images;
}

} // namespace dnn_torch
