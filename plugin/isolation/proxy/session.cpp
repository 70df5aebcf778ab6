// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "session.h"

#include "base/compose.h"
#include "engine_kit/sized.h"
#include "isolation/cage/memory.h"
#include "isolation/protocol/tensor_views.h"
#include "taken_outputs.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>

using dnn_torch::concat;
using engine_kit::element;
using engine_kit::Failure;
using engine_kit::taken;
using namespace isolation;

namespace
{

constexpr auto time_to_close = std::chrono::seconds(1);
// Suits vector loads.
constexpr int64_t alignment = 64;

constexpr size_t index_of(Area area)
{
    return static_cast<size_t>(area);
}

// A quarter of the memory, so that several sessions leave some to other programs.
uint64_t most_output_bytes()
{
    static const auto quarter = static_cast<uint64_t>(dnn_torch::usable_memory_bytes() / 4);
    return quarter ? quarter : uint64_t{1} << 30;
}

// The most that results may take, whatever the child says: eight times the width and height, and
// a float for each byte.
uint64_t most_output_bytes_of(uint64_t input_bytes)
{
    constexpr uint64_t always = uint64_t{64} << 20, growth = 8 * 8 * sizeof(float);
    const uint64_t most = most_output_bytes();
    return input_bytes < most / growth ? std::min(most, always + growth * input_bytes) : most;
}

// The kernel's limits for files apply to shared memory.
std::string hint_for(int error)
{
    if (error == EFBIG)
        return "raise what limits the size of files (ulimit -f), or write isolate=0";
    if (error == EMFILE || error == ENFILE)
        return "raise what limits open files (ulimit -n)";
    return "lower the frame size, batch_size or workers";
}

[[noreturn]] void throw_no_memory(const char *what, uint64_t bytes, int error)
{
    throw Failure(DNN_TORCH_OUT_OF_MEMORY,
                  concat("there is no shared memory for ", what, " of ",
                         (bytes + (1 << 20) - 1) >> 20,
                         " MiB: ", std::generic_category().message(error), "; ", hint_for(error)));
}

[[noreturn]] void throw_too_large(uint64_t bytes, uint64_t most)
{
    throw Failure(DNN_TORCH_BAD_OUTPUT, concat("the model returned ", bytes >> 20,
                                               " MiB, and a process of its own may "
                                               "return ",
                                               most >> 20,
                                               " MiB for what it got; if you trust the file, "
                                               "write isolate=0"));
}

uint64_t input_bytes(const RunRequest &request)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < request.in_count; i++)
        bytes += static_cast<uint64_t>(span_of(request.in[i]).value_or(0));
    return bytes;
}

} // namespace

// ---- opening and closing ------------------------------------------------------------

DnnTorchSession::DnnTorchSession(const DnnTorchPlan &plan, int32_t threads)
    : plan_(plan), threads_(threads), id_(plan.model().new_id()),
      stop_event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
    if (!stop_event_.is_open())
        throw Failure(DNN_TORCH_OUT_OF_MEMORY,
                      "a session lacks a descriptor; raise what limits files (ulimit -n)");
    with_retry([this] { follow_model(); });
}

// The child closes a lost session itself when its run comes back.
DnnTorchSession::~DnnTorchSession()
{
    if (!channel_.is_open())
        return;
    try {
        const PlainRequest request = {{.kind = Kind::session_close, .reserved = 0, .id = id_}};
        child_->ask<PlainReply>(channel_.get(), request,
                                {.limit = time_to_close, .ends_child = false});
    } catch (const std::exception &) {
        // The child has ended, and the session with it.
    }
}

void DnnTorchSession::follow_model()
{
    if (DnnTorchModel::ChildHandle current = plan_.model().child(); current != child_)
        open_in(current);
}

void DnnTorchSession::open_in(const DnnTorchModel::ChildHandle &child)
{
    plan_.follow(child);
    Descriptor channel = child->open_channel();
    const SessionRequest request = {.head = {.kind = Kind::session_open, .reserved = 0, .id = id_},
                                    .plan = plan_.id(),
                                    .threads = threads_,
                                    .reserved = 0};
    const auto reply =
        child->ask<SessionReply>(channel.get(), request, {.limit = plan_.model().limits().open()});
    check_status(reply.head);
    child->follow_affinity(reply.thread);
    channel_ = std::move(channel);
    child_ = child;
    for (InputArea &area : areas_)
        area.is_sent = false;
    output_ = {};
    const std::lock_guard lock(mutex_);
    child_to_stop_ = child;
    if (stopped_)
        child->tell(Kind::stop, id_);
}

// ---- stopping -----------------------------------------------------------------------

void DnnTorchSession::stop() noexcept
{
    stopped_ = true;
    eventfd_write(stop_event_.get(), 1);
    plan_.model().run_gate().note_stop();
    const std::lock_guard lock(mutex_);
    if (child_to_stop_)
        child_to_stop_->tell(Kind::stop, id_);
}

