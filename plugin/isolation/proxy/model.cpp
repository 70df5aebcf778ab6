// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model.h"

#include "base/compose.h"
#include "engine_kit/sized.h"
#include "engine_kit/text.h"
#include "isolation/protocol/shared_memory.h"
#include "isolation/protocol/tensor_views.h"
#include "spare_child.h"
#include "taken_outputs.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <utility>

using dnn_torch::concat;
using engine_kit::element;
using engine_kit::Failure;
using engine_kit::taken;
using namespace isolation;

namespace
{

// The most that a machine could have of a plan's time, memory and operations.
constexpr double most_run_seconds = 1e6;
constexpr int64_t most_run_bytes = int64_t{1} << 50;
constexpr double most_run_operations = 1e18;

const Patience short_patience = {.limit = Limits::of_a_question};

ShapesRequest shapes_request(Kind kind, int64_t id, const DnnTorchTensor *in, size_t in_count)
{
    if (in_count > most_inputs)
        throw Failure(DNN_TORCH_BAD_INPUT, concat("a model in a process of its own takes at most ",
                                                  most_inputs, " tensors and not ", in_count));
    ShapesRequest request = {};
    request.head = {.kind = kind, .reserved = 0, .id = id};
    request.in_count = static_cast<uint32_t>(in_count);
    for (size_t i = 0; i < in_count; i++)
        request.in[i] = to_wire(taken(element(in, i)));
    return request;
}

// Fills in the request's fields about the samples.
Descriptor memory_of_samples(const DnnTorchTensor &samples, ShapesRequest &request)
{
    request.samples = to_wire(samples);
    const std::optional<int64_t> span = span_of(request.samples);
    if (!span || !samples.data)
        throw Failure(DNN_TORCH_BAD_INPUT, "the pictures to calibrate with are no tensor");
    request.samples_bytes = static_cast<uint64_t>(*span);
    Descriptor memory = make_constant_memory(samples.data, request.samples_bytes);
    if (!memory.is_open())
        throw Failure(DNN_TORCH_OUT_OF_MEMORY,
                      "there is no memory for the pictures to calibrate with");
    return memory;
}

bool makes_sense(const WireInfo &info)
{
    return info.rank >= -1 && info.rank <= DNN_TORCH_DIMENSIONS && info.type >= 0 &&
           info.type <= DNN_TORCH_BOOL &&
           std::all_of(std::begin(info.dims), std::end(info.dims),
                       [](int64_t extent) { return extent >= -1; });
}

bool makes_sense(const PlanReply &reply)
{
    return reply.run_seconds >= 0 && reply.run_seconds <= most_run_seconds &&
           reply.run_bytes >= 0 && reply.run_bytes <= most_run_bytes && reply.run_operations >= 0 &&
           reply.run_operations <= most_run_operations;
}

DnnTorchTensorInfo info_of(const WireInfo &wire)
{
    auto info = engine_kit::sized<DnnTorchTensorInfo>();
    engine_kit::copy_as_line(text_of(wire.name), info.name, sizeof info.name);
    engine_kit::copy_as_line(text_of(wire.type_text), info.type_text, sizeof info.type_text);
    info.type = wire.type;
    info.rank = wire.rank;
    std::copy(std::begin(wire.dims), std::end(wire.dims), info.dims);
    return info;
}

std::vector<Descriptor> copies_of(const std::vector<Descriptor> &files)
{
    std::vector<Descriptor> copies;
    copies.reserve(files.size());
    for (const Descriptor &file : files)
        copies.emplace_back(fcntl(file.get(), F_DUPFD_CLOEXEC, 0));
    return copies;
}

std::optional<std::string> ask_for_text(Child &child, Kind kind, int64_t id, const std::string &key)
{
    KeyRequest request = {.head = {.kind = kind, .reserved = 0, .id = id}, .key = {}};
    if (key.size() >= sizeof request.key)
        return std::nullopt;
    std::memcpy(request.key, key.data(), key.size());
    const auto reply = child.ask<TextReply>(request, short_patience);
    check_status(reply.head);
    return reply.is_known ? std::optional<std::string>(text_of(reply.text)) : std::nullopt;
}

} // namespace

