// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "channel_server.h"

#include "isolation/protocol/shared_memory.h"
#include "isolation/protocol/tensor_views.h"
#include "output_copy.h"
#include "reply.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <unistd.h>
#include <utility>

namespace isolation
{
namespace
{

// What inputs without a valid shape point to.
alignas(64) std::array<char, 64> nothing;

// Copies the request into an object of its type.
template <class Request> Request request_of(std::span<const char> bytes)
{
    if (bytes.size() != sizeof(Request))
        leave("the host sent a message of another size");
    Request request;
    std::memcpy(&request, bytes.data(), sizeof request);
    return request;
}

DnnTorchMessage &message_of(ReplyHead &head)
{
    static_assert(sizeof head.message == sizeof(DnnTorchMessage));
    return reinterpret_cast<DnnTorchMessage &>(head.message);
}

std::vector<DnnTorchTensor> tensors_of(const WireTensor (&wires)[most_inputs], size_t count)
{
    require(count <= most_inputs);
    std::vector<DnnTorchTensor> tensors;
    for (size_t i = 0; i < count; i++)
        tensors.push_back(from_wire(wires[i]));
    return tensors;
}

bool fits(const WireTensor &wire, int64_t offset, size_t bytes)
{
    const std::optional<int64_t> span = span_of(wire);
    int64_t end = 0;
    return span && offset >= 0 && !__builtin_add_overflow(offset, *span, &end) &&
           static_cast<uint64_t>(end) <= bytes;
}

// Returns an empty mapping if there are no samples.
Mapping samples_memory(const ShapesRequest &request, std::span<const Descriptor> descriptors)
{
    if (!request.samples_bytes)
        return {};
    require(fits(request.samples, 0, request.samples_bytes));
    Mapping memory;
    if (!descriptors.empty())
        memory = map_memory(descriptors.front().get(), request.samples_bytes, Writer::host);
    if (!memory.start())
        leave("the memory of samples cannot be mapped; raise what limits memory (ulimit -v)");
    return memory;
}

void fail(ReplyHead &head, DnnTorchStatus status, const char *text)
{
    head.status = status;
    put_text(text, head.message);
}

} // namespace

// ---- a session's state --------------------------------------------------------------

struct ChannelServer::OpenSession {
    explicit OpenSession(ServedModel &served) : model(served) {}
    ~OpenSession()
    {
        model.forget_session(id);
        model.engine().session_close(&session);
    }

    void take_areas(const RunRequest &request, std::span<const Descriptor> descriptors);
    std::vector<DnnTorchTensor> inputs(const RunRequest &request) const;