void DnnTorchSession::check_stopped() const
{
    if (stopped_)
        throw Stopped();
}

Patience DnnTorchSession::patience() const
{
    return {.limit = std::nullopt, .stop_event = stop_event_.get()};
}

// ---- calls --------------------------------------------------------------------------

template <class Act> std::optional<Crash> DnnTorchSession::with_retry(Act act)
{
    return plan_.model().with_retry(stopped_, act);
}

// Also drops the output's memory: what the child filled would count for this process.
void DnnTorchSession::forget_channel()
{
    channel_ = Descriptor();
    output_ = {};
}

// Opens the session in the model's current child, calls `act`, and closes a channel that cannot be
// used any more.
template <class Act> void DnnTorchSession::on_channel(Act act)
{
    follow_model();
    if (!channel_.is_open() && child_->has_ended())
        child_->throw_crash();
    if (!channel_.is_open())
        throw Lost();
    try {
        act();
    } catch (const Lost &) {
        forget_channel();
        throw;
    } catch (const Crash &) {
        forget_channel();
        throw;
    }
}

void DnnTorchSession::ask_plainly(Kind kind)
{
    with_retry([&] {
        on_channel([&] {
            const PlainRequest request = {{.kind = kind, .reserved = 0, .id = id_}};
            check_status(child_->ask<PlainReply>(channel_.get(), request, patience()).head);
        });
    });
}

void DnnTorchSession::warm()
{
    if (!stopped_)
        ask_plainly(Kind::session_warm);
}

void DnnTorchSession::reset()
{
    ask_plainly(Kind::session_reset);
}

void *DnnTorchSession::memory(size_t bytes)
{
    InputArea &given = areas_[index_of(Area::given)];
    return given.reserve(bytes) ? given.memory.mapping.start() : nullptr;
}

bool DnnTorchSession::InputArea::reserve(size_t bytes)
{
    if (memory.mapping.size() >= bytes && bytes > 0)
        return true;
    memory = make_shared_memory(bytes, Writer::host);
    is_sent = false;
    return memory.mapping.start() != nullptr;
}

// ---- a run --------------------------------------------------------------------------

std::string DnnTorchSession::run(const DnnTorchTensor *in, size_t in_count, DnnTorchTensor *out,
                                 size_t out_count, DnnTorchRun &run)
{
    run.retries = 0;
    check_stopped();
    if (in_count > most_inputs || out_count > most_outputs)
        throw Failure(DNN_TORCH_BAD_INPUT,
                      concat("a model in a process of its own takes at most ", most_inputs,
                             " tensors and returns at most ", most_outputs));
    int tries = 0;
    const std::optional<Crash> crash = with_retry([&] {
        run.retries = tries++;
        run_once(in, in_count, out, out_count, run);
    });
    return crash ? crash->what() : "";
}

void DnnTorchSession::run_once(const DnnTorchTensor *in, size_t in_count, DnnTorchTensor *out,
                               size_t out_count, DnnTorchRun &run)
{
    auto request = std::make_unique<RunRequest>();
    request->head = {.kind = Kind::session_run, .reserved = 0, .id = id_};
    request->number = run.number;
    request->more = run.more;
    request->in_count = static_cast<uint32_t>(in_count);
    request->out_count = static_cast<uint32_t>(out_count);
    for (size_t i = 0; i < out_count; i++) {
        const auto wanted = taken(element(out, i));
        request->requested[i] = {.type = wanted.type, .white = wanted.white};
    }
    on_channel([&] {
        request->predecessor_distance = plan_.has_moved() ? 0 : run.predecessor_distance;
        place_inputs(in, in_count, *request);
        const RunReply reply = exchange(*request);
        check_status(reply.head);
        take_outputs(reply, out, out_count);
        run.had_nan = reply.had_nan != 0;
        if (reply.as_saved)
            plan_.keep_as_saved();
    });
}

// Also sends the areas that the child does not have yet.
RunReply DnnTorchSession::exchange(const RunRequest &request)
{
    int descriptors[area_count];
    size_t count = 0;
    for (size_t i = 0; i < area_count; i++)
        if (request.new_areas[i])
            descriptors[count++] = areas_[i].memory.descriptor.get();
    auto reply = child_->ask<RunReply>(channel_.get(), request, patience(), {descriptors, count});
    for (InputArea &area : areas_)
        area.is_sent = area.memory.mapping.start() != nullptr;
    if (!reply.wanted_bytes)
        return reply;
    const uint64_t wanted = reply.wanted_bytes, most = most_output_bytes_of(input_bytes(request));
    const int error = wanted > most ? give_output_memory(0) : give_output_memory(wanted);
    reply = child_->receive<RunReply>(channel_.get(), Kind::session_run, patience());
    if (wanted > most)
        throw_too_large(wanted, most);
    if (error)
        throw_no_memory("results", wanted, error);
    if (reply.wanted_bytes)
        child_->refuse("a second request for memory");
    return reply;
}

