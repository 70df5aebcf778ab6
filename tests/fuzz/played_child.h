// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A child of the isolated engine that answers as it is told: well, but for some changes.
#pragma once

#include "isolation/protocol/channel.h"
#include "isolation/protocol/messages.h"

#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace fuzz
{

// What becomes of one reply.
struct ReplyChange {
    std::string what; // "patch", "size", "close", "twice"
    size_t at = 0, width = 0;
    uint64_t value = 0;
};

// By the reply's place among all, from 0 on.
using ReplyChanges = std::map<size_t, std::vector<ReplyChange>>;

// Lines "REPLY patch AT WIDTH VALUE", "REPLY size BYTES", "REPLY close", "REPLY twice".  Other
// lines are left out.
ReplyChanges parse_changes(std::string_view text);

// Runs on a thread of its own until the host has closed the control channel.
class PlayedChild
{
public:
    PlayedChild(isolation::Descriptor control, ReplyChanges changes);
    ~PlayedChild() { thread_.join(); }
    PlayedChild(const PlayedChild &) = delete;
    PlayedChild &operator=(const PlayedChild &) = delete;

private:
    void play();
    void hear(isolation::Descriptor &channel, bool is_control);
    void answer(isolation::Descriptor &channel, isolation::Kind kind);
    template <class Reply> void reply(isolation::Descriptor &channel, Reply &message);
    void send_changed(isolation::Descriptor &channel, std::vector<char> bytes);

    std::vector<isolation::Descriptor> channels_; // the first is the control channel
    const ReplyChanges changes_;
    size_t replies_ = 0;
    bool has_memory_ = false;
    std::thread thread_;
};

} // namespace fuzz
