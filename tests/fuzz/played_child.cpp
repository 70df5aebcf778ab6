// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "played_child.h"

#include "isolation/protocol/tensor_views.h"
#include "random.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <poll.h>
#include <sstream>

namespace fuzz
{
namespace
{

using isolation::Descriptor;
using isolation::Kind;

constexpr size_t largest_message = size_t{1} << 17;
constexpr int64_t alignment = 64;

// ---- tensors ------------------------------------------------------------------------

struct LayoutTensor {
    const char *name;
    int32_t type;
    std::vector<int64_t> dims;
};

struct Layout {
    const char *name;
    std::vector<LayoutTensor> tensors;
};

constexpr int32_t f32 = DNN_TORCH_F32, i64 = DNN_TORCH_I64;

// What models return of each kind that the host knows, for a small picture.
const std::vector<Layout> &layouts()
{
    static const std::vector<Layout> all = {
        {"picture", {{"", f32, {1, 2, 3, 4}}, {"1.labels", i64, {5}}, {"", f32, {0, 2, 3, 4}}}},
        {"nothing", {}},
        {"rows", {{"", f32, {40, 6}}}},
        {"batch-of-rows", {{"", f32, {1, 40, 6}}}},
        {"yolov7", {{"", f32, {40, 7}}}},
        {"yolov8", {{"", f32, {1, 9, 84}}}},
        {"yolov8-pose", {{"", f32, {1, 56, 84}}}},
        {"yolov8-obb", {{"", f32, {1, 20, 84}}}},
        {"yolov8-masks", {{"", f32, {1, 38, 84}}, {"", f32, {1, 32, 16, 16}}}},
        {"yolov5", {{"", f32, {1, 252, 10}}}},
        {"yolov5-masks", {{"", f32, {1, 252, 40}}, {"", f32, {1, 32, 16, 16}}}},
        {"yolox", {{"", f32, {1, 84, 25}}}},
        {"heads", {{"", f32, {1, 30, 8, 8}}, {"", f32, {1, 30, 4, 4}}, {"", f32, {1, 30, 2, 2}}}},
        {"ssd", {{"", f32, {1, 40, 4}}, {"", f32, {1, 40, 5}}}},
        {"detr", {{"logits", f32, {1, 100, 92}}, {"boxes", f32, {1, 100, 4}}}},
        {"rtdetr", {{"labels", i64, {1, 30}}, {"", f32, {1, 30, 4}}, {"", f32, {1, 30}}}},
        {"efficient-nms",
         {{"", i64, {1, 1}}, {"", f32, {1, 30, 4}}, {"", f32, {1, 30}}, {"", f32, {1, 30}}}},
        {"torchvision",
         {{"0.boxes", f32, {20, 4}},
          {"0.labels", i64, {20}},
          {"0.scores", f32, {20}},
          {"0.masks", f32, {20, 1, 16, 16}},
          {"0.keypoints", f32, {20, 5, 3}},
          {"0.keypoints_scores", f32, {20, 5}}}},
        {"no-boxes", {{"0.boxes", f32, {0, 4}}, {"0.labels", i64, {0}}, {"0.scores", f32, {0}}}},
        {"maps", {{"", f32, {1, 5, 8, 8}}}},
        {"one-map", {{"", f32, {1, 1, 8, 8}}}},
        {"numbers", {{"", i64, {1, 8, 8}}}},
        {"scores", {{"", f32, {1, 100}}}},
    };
    return all;
}

const Layout &layout_of(const std::string &name)
{
    for (const Layout &layout : layouts())
        if (name == layout.name)
            return layout;
    return layouts().front();
}

// Lays the tensors out as a well-behaved child would.  Returns the bytes of all.
size_t fill_soundly(const Layout &layout, isolation::WireOutputs &out)
{
    int64_t at = 0;
    for (size_t i = 0; i < layout.tensors.size(); i++) {
        const LayoutTensor &tensor = layout.tensors[i];
        isolation::WireTensor &wire = out.tensors[i];
        wire.type = tensor.type;
        wire.rank = static_cast<int32_t>(tensor.dims.size());
        std::copy(tensor.dims.begin(), tensor.dims.end(), wire.dims);
        std::strcpy(wire.name, tensor.name);
        isolation::pack_strides(wire);
        wire.offset = at;
        at += isolation::packed_bytes(wire, isolation::Extents::from_zero).value_or(0);
        at = (at + alignment - 1) / alignment * alignment;
    }
    return static_cast<size_t>(at);
}

// Numbers as detectors make them, and such as nobody should.
float any_float(Random &random)
{
    constexpr float infinity = std::numeric_limits<float>::infinity();
    constexpr float odd[] = {
        0,        -0.0F,     1,     -1,     0.5F,   0.99F, NAN,   1e7F,          -1e7F,  3e9F,
        infinity, -infinity, 1e30F, -1e30F, 1e-40F, 65535, 65536, 2147483648.0F, 9.3e18F};
    if (random.one_in(4))
        return random.pick(odd);
    const auto part = static_cast<float>(random.below(1000)) / 1000;
    return random.one_in(2) ? part : part * 64;
}

int64_t any_integer(Random &random)
{
    constexpr int64_t odd[] = {-1,
                               255,
                               256,
                               65535,
                               65536,
                               int64_t{1} << 31,
                               int64_t{1} << 32,
                               std::numeric_limits<int64_t>::max(),
                               std::numeric_limits<int64_t>::min()};
    return random.one_in(4) ? random.pick(odd) : static_cast<int64_t>(random.below(100));
}

// ---- fields -------------------------------------------------------------------------

// Most tensors are absent: the first few are as likely as all others.
void add_outputs(Fields &fields, size_t base)
{
    using isolation::WireTensor;
    for (size_t i = 0; i < isolation::most_outputs; i++)
        for (int times = 0; times < (i < 4 ? 8 : 1); times++) {
            const size_t at = base + i * sizeof(WireTensor);
            add_tensor(fields, at);
            add(fields, at + offsetof(WireTensor, name), 1, sizeof(WireTensor::name));
        }
}

void add_infos(Fields &fields)
{
    using isolation::WireInfo;
    for (size_t i = 0; i < isolation::most_infos; i++) {
        const size_t base =
            offsetof(isolation::TensorsReply, infos) + i * sizeof(isolation::WireInfo);
        FIELD(fields, base, WireInfo, type);
        FIELD(fields, base, WireInfo, rank);
        add(fields, base + offsetof(WireInfo, dims), 8, DNN_TORCH_DIMENSIONS);
        add(fields, base + offsetof(WireInfo, name), 1, 4, sizeof(WireInfo::name) / 4 - 1);
        add(fields, base + offsetof(WireInfo, type_text), 1, 4,
            sizeof(WireInfo::type_text) / 4 - 1);
    }
    for (int times = 0; times < 50; times++)
        FIELD(fields, 0, isolation::TensorsReply, count);
}

void add_plan(Fields &fields)
{
    using isolation::PlanReply;
    FIELD(fields, 0, PlanReply, run_seconds);
    FIELD(fields, 0, PlanReply, run_operations);
    FIELD(fields, 0, PlanReply, run_bytes);
    FIELD(fields, 0, PlanReply, interleaved);
    FIELD(fields, 0, PlanReply, takes_integers);
    FIELD(fields, 0, PlanReply, in_order);
    FIELD(fields, 0, PlanReply, alone);
    FIELD(fields, 0, PlanReply, rounds_to_16_bits);
    FIELD(fields, 0, PlanReply, reserved);
}

void add_run(Fields &fields)
{
    using isolation::RunReply;
    for (int times = 0; times < 50; times++)
        FIELD(fields, 0, RunReply, wanted_bytes);
    FIELD(fields, 0, RunReply, had_nan);
    FIELD(fields, 0, RunReply, as_saved);
    add_outputs(fields, offsetof(RunReply, out));
}

Fields fields_of(Kind kind)
{
    using isolation::CageReply;
    using isolation::SessionReply;
    using isolation::TextReply;
    Fields fields;
    switch (kind) {
    case Kind::cage:
        add(fields, offsetof(CageReply, report), 1, sizeof(CageReply::report));
        add(fields, offsetof(CageReply, engine_name), 1, sizeof(CageReply::engine_name));
        add(fields, offsetof(CageReply, engine_version), 1, sizeof(CageReply::engine_version));
        break;
    case Kind::tensors:
        add_infos(fields);
        break;
    case Kind::metadata:
    case Kind::plan_metadata:
        add(fields, offsetof(TextReply, is_known), 4, 20, sizeof(TextReply::text) / 20 - 1);
        break;
    case Kind::probe:
        add_outputs(fields, offsetof(isolation::ProbeReply, out));
        break;
    case Kind::plan:
        add_plan(fields);
        break;
    case Kind::session_open:
        FIELD(fields, 0, SessionReply, thread);
        FIELD(fields, 0, SessionReply, reserved);
        break;
    case Kind::session_run:
        add_run(fields);
        break;
    default:
        break;
    }
    return fields;
}

} // namespace

std::vector<std::string> names_of_layouts()
{
    std::vector<std::string> names;
    for (const Layout &layout : layouts())
        names.emplace_back(layout.name);
    return names;
}

// In one of four cases a field of the head, which all replies have.
Field any_field(Kind kind, Random &random)
{
    using isolation::ReplyHead;
    static std::map<Kind, Fields> known;
    Fields &fields = known[kind];
    if (fields.empty())
        fields = fields_of(kind);
    if (!fields.empty() && !random.one_in(4))
        return random.pick(fields);
    const Field head[] = {
        {offsetof(ReplyHead, kind), 4},
        {offsetof(ReplyHead, status), 4},
        {offsetof(ReplyHead, message) + random.below(sizeof(ReplyHead::message)), 1},
        {offsetof(ReplyHead, notice) + random.below(sizeof(ReplyHead::notice)), 1}};
    return random.pick(head);
}

// As run() of target_isolation.cpp asks.
std::vector<Kind> kinds_of_replies()
{
    using enum isolation::Kind;
    return {cage,        open,          tensors,      metadata,     probe,
            plan,        plan_metadata, session_open, session_warm, session_run,
            session_run, session_run,   session_reset};
}

namespace
{

// Returns false if the line is about a reply.
bool read_part(const std::string &line, ChildsPart &part)
{
    std::istringstream words(line);
    std::string name;
    words >> name;
    uint64_t seed = 0;
    if (name == "probe")
        return static_cast<bool>(words >> part.probed);
    if (name == "run") {
        words >> part.returned >> part.numbers;
        return true;
    }
    if (name != "rewrite" || !(words >> seed))
        return false;
    part.rewrites = seed;
    return true;
}

} // namespace

ChildsPart parse_part(std::string_view text)
{
    ChildsPart part;
    ReplyChanges &changes = part.changes;
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        size_t number = 0;
        ReplyChange change;
        if (read_part(line, part) || !(words >> number >> change.what))
            continue;
        if (change.what == "patch")
            words >> change.at >> change.width >> change.value;
        if (change.what == "size")
            words >> change.at;
        changes[number].push_back(change);
    }
    return part;
}