// Returns an errno value, or 0.  The host makes the memory, because the child could take its own
// away while we read it.  The child may keep what it had before, so each piece is larger than all
// before it together.  0 bytes tell the child that it gets none.
int DnnTorchSession::give_output_memory(uint64_t bytes)
{
    if (bytes > 0 && bytes <= output_.mapping.size())
        child_->refuse("a request for memory that it has");
    output_ = {};
    if (bytes > 0)
        output_ = make_shared_memory(std::bit_ceil(bytes), Writer::child);
    const bool is_made = output_.mapping.start() != nullptr;
    const int error = is_made || bytes == 0 ? 0 : errno;
    const OutputRequest answer = {.head = {.kind = Kind::output, .reserved = 0, .id = id_},
                                  .bytes = is_made ? output_.mapping.size() : 0};
    const int descriptor = output_.descriptor.get();
    if (!send(channel_.get(), answer, Sending::never_waits, {&descriptor, is_made ? 1U : 0U}))
        child_->refuse("it takes no memory");
    return error;
}

// ---- tensors ------------------------------------------------------------------------

bool DnnTorchSession::lies_in_given(const DnnTorchTensor &tensor, int64_t span,
                                    int64_t &offset) const
{
    const Mapping &given = areas_[index_of(Area::given)].memory.mapping;
    const auto start = reinterpret_cast<uintptr_t>(given.start());
    const auto at = reinterpret_cast<uintptr_t>(tensor.data);
    if (!given.start() || at < start || at - start > given.size() ||
        static_cast<uint64_t>(span) > given.size() - (at - start))
        return false;
    offset = static_cast<int64_t>(at - start);
    return true;
}

// Copies tensors that are elsewhere.  Invalid ones go without memory: the engine refuses them in
// its own words.
void DnnTorchSession::place_inputs(const DnnTorchTensor *in, size_t in_count, RunRequest &request)
{
    InputArea &copied = areas_[index_of(Area::copied)];
    std::array<int64_t, most_inputs> spans = {};
    int64_t bytes = 0;
    for (size_t i = 0; i < in_count; i++) {
        const auto tensor = taken(element(in, i));
        WireTensor &wire = request.in[i] = to_wire(tensor);
        const int64_t span = span_of(wire).value_or(0);
        wire.offset = tensor.data ? no_elements : no_memory;
        if (!tensor.data || span == 0 || lies_in_given(tensor, span, wire.offset))
            continue;
        wire.area = Area::copied;
        wire.offset = bytes;
        spans[i] = span;
        bytes += (span + alignment - 1) / alignment * alignment;
    }
    if (bytes > 0 && !copied.reserve(static_cast<size_t>(bytes)))
        throw_no_memory("inputs", static_cast<uint64_t>(bytes), errno);
    for (size_t i = 0; i < in_count; i++)
        if (spans[i] > 0)
            std::memcpy(copied.memory.mapping.start() + request.in[i].offset,
                        taken(element(in, i)).data, static_cast<size_t>(spans[i]));
    for (size_t i = 0; i < area_count; i++)
        request.new_areas[i] = areas_[i].is_sent ? 0 : areas_[i].memory.mapping.size();
}

// Samples of pictures are read where they are, each once.  Other tensors hold indices and counts,
// which are checked before they are used, and are copied first: the child may change its memory
// between the two.
char *DnnTorchSession::memory_of_outputs(const WireOutputs &outputs, size_t count)
{
    static char no_memory_yet = 0; // where all tensors are empty
    if (!output_.mapping.start())
        return &no_memory_yet;
    if (plan_.model().results() == Results::picture)
        return output_.mapping.start();
    copied_.resize((bytes_used(std::span(outputs.tensors).first(count)) + 7) / 8);
    // memcpy() may read twice.  Memory has whole pages.
    const auto *const words = reinterpret_cast<volatile uint64_t *>(output_.mapping.start());
    std::copy(words, words + copied_.size(), copied_.begin());
    return reinterpret_cast<char *>(copied_.data());
}

void DnnTorchSession::take_outputs(const RunReply &reply, DnnTorchTensor *out, size_t out_count)
{
    const Checked checked =
        check_views(reply.out, out_count, plan_.model().results(), output_.mapping.size());
    if (!checked.count)
        child_->refuse(checked.fault);
    char *const memory = memory_of_outputs(reply.out, *checked.count);
    for (size_t i = 0; i < out_count; i++)
        engine_kit::give_element(i < *checked.count ? view_of(reply.out, i, memory)
                                                    : engine_kit::sized<DnnTorchTensor>(),
                                 out, i);
}