    ServedModel &model;
    int64_t id = 0;
    SharedPlan plan;
    DnnTorchSession *session = nullptr;
    std::array<Mapping, area_count> areas;
    Mapping output;
};

void ChannelServer::OpenSession::take_areas(const RunRequest &request,
                                            std::span<const Descriptor> descriptors)
{
    size_t next = 0;
    for (size_t i = 0; i < area_count; i++) {
        if (!request.new_areas[i])
            continue;
        areas[i] = Mapping();
        if (next < descriptors.size())
            areas[i] = map_memory(descriptors[next++].get(), request.new_areas[i], Writer::host);
        if (!areas[i].start())
            leave("the memory of an input cannot be mapped; lower the frame size, or raise what "
                  "limits "
                  "memory (ulimit -v)");
    }
}

std::vector<DnnTorchTensor> ChannelServer::OpenSession::inputs(const RunRequest &request) const
{
    std::vector<DnnTorchTensor> in = tensors_of(request.in, request.in_count);
    for (size_t i = 0; i < in.size(); i++) {
        const WireTensor &wire = request.in[i];
        if (wire.offset >= 0) {
            const auto area = static_cast<size_t>(wire.area);
            require(area < area_count && fits(wire, wire.offset, areas[area].size()));
            in[i].data = areas[area].start() + wire.offset;
        } else if (wire.offset == no_elements) {
            require(span_of(wire).value_or(0) == 0);
            in[i].data = nothing.data();
        }
    }
    return in;
}

// ---- a channel ----------------------------------------------------------------------

ChannelServer::ChannelServer(Descriptor socket, ServedModel &model)
    : socket_(std::move(socket)), model_(model)
{
}

ChannelServer::~ChannelServer()
{
    const ServedModel::Use use(model_);
    session_.reset();
}

void ChannelServer::serve()
{
    std::vector<char> bytes(largest_request);
    for (;;) {
        ReceivedMessage received = receive_message(socket_.get(), bytes.data(), bytes.size());
        if (received.size < sizeof(Head))
            return;
        const ServedModel::Use use(model_);
        Head head = {};
        std::memcpy(&head, bytes.data(), sizeof head);
        answer(head.kind, std::span(bytes).first(received.size), received.descriptors);
    }
}

void ChannelServer::answer(Kind kind, std::span<const char> bytes,
                           std::span<const Descriptor> descriptors)
{
    switch (kind) {
    case Kind::tensors:
        return answer(request_of<TensorsRequest>(bytes));
    case Kind::metadata:
        return answer_metadata(request_of<KeyRequest>(bytes));
    case Kind::plan_metadata:
        return answer_plan_metadata(request_of<KeyRequest>(bytes));
    case Kind::probe:
        return answer_probe(request_of<ShapesRequest>(bytes));
    case Kind::plan:
        return answer_plan(request_of<ShapesRequest>(bytes), descriptors);
    case Kind::session_open:
        return answer(request_of<SessionRequest>(bytes));
    case Kind::session_run:
        return answer(request_of<RunRequest>(bytes), descriptors);
    case Kind::session_warm:
    case Kind::session_reset:
    case Kind::session_close:
        return answer_plain(request_of<PlainRequest>(bytes));
    default:
        leave("the host sent a message that is not known");
    }
}

// ---- requests about the model -------------------------------------------------------

void ChannelServer::answer(const TensorsRequest &request)
{
    std::vector<DnnTorchTensorInfo> infos(most_infos, {.size = sizeof(DnnTorchTensorInfo)});
    const size_t count = model_.engine().model_tensors(
        model_.get(), static_cast<DnnTorchDirection>(request.direction), infos.data(),
        infos.size());
    auto reply = new_reply<TensorsReply>(Kind::tensors);
    reply->count = std::min(count, most_infos);
    for (size_t i = 0; i < reply->count; i++) {
        WireInfo &wire = reply->infos[i];
        std::memcpy(wire.name, infos[i].name, sizeof wire.name);
        std::memcpy(wire.type_text, infos[i].type_text, sizeof wire.type_text);
        std::copy(std::begin(infos[i].dims), std::end(infos[i].dims), wire.dims);
        wire.type = infos[i].type;
        wire.rank = infos[i].rank;
    }
    send_reply(socket_.get(), *reply, model_);
}

void ChannelServer::answer_text(const Head &head, const char *text)
{
    auto reply = new_reply<TextReply>(head.kind);
    reply->is_known = text != nullptr;
    put_text(text ? text : "", reply->text);
    send_reply(socket_.get(), *reply, model_);
}

void ChannelServer::answer_metadata(const KeyRequest &request)
{
    require_end(request.key);
    answer_text(request.head, model_.engine().model_metadata(model_.get(), request.key));
}

void ChannelServer::answer_probe(const ShapesRequest &request)
{
    auto reply = new_reply<ProbeReply>(Kind::probe);
    const std::vector<DnnTorchTensor> in = tensors_of(request.in, request.in_count);
    require(request.out_count <= most_outputs);
    std::vector<DnnTorchTensor> out(request.out_count, {.size = sizeof(DnnTorchTensor)});
    reply->head.status = model_.engine().model_probe(model_.get(), in.data(), in.size(), out.data(),
                                                     out.size(), &message_of(reply->head));
    const size_t there = reply->head.status == DNN_TORCH_OK ? count_there(out) : 0;
    for (size_t i = 0; i < there; i++) {
        reply->out.tensors[i] = to_wire(out[i]);
        if (!has_shape(reply->out.tensors[i], Extents::from_zero))
            fail(reply->head, DNN_TORCH_BAD_OUTPUT, "the engine found no shape that is known");
    }
    send_reply(socket_.get(), *reply, model_);
}

// ---- requests about plans -----------------------------------------------------------

void ChannelServer::answer_plan(const ShapesRequest &request,
                                std::span<const Descriptor> descriptors)
{
    auto reply = new_reply<PlanReply>(Kind::plan);
    const std::vector<DnnTorchTensor> in = tensors_of(request.in, request.in_count);
    const Mapping memory = samples_memory(request, descriptors);
    DnnTorchTensor samples = from_wire(request.samples);
    samples.data = memory.start();
    const DnnTorchPlanParameters parameters = {.size = sizeof parameters,
                                               .budget_seconds = request.budget_seconds,
                                               .samples = samples.data ? &samples : nullptr,
                                               .as_saved = request.as_saved};
    DnnTorchPlan *plan = nullptr;
    reply->head.status = model_.engine().plan_make(model_.get(), in.data(), in.size(), &parameters,
                                                   &plan, &message_of(reply->head));
    if (plan) {
        const DnnTorchPlanFacts facts = facts_of(plan);
        reply->run_seconds = facts.run_seconds;
        reply->run_bytes = facts.run_bytes;
        reply->run_operations = facts.run_operations;
        reply->interleaved = facts.interleaved;
        reply->takes_integers = facts.takes_integers;
        reply->in_order = facts.in_order;
        reply->alone = facts.alone;
        reply->rounds_to_16_bits = facts.rounds_to_16_bits;
        model_.add_plan(request.head.id, plan);
    }
    send_reply(socket_.get(), *reply, model_);
}

DnnTorchPlanFacts ChannelServer::facts_of(const DnnTorchPlan *plan) const
{
    DnnTorchPlanFacts facts = {.size = sizeof facts};
    model_.engine().plan_facts(plan, &facts);
    return facts;
}

void ChannelServer::answer_plan_metadata(const KeyRequest &request)
{
    require_end(request.key);
    const SharedPlan plan = model_.plan(request.head.id);
    answer_text(request.head,
                plan ? model_.engine().plan_metadata(plan.get(), request.key) : nullptr);
}

// ---- requests about sessions --------------------------------------------------------

void ChannelServer::answer(const SessionRequest &request)
{
    auto reply = new_reply<SessionReply>(Kind::session_open);
    reply->thread = gettid();
    auto opened = std::make_unique<OpenSession>(model_);
    opened->id = request.head.id;
    opened->plan = model_.plan(request.plan);
    if (!opened->plan)
        fail(reply->head, DNN_TORCH_INTERNAL, "the plan of a session is not known");
    else
        reply->head.status = model_.engine().session_open(
            opened->plan.get(), request.threads, &opened->session, &message_of(reply->head));
    if (reply->head.status == DNN_TORCH_OK) {
        model_.add_session(opened->id, opened->session);
        session_ = std::move(opened);
    }
    send_reply(socket_.get(), *reply, model_);
}

void ChannelServer::answer_plain(const PlainRequest &request)
{
    auto reply = new_reply<PlainReply>(request.head.kind);
    if (!session_)
        fail(reply->head, DNN_TORCH_INTERNAL, "the channel has no session");
    else if (request.head.kind == Kind::session_warm)
        model_.engine().session_warm(session_->session);
    else if (request.head.kind == Kind::session_reset)
        reply->head.status =
            model_.engine().session_reset(session_->session, &message_of(reply->head));
    else
        session_.reset();
    send_reply(socket_.get(), *reply, model_);
}

void ChannelServer::answer(const RunRequest &request, std::span<const Descriptor> descriptors)
{
    auto reply = new_reply<RunReply>(Kind::session_run);
    if (!session_) {
        fail(reply->head, DNN_TORCH_INTERNAL, "the channel has no session");
        return send_reply(socket_.get(), *reply, model_);
    }
    require(request.out_count <= most_outputs);
    session_->take_areas(request, descriptors);
    const std::vector<DnnTorchTensor> in = session_->inputs(request);
    std::vector<DnnTorchTensor> out;
    for (size_t i = 0; i < request.out_count; i++)
        out.push_back({.size = sizeof(DnnTorchTensor),
                       .data = nullptr,
                       .type = request.requested[i].type,
                       .white = request.requested[i].white});
    DnnTorchRun run = {.size = sizeof run,
                       .number = request.number,
                       .had_nan = 0,
                       .retries = 0,
                       .more = request.more,
                       .predecessor_distance = request.predecessor_distance};
    reply->head.status =
        model_.engine().session_run(session_->session, in.data(), in.size(), out.data(), out.size(),
                                    &run, &message_of(reply->head));
    reply->had_nan = run.had_nan;
    reply->as_saved = facts_of(session_->plan.get()).as_saved;
    if (reply->head.status == DNN_TORCH_OK)
        hand_over(out, *reply);
    send_reply(socket_.get(), *reply, model_);
}

// The host makes the memory, so that it can trust its size.
void ChannelServer::hand_over(std::span<const DnnTorchTensor> all, RunReply &reply)
{
    const std::span out = all.first(count_there(all));
    const std::span places = std::span(reply.out.tensors).first(out.size());
    const std::optional<uint64_t> bytes = lay_out(out, places);
    if (!bytes)
        return fail(reply.head, DNN_TORCH_BAD_OUTPUT,
                    "the engine gave a tensor of no known type or shape");
    if (*bytes > session_->output.size() && !ask_for_output(*bytes))
        return fail(reply.head, DNN_TORCH_OUT_OF_MEMORY,
                    "there is no memory for the model's results; lower the frame size, "
                    "batch_size or workers");
    copy_out(out, places, session_->output.start());
}

bool ChannelServer::ask_for_output(uint64_t bytes)
{
    auto reply = new_reply<RunReply>(Kind::session_run);
    reply->wanted_bytes = bytes;
    send_reply(socket_.get(), *reply, model_);
    OutputRequest answer = {};
    const ReceivedMessage received = receive_message(socket_.get(), &answer, sizeof answer);
    session_->output = Mapping();
    if (received.size == sizeof answer && answer.bytes >= bytes && !received.descriptors.empty())
        session_->output =
            map_memory(received.descriptors.front().get(), answer.bytes, Writer::child);
    return session_->output.start() != nullptr;
}

} // namespace isolation