// ---- memory -------------------------------------------------------------------------

// Memory of inputs and samples must be the host's own; that of results is the child's.
void PlayedChild::take_memory(const isolation::ReceivedMessage &received, Kind kind,
                              const char *message)
{
    if (kind == Kind::session_run || kind == Kind::plan)
        for (const Descriptor &area : received.descriptors)
            if (isolation::map_memory(area.get(), 1, isolation::Writer::child).start())
                broke_in_ = true;
    if (kind != Kind::output || received.descriptors.empty())
        return;
    isolation::OutputRequest request = {};
    std::memcpy(&request, message, sizeof request);
    if (rewriter_.joinable())
        return;
    memory_ = isolation::map_memory(received.descriptors.front().get(), request.bytes,
                                    isolation::Writer::child);
    fill_numbers();
    if (part_.rewrites && memory_.start())
        rewriter_ = std::thread([this] { rewrite(); });
}

void PlayedChild::fill_numbers()
{
    Random random(part_.numbers);
    auto out = std::make_unique<isolation::WireOutputs>();
    const Layout &layout = layout_of(part_.returned);
    fill_soundly(layout, *out);
    for (size_t i = 0; i < layout.tensors.size(); i++) {
        const isolation::WireTensor &wire = out->tensors[i];
        const int64_t bytes = *isolation::packed_bytes(wire, isolation::Extents::from_zero);
        if (wire.offset + bytes > static_cast<int64_t>(memory_.size()))
            return;
        char *at = memory_.start() + wire.offset;
        for (const char *end = at + bytes; at < end; at += isolation::element_bytes(wire.type)) {
            const float number = any_float(random);
            const int64_t integer = any_integer(random);
            if (wire.type == f32)
                std::memcpy(at, &number, sizeof number);
            else
                std::memcpy(at, &integer, sizeof integer);
        }
    }
}

