// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model.h"

#include "base/compose.h"
#include "base/descriptor.h"
#include "host/workers/engine_call.h"
#include "host/workers/time_limit.h"

extern "C" {
#include <libavutil/error.h>
}

#include <algorithm>
#include <bit>
#include <fcntl.h>
#include <system_error>

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

Error::Reason reason_of(int status)
{
    return status == DNN_TORCH_WRONG_CHANNELS ? Error::Reason::channels
           : status == DNN_TORCH_WRONG_RANK   ? Error::Reason::rank
                                              : Error::Reason::other;
}

void check(int status, const DnnTorchMessage &message)
{
    if (status == DNN_TORCH_CRASHED)
        throw Crash(error_code(status), message.text, false);
    if (status != DNN_TORCH_OK)
        throw Error(error_code(status), message.text, reason_of(status));
}

// Reading a file and building the model from it takes longer than a run.
Time limit_to_open(Time timeout)
{
    return timeout.count() ? std::max<Time>(timeout, std::chrono::seconds(10)) : timeout;
}

Time to_time(double seconds)
{
    return std::chrono::duration_cast<Time>(std::chrono::duration<double>(seconds));
}

// Each variant of a model is tried on some pictures, most of them small.
Time limit_to_plan(Time timeout, double budget_seconds)
{
    return timeout.count() ? 4 * timeout + 2 * to_time(budget_seconds) : timeout;
}

TimeLimit limit_of(Time most, const std::string &doing)
{
    return {most, "the model has not come back within " + in_seconds(most) + " while " + doing +
                      "; raise timeout if it may take longer"};
}

// Closes an engine's object.  Does nothing if the process ends, which frees everything.
template <class Close> void closing(Close close) noexcept
{
    try {
        EngineCall call;
        close();
    } catch (const AnyError &) {
        // The process ends.
    }
}

using NamedValues = std::vector<std::pair<const char *, std::string>>;

NamedValues values_of(const ModelOptions &options)
{
    NamedValues values = {
        {"device", options.device},
        {"input", options.input_name},
        {"output", options.output_name},
        {"precision", options.precision},
        {"optimize", options.optimize},
        {"allow", options.allow},
        {"inspect", options.inspect ? "1" : ""},
        {"export", options.export_as},
        {"input_type", options.input_type},
        {"input_layout", options.input_layout},
        {"output_layout", options.output_layout},
        {"inputs", options.inputs},
        {"frames", options.frames},
        {"length", options.length},
        {"results", options.results},
        {"weights", options.weights == "shared" ? "" : options.weights},
    };
    if (options.isolated.empty())
        return values;
    double seconds = std::chrono::duration<double>(options.timeout).count();
    values.insert(values.end(), {{"engine", options.isolated},
                                 {"cage", options.cage_required ? "require" : ""},
                                 {"timeout", std::to_string(seconds)},
                                 {"restarts", std::to_string(options.restarts)}});
    return values;
}

// Refers to `values`.
std::vector<DnnTorchOption> options_of(const NamedValues &values)
{
    std::vector<DnnTorchOption> given;
    for (const auto &[key, value] : values)
        if (!value.empty())
            given.push_back({.key = key, .value = value.c_str()});
    return given;
}

struct OpenedModel {
    std::shared_ptr<DnnTorchModel> model;
    std::vector<ModelPart> parts;
};

// Refers to `parts`.
std::vector<DnnTorchSource> sources_of(const std::vector<ModelPart> &parts)
{
    std::vector<DnnTorchSource> sources;
    sources.reserve(parts.size());
    for (const ModelPart &part : parts)
        sources.push_back(
            {.size = sizeof(DnnTorchSource), .name = part.name.c_str(), .fd = part.file->get()});
    return sources;
}

// An engine that a model has taken over can ask for nothing outside the model's folder.
std::vector<std::string> part_names(std::string_view list)
{
    std::vector<std::string> names;
    for (size_t end = 0; end != list.npos; list.remove_prefix(end == list.npos ? 0 : end + 1)) {
        end = list.find('/');
        names.emplace_back(list.substr(0, end));
        if (names.back().empty() || names.back()[0] == '.' || names.size() > DNN_TORCH_PARTS)
            throw Error(AVERROR_EXTERNAL, "the engine asks for files that no model has");
    }
    return names;
}