// ---- a model ------------------------------------------------------------------------

DnnTorchModel::DnnTorchModel(Settings settings, Start start)
    : settings_(std::move(settings)), start_(std::move(start)),
      broker_(std::make_shared<engine_torch::TuningBroker>(settings_.request->name,
                                                           copies_of(settings_.files)))
{
    ChildHandle opened = ready_child();
    try {
        await_opening(*opened);
    } catch (const Crash &) {
        throw;
    } catch (const Failure &) {
        keep_spare(std::move(opened), settings_); // the caller may know other options
        throw;
    }
    child_ = std::move(opened);
    settings_.sink = Descriptor(); // a reader of its other end waits for the end of the file
}

DnnTorchModel::~DnnTorchModel()
{
    if (!is_used_)
        keep_spare(std::move(child_), settings_);
}

Child::OnNotice DnnTorchModel::notice_reader()
{
    return [this](std::string_view notice) { texts_.note("notice", notice); };
}

DnnTorchModel::ChildHandle DnnTorchModel::start_child()
{
    ChildHandle started = start_(notice_reader(), broker_);
    request_opening(*started, settings_.limits.open());
    return started;
}

DnnTorchModel::ChildHandle DnnTorchModel::ready_child()
{
    if (ChildHandle spare = take_spare(settings_)) {
        try {
            spare->report_to(notice_reader());
            constexpr auto moment = std::chrono::seconds(2);
            request_opening(*spare, moment);
            return spare;
        } catch (const Crash &) {
            // It ended while it waited, or does not answer at once.
        }
    }
    return start_child();
}

void DnnTorchModel::request_opening(Child &child, const Limits::Limit &limit)
{
    std::vector<int> given;
    for (const Descriptor &file : settings_.files)
        given.push_back(file.get());
    if (settings_.sink.is_open())
        given.push_back(settings_.sink.get());
    if (!send(child.control(), *settings_.request, Sending::never_waits, given))
        child.refuse("it takes no request");
    const auto cage = child.receive<CageReply>(child.control(), Kind::cage, {.limit = limit});
    check_status(cage.head);
    texts_.note("cage", text_of(cage.report));
    texts_.note("engine_name", text_of(cage.engine_name));
    texts_.note("engine_version", text_of(cage.engine_version));
}

void DnnTorchModel::await_opening(Child &child) const
{
    check_status(
        child.receive<PlainReply>(child.control(), Kind::open, {.limit = settings_.limits.open()})
            .head);
}

DnnTorchModel::ChildHandle DnnTorchModel::child() const
{
    const std::lock_guard lock(mutex_);
    return child_;
}

void DnnTorchModel::start_anew(const ChildHandle &ended, const Crash &crash)
{
    {
        const std::lock_guard lock(mutex_);
        if (child_ != ended && !child_->has_ended())
            return;
        if (restarts_ >= settings_.restarts)
            throw crash;
        restarts_++;
    }
    try {
        ChildHandle opened = start_child();
        await_opening(*opened);
        const std::lock_guard lock(mutex_);
        child_.swap(opened);
    } catch (const Failure &failure) {
        throw Crash(concat(crash.what(), "; it cannot be started anew: ", failure.what()));
    }
}

size_t DnnTorchModel::tensors(DnnTorchDirection direction, DnnTorchTensorInfo *infos,
                              size_t capacity)
{
    const TensorsRequest request = {.head = {.kind = Kind::tensors, .reserved = 0, .id = 0},
                                    .direction = direction,
                                    .reserved = 0};
    ChildHandle current;
    TensorsReply reply;
    with_retry([&] {
        current = child();
        reply = current->ask<TensorsReply>(request, short_patience);
    });
    check_status(reply.head);
    const WireInfo *const begin = reply.infos;
    const WireInfo *const end = begin + std::min<uint64_t>(reply.count, most_infos);
    if (reply.count > most_infos ||
        !std::all_of(begin, end, [](const WireInfo &info) { return makes_sense(info); }))
        current->refuse("a description of tensors");
    for (size_t i = 0; i < std::min<uint64_t>(capacity, reply.count); i++)
        engine_kit::give_element(info_of(reply.infos[i]), infos, i);
    return reply.count;
}