// Changes some words, sleeps a little or not at all, and so on until the end.
void PlayedChild::rewrite()
{
    Random random(*part_.rewrites);
    auto *const words = reinterpret_cast<std::atomic<uint64_t> *>(memory_.start());
    const size_t count = memory_.size() / sizeof *words;
    while (!is_over_) {
        for (uint64_t left = random.below(200); left > 0; left--) {
            const uint64_t two_floats =
                std::bit_cast<uint64_t>(std::array{any_float(random), any_float(random)});
            words[random.below(count)].store(
                random.one_in(2) ? two_floats : static_cast<uint64_t>(any_integer(random)),
                std::memory_order_relaxed);
        }
        std::this_thread::sleep_for(std::chrono::microseconds(random.below(50)));
    }
}

// ---- talking ------------------------------------------------------------------------

PlayedChild::~PlayedChild()
{
    thread_.join();
    is_over_ = true;
    if (rewriter_.joinable())
        rewriter_.join();
}

PlayedChild::PlayedChild(Descriptor control, ChildsPart part) : part_(std::move(part))
{
    channels_.push_back(std::move(control));
    thread_ = std::thread([this] { play(); });
}

void PlayedChild::play()
{
    while (channels_.front().is_open()) {
        std::vector<pollfd> events;
        for (const Descriptor &channel : channels_)
            events.push_back({.fd = channel.get(), .events = POLLIN, .revents = 0});
        poll(events.data(), events.size(), -1);
        for (size_t i = 0; i < events.size(); i++)
            if (events[i].revents)
                hear(channels_[i], i == 0);
    }
}