OpenedModel open_model(const DnnTorchEngine &engine, const ModelOptions &options,
                       const Descriptor &file)
{
    std::vector<ModelPart> parts;
    DnnTorchSource source = {.size = sizeof(source),
                             .name = options.path.c_str(),
                             .fd = file.get(),
                             .data = nullptr,
                             .data_size = 0,
                             .sink = options.sink ? options.sink->get() : 0,
                             .parts = nullptr,
                             .part_count = 0};
    NamedValues values = values_of(options);
    std::vector<DnnTorchOption> given = options_of(values);
    EngineCall call;
    DnnTorchMessage message{};
    DnnTorchModel *model = nullptr;
    int status = engine.model_open(&source, given.data(), given.size(), &model, &message);
    if (status == DNN_TORCH_NEEDS_PARTS) {
        parts = open_parts(options.path, part_names(message.text));
        const std::vector<DnnTorchSource> sources = sources_of(parts);
        source.parts = sources.data();
        source.part_count = sources.size();
        status = engine.model_open(&source, given.data(), given.size(), &model, &message);
    }
    if (status == DNN_TORCH_NEEDS_PARTS)
        throw Error(AVERROR_INVALIDDATA, "'" + options.path + "' changed while it was read");
    check(status, message);
    return {.model = {model,
                      [&engine](DnnTorchModel *opened) {
                          closing([&] { engine.model_close(&opened); });
                      }},
            .parts = std::move(parts)};
}

// "64x48" for pictures, "1x3x7" for other tensors.
std::string extents_of(std::span<const DnnTorchTensor> tensors)
{
    std::string text;
    for (const DnnTorchTensor &tensor : tensors) {
        text += text.empty() ? "" : " and ";
        std::string extents;
        if (tensor.rank == 4)
            extents = std::to_string(tensor.dims[3]) + "x" + std::to_string(tensor.dims[2]);
        for (int i = 0; i < tensor.rank && tensor.rank != 4; i++)
            extents.append(i ? "x" : "").append(std::to_string(tensor.dims[i]));
        text += extents;
    }
    return text;
}

// Returns whether another try may succeed: there may be enough time or memory later.
bool is_temporary(const Error &error)
{
    return error.code() == AVERROR(ETIMEDOUT) || error.code() == AVERROR(ENOMEM) ||
           error.code() == AVERROR(ECANCELED);
}

// Makes a key from the shapes of tensors and a number.
std::vector<int64_t> key_of(std::span<const DnnTorchTensor> shapes, int64_t number)
{
    std::vector<int64_t> key = {number};
    for (const DnnTorchTensor &shape : shapes) {
        key.insert(key.end(), {shape.type, shape.rank});
        key.insert(key.end(), shape.dims, shape.dims + shape.rank);
        key.insert(key.end(),
                   {std::bit_cast<int32_t>(shape.low), std::bit_cast<int32_t>(shape.high)});
    }
    return key;
}

} // namespace

// O_NONBLOCK: opening a named pipe would otherwise wait for a writer.
Descriptor open_model_file(const std::string &path)
{
    if (path.empty())
        throw Error(AVERROR(EINVAL), "no model is given; name one with model=FILE");
    Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!file.is_open())
        throw Error(AVERROR(ENOENT),
                    "'" + path + "' cannot be opened: " + std::generic_category().message(errno));
    return file;
}

std::string path_beside(const std::string &model_path, const std::string &name)
{
    const size_t slash = model_path.rfind('/');
    return model_path.substr(0, slash == model_path.npos ? 0 : slash + 1) + name;
}

std::vector<ModelPart> open_parts(const std::string &model_path,
                                  const std::vector<std::string> &names)
try {
    std::vector<ModelPart> parts;
    for (const std::string &name : names) {
        auto file =
            std::make_shared<const Descriptor>(open_model_file(path_beside(model_path, name)));
        parts.push_back({.name = name, .file = file, .stamp = settled_stamp_of(*file)});
    }
    return parts;
} catch (const Error &error) {
    throw Error(error.code(), "'" + model_path + "' is in several files, and " + error.what() +
                                  "; put it beside the model, from where the model is");
}

// ---- a model ----------------------------------------------------------------

// `work` must not refer to this object, because it may outlive it.
template <class Work> auto Model::within(Time limit, const std::string &doing, Work work)
{
    try {
        return value_within(limit_of(limit, doing), std::move(work));
    } catch (const AnyError &error) {
        if (error.code() == AVERROR(ETIMEDOUT) || error.code() == AVERROR(ECANCELED))
            give_up();
        throw;
    }
}