const char *DnnTorchModel::metadata(const std::string &key)
{
    return texts_.answer(key, [&] {
        std::optional<std::string> answer;
        with_retry([&] { answer = ask_for_text(*child(), Kind::metadata, 0, key); });
        return answer;
    });
}

void DnnTorchModel::probe(const DnnTorchTensor *in, size_t in_count, DnnTorchTensor *out,
                          size_t out_count)
{
    note_use();
    ShapesRequest request = shapes_request(Kind::probe, 0, in, in_count);
    if (out_count > most_outputs)
        throw Failure(DNN_TORCH_BAD_INPUT, "a model returns fewer tensors");
    request.out_count = static_cast<uint32_t>(out_count);
    ChildHandle current;
    ProbeReply reply;
    with_retry([&] {
        current = child();
        reply = current->ask<ProbeReply>(request, {.limit = settings_.limits.probe()});
    });
    check_status(reply.head);
    const Checked checked = check_shapes(reply.out, out_count, results());
    if (!checked.count)
        current->refuse(checked.fault);
    for (size_t i = 0; i < out_count; i++) {
        auto shape = engine_kit::sized<DnnTorchTensor>();
        if (i < *checked.count)
            shape = view_of(reply.out, i, nullptr);
        shape.white = taken(element(out, i)).white;
        engine_kit::give_element(shape, out, i);
    }
}

// ---- a plan -------------------------------------------------------------------------

DnnTorchPlan::DnnTorchPlan(DnnTorchModel &model, const DnnTorchTensor *in, size_t in_count,
                           const DnnTorchPlanParameters &parameters)
    : model_(model), id_(model.new_id()), request_(shapes_request(Kind::plan, id_, in, in_count))
{
    model.note_use();
    request_.budget_seconds = parameters.budget_seconds;
    request_.as_saved = parameters.as_saved;
    if (parameters.samples)
        samples_ = memory_of_samples(taken(parameters.samples), request_);
    PlanReply reply;
    model.with_retry([&] {
        child_ = model.child();
        reply = make_in(*child_);
    });
    if (!makes_sense(reply))
        child_->refuse("what a run costs");
    facts_ = {.size = sizeof facts_,
              .run_seconds = reply.run_seconds,
              .run_bytes = reply.run_bytes,
              .interleaved = reply.interleaved != 0,
              .takes_integers = reply.takes_integers != 0,
              .in_order = reply.in_order != 0,
              .alone = reply.alone != 0,
              .run_operations = reply.run_operations,
              .rounds_to_16_bits = reply.rounds_to_16_bits != 0};
    // A plan that is made anew does not measure again.
    request_.budget_seconds = 0;
    if (!model.may_start_anew())
        samples_ = Descriptor();
}

PlanReply DnnTorchPlan::make_in(Child &child) const
{
    const int descriptor = samples_.get();
    ShapesRequest request = request_;
    if (is_as_saved_)
        request.as_saved = 1;
    auto reply =
        child.ask<PlanReply>(request, {.limit = model_.limits().plan(request_.budget_seconds)},
                             {&descriptor, samples_.is_open() ? 1U : 0U});
    check_status(reply.head);
    return reply;
}

DnnTorchPlan::~DnnTorchPlan()
{
    child_->tell(Kind::plan_close, id_);
}

const char *DnnTorchPlan::metadata(const std::string &key) const
{
    const auto ask = [&] {
        std::optional<std::string> answer;
        model_.with_retry([&] {
            const DnnTorchModel::ChildHandle current = model_.child();
            follow(current);
            answer = ask_for_text(*current, Kind::plan_metadata, id_, key);
        });
        return answer;
    };
    return texts_.answer(key, ask);
}

void DnnTorchPlan::follow(const DnnTorchModel::ChildHandle &child) const
{
    const std::lock_guard lock(mutex_);
    if (child == child_)
        return;
    make_in(*child);
    child_ = child;
    has_moved_ = true;
}