void PlayedChild::hear(Descriptor &channel, bool is_control)
{
    std::vector<char> bytes(largest_message);
    isolation::ReceivedMessage received =
        isolation::receive_message(channel.get(), bytes.data(), bytes.size());
    isolation::Head head = {};
    if (received.size < sizeof head) {
        channel = Descriptor();
        return;
    }
    std::memcpy(&head, bytes.data(), sizeof head);
    take_memory(received, head.kind, bytes.data());
    if (head.kind == Kind::channel && !received.descriptors.empty())
        channels_.push_back(std::move(received.descriptors.front()));
    else if (head.kind == Kind::end)
        channel = Descriptor();
    else if (!is_control || head.kind == Kind::open)
        answer(channel, head.kind);
}

void PlayedChild::answer(Descriptor &channel, Kind kind)
{
    const auto plain = [&](auto message) {
        message->head.kind = kind;
        reply(channel, *message);
    };
    if (kind == Kind::open) {
        auto cage = std::make_unique<isolation::CageReply>();
        cage->head.kind = Kind::cage;
        reply(channel, *cage);
        return plain(std::make_unique<isolation::PlainReply>());
    }
    if (kind == Kind::tensors) {
        auto tensors = std::make_unique<isolation::TensorsReply>();
        tensors->count = 2;
        tensors->infos[0].rank = -1;
        return plain(std::move(tensors));
    }
    if (kind == Kind::metadata || kind == Kind::plan_metadata) {
        auto text = std::make_unique<isolation::TextReply>();
        text->is_known = 1;
        std::strcpy(text->text, "a text");
        return plain(std::move(text));
    }
    if (kind == Kind::probe) {
        auto probe = std::make_unique<isolation::ProbeReply>();
        fill_soundly(layout_of(part_.probed), probe->out);
        return plain(std::move(probe));
    }
    if (kind == Kind::plan)
        return plain(std::make_unique<isolation::PlanReply>());
    if (kind == Kind::session_run || kind == Kind::output) {
        auto run = std::make_unique<isolation::RunReply>();
        const size_t bytes = fill_soundly(layout_of(part_.returned), run->out);
        run->wanted_bytes = kind == Kind::output || memory_.size() >= bytes ? 0 : bytes;
        kind = Kind::session_run;
        return plain(std::move(run));
    }
    if (kind == Kind::session_open)
        return plain(std::make_unique<isolation::SessionReply>());
    plain(std::make_unique<isolation::PlainReply>());
}

template <class Reply> void PlayedChild::reply(Descriptor &channel, Reply &message)
{
    const char *begin = reinterpret_cast<const char *>(&message);
    send_changed(channel, {begin, begin + sizeof message});
}

void PlayedChild::send_changed(Descriptor &channel, std::vector<char> bytes)
{
    size_t times = 1;
    const auto found = part_.changes.find(replies_++);
    if (found != part_.changes.end())
        for (const ReplyChange &change : found->second) {
            if (change.what == "patch" && change.at < bytes.size())
                std::memcpy(
                    &bytes[change.at], &change.value,
                    std::min({change.width, sizeof change.value, bytes.size() - change.at}));
            else if (change.what == "size")
                bytes.resize(std::min(change.at, largest_message));
            else if (change.what == "twice")
                times = 2;
            else if (change.what == "close")
                times = 0;
        }
    for (size_t i = 0; i < times; i++)
        isolation::send_bytes(channel.get(), bytes.data(), bytes.size(), {},
                              isolation::Sending::never_waits);
    if (times == 0)
        channel = Descriptor();
}

} // namespace fuzz