Model::Model(const DnnTorchEngine &engine, const ModelOptions &options)
    : Model(engine, options, nullptr)
{
}

Model::Model(const DnnTorchEngine &engine, const ModelOptions &options,
             const std::shared_ptr<const Descriptor> &file)
    : engine_(engine), timeout_(options.timeout), is_in_int8_(options.precision == "int8")
{
    const NowDoing now("opening the model");
    OpenedModel opened = within(limit_to_open(timeout_), "it was opened", [&engine, options, file] {
        return file ? open_model(engine, options, *file)
                    : open_model(engine, options, open_model_file(options.path));
    });
    model_ = std::move(opened.model);
    parts_ = std::move(opened.parts);
}

std::vector<DnnTorchTensor> Model::probe(std::span<const DnnTorchTensor> in, size_t out_count)
{
    was_tried_ = true;
    Shapes shapes(in.begin(), in.end());
    auto found = probed_.get(key_of(in, static_cast<int64_t>(out_count)),
                             [&]() -> std::variant<Shapes, Error> {
                                 try {
                                     return run_probe(shapes, out_count);
                                 } catch (const Error &error) {
                                     if (is_temporary(error))
                                         throw;
                                     return error;
                                 }
                             });
    if (const Error *error = std::get_if<Error>(&found))
        throw *error;
    return std::get<Shapes>(found);
}

Model::Shapes Model::run_probe(const Shapes &in, size_t out_count)
{
    auto run = [engine = &engine_, model = model_, in, out_count] {
        EngineCall call;
        DnnTorchMessage message{};
        Shapes found(out_count, DnnTorchTensor{.size = sizeof(DnnTorchTensor)});
        check(engine->model_probe(model.get(), in.data(), in.size(), found.data(), found.size(),
                                  &message),
              message);
        return found;
    };
    const NowDoing now("finding out what the model makes of " + extents_of(in));
    return within(timeout_, "it was tried on " + extents_of(in), run);
}

// The time for measuring is part of the key: a plan that was measured for longer may be better.
std::shared_ptr<const ModelPlan> Model::plan(std::span<const DnnTorchTensor> in,
                                             const PlanParameters &parameters)
{
    was_tried_ = true;
    if (parameters.gathered)
        return std::make_shared<const ModelPlan>(engine_, model_, in, parameters);
    ShapeKey key = key_of(in, static_cast<int64_t>(parameters.tuning_seconds * 1000));
    key.push_back(parameters.as_saved);
    if (parameters.samples)
        key.push_back(static_cast<int64_t>(parameters.samples->number()));
    if (std::shared_ptr<const ModelPlan> idle = find_idle_plan(key))
        return idle;
    std::shared_ptr<const ModelPlan> plan = make_plan({in.begin(), in.end()}, parameters);
    remember({.key = std::move(key), .plan = plan});
    return plan;
}

std::shared_ptr<const ModelPlan> Model::find_idle_plan(const ShapeKey &key)
{
    std::lock_guard lock(mutex_);
    for (const RememberedPlan &each : plans_)
        if (each.key == key && each.plan.use_count() == 1)
            return each.plan;
    return nullptr;
}

void Model::remember(RememberedPlan plan)
{
    constexpr size_t most = 2;
    std::list<RememberedPlan> oldest; // freed without the lock
    std::lock_guard lock(mutex_);
    plans_.push_back(std::move(plan));
    if (plans_.size() > most)
        oldest.splice(oldest.end(), plans_, plans_.begin());
}

std::shared_ptr<const ModelPlan> Model::make_plan(const Shapes &in,
                                                  const PlanParameters &parameters)
{
    auto make = [engine = &engine_, model = model_, in, parameters] {
        return std::make_shared<const ModelPlan>(*engine, model, in, parameters);
    };
    std::string doing = "making the model ready for " + extents_of(in);
    if (parameters.tuning_seconds > 0)
        doing = "trying the model's variants for " + extents_of(in) + ", at most " +
                in_seconds(to_time(parameters.tuning_seconds)) + " (option tune)";
    const NowDoing now(std::move(doing));
    return within(limit_to_plan(timeout_, parameters.tuning_seconds),
                  "its fastest variant was looked for", make);
}

void Model::try_out(const std::string &doing, std::function<void()> work)
{
    const NowDoing now("trying the model on small pictures");
    within(limit_to_plan(timeout_, 0), doing, [work = std::move(work)] {
        work();
        return true;
    });
}

