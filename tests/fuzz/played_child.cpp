// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "played_child.h"

#include <algorithm>
#include <array>
#include <cstring>
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

// A picture of two channels, as a well-behaved child would give it.
isolation::WireTensor sound_tensor()
{
    return {.type = DNN_TORCH_F32,
            .rank = 4,
            .dims = {1, 2, 3, 4},
            .strides = {96, 48, 16, 4},
            .white = 0,
            .area = isolation::Area::given,
            .offset = 64};
}

// What an engine returns that gives all tensors; the first is a picture too.
void fill_soundly(isolation::WireOutputs &out)
{
    out.tensors[0] = out.tensors[1] = out.tensors[2] = sound_tensor();
    out.tensors[1].type = DNN_TORCH_I64;
    out.tensors[1].rank = 1;
    out.tensors[1].dims[0] = 5;
    out.tensors[1].strides[0] = 8;
    out.tensors[1].offset = 192;
    out.tensors[2].dims[0] = 0;
    std::strcpy(out.tensors[1].name, "1.labels");
}

} // namespace

ReplyChanges parse_changes(std::string_view text)
{
    ReplyChanges changes;
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        size_t number = 0;
        ReplyChange change;
        if (!(words >> number >> change.what))
            continue;
        if (change.what == "patch")
            words >> change.at >> change.width >> change.value;
        if (change.what == "size")
            words >> change.at;
        changes[number].push_back(change);
    }
    return changes;
}

PlayedChild::PlayedChild(Descriptor control, ReplyChanges changes) : changes_(std::move(changes))
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
        fill_soundly(probe->out);
        return plain(std::move(probe));
    }
    if (kind == Kind::plan)
        return plain(std::make_unique<isolation::PlanReply>());
    if (kind == Kind::session_run || kind == Kind::output) {
        auto run = std::make_unique<isolation::RunReply>();
        run->wanted_bytes = has_memory_ ? 0 : 500;
        has_memory_ = true;
        fill_soundly(run->out);
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
    const auto found = changes_.find(replies_++);
    if (found != changes_.end())
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