std::vector<DnnTorchTensorInfo> Model::tensors(DnnTorchDirection direction) const
{
    EngineCall call;
    size_t count = engine_.model_tensors(model_.get(), direction, nullptr, 0);
    std::vector<DnnTorchTensorInfo> infos(count, DnnTorchTensorInfo{.size = sizeof(infos.front())});
    engine_.model_tensors(model_.get(), direction, infos.data(), infos.size());
    return infos;
}

std::string Model::metadata(const char *key) const
{
    return text_or_empty(engine_.model_metadata(model_.get(), key));
}

// ---- a plan -----------------------------------------------------------------

ModelPlan::ModelPlan(const DnnTorchEngine &engine, std::shared_ptr<DnnTorchModel> model,
                     std::span<const DnnTorchTensor> shapes, const PlanParameters &parameters)
    : engine_(engine), model_(std::move(model)), gathered_(parameters.gathered)
{
    if (gathered_)
        return;
    EngineCall call;
    DnnTorchMessage message{};
    const bool has_samples = parameters.samples && !parameters.samples->empty();
    const DnnTorchTensor samples = has_samples ? parameters.samples->tensor() : DnnTorchTensor{};
    const DnnTorchPlanParameters given = {.size = sizeof(given),
                                          .budget_seconds = parameters.tuning_seconds,
                                          .samples = has_samples ? &samples : nullptr,
                                          .as_saved = parameters.as_saved};
    check(engine_.plan_make(model_.get(), shapes.data(), shapes.size(), &given, &plan_, &message),
          message);
    if (!shapes.empty() && shapes[0].dims[0] > 0)
        operations_for_picture_ = facts().run_operations / static_cast<double>(shapes[0].dims[0]);
}

ModelPlan::~ModelPlan()
{
    closing([this] { engine_.plan_close(&plan_); });
}

DnnTorchPlanFacts ModelPlan::facts() const
{
    DnnTorchPlanFacts facts = {.size = sizeof(facts)};
    if (plan_)
        engine_.plan_facts(plan_, &facts);
    return facts;
}

Variants ModelPlan::variants() const
{
    const std::string precision = metadata("variant_precision");
    return {.single_threaded = {.words = metadata("variant"),
                                .precision = precision,
                                .optimize = metadata("variant_optimize"),
                                .details = metadata("variant_details")},
            .threaded = {.words = metadata("threaded_variant"),
                         .precision = precision,
                         .optimize = metadata("threaded_optimize")}};
}

std::string ModelPlan::metadata(const char *key) const
{
    return plan_ ? text_or_empty(engine_.plan_metadata(plan_, key)) : "";
}

// ---- a session --------------------------------------------------------------

Session::Session(std::shared_ptr<const ModelPlan> plan, int threads) : plan_(std::move(plan))
{
    if (plan_->gathered_)
        return;
    EngineCall call;
    DnnTorchMessage message{};
    check(plan_->engine_.session_open(plan_->plan_, threads, &session_, &message), message);
}

Session::~Session()
{
    closing([this] { plan_->engine_.session_close(&session_); });
}

void *Session::memory(size_t bytes)
{
    if (!session_)
        return nullptr;
    EngineCall call;
    return plan_->engine_.session_memory(session_, bytes);
}

void Session::warm()
{
    if (plan_->was_warmed_ || !session_)
        return;
    EngineCall call;
    plan_->engine_.session_warm(session_);
    plan_->was_warmed_ = true;
}

void Session::reset()
{
    if (!session_)
        return;
    EngineCall call;
    DnnTorchMessage message{};
    check(plan_->engine_.session_reset(session_, &message), message);
}

void Session::run(std::span<const DnnTorchTensor> in, std::span<DnnTorchTensor> out,
                  DnnTorchRun &run)
{
    if (plan_->gathered_) {
        plan_->gathered_->add(in[0]);
        throw SampleTaken();
    }
    EngineCall call;
    DnnTorchMessage message{};
    int status = plan_->engine_.session_run(session_, in.data(), in.size(), out.data(), out.size(),
                                            &run, &message);
    retries_ = run.retries;
    crash_ = retries_ ? message.text : "";
    if (status == DNN_TORCH_CRASHED)
        throw Crash(error_code(status), message.text, retries_ != 0);
    check(status, message);
    const auto pictures = static_cast<double>(in.empty() ? 0 : in[0].dims[0]);
    operations_ = plan_->operations_for_picture() * pictures;
}

} // namespace dnn_torch
