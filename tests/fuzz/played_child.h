// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A child of the isolated engine that answers as it is told: well, but for some changes.
#pragma once

#include "isolation/protocol/channel.h"
#include "isolation/protocol/messages.h"
#include "isolation/protocol/shared_memory.h"
#include "message_fields.h"

#include <atomic>
#include <map>
#include <optional>
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

// What a child does.  Its text has lines "REPLY patch AT WIDTH VALUE", "REPLY size BYTES",
// "REPLY close" and "REPLY twice", and:
//
//   probe NAME      which tensors it says that its model returns, see names_of_layouts()
//   run NAME SEED   which ones it returns, and their numbers
//   rewrite SEED    it changes the memory of its results at random moments
//
// Other lines are left out.
struct ChildsPart {
    ReplyChanges changes = {};
    std::string probed = "picture", returned = "picture";
    uint64_t numbers = 0;
    std::optional<uint64_t> rewrites = {};
};
ChildsPart parse_part(std::string_view text);

std::vector<std::string> names_of_layouts();

// A field of the reply to such a request.
Field any_field(isolation::Kind kind, class Random &random);

// The kinds of the first replies of a whole conversation.
std::vector<isolation::Kind> kinds_of_replies();

// Runs on a thread of its own until the host has closed the control channel.
class PlayedChild
{
public:
    PlayedChild(isolation::Descriptor control, ChildsPart part);
    ~PlayedChild();
    PlayedChild(const PlayedChild &) = delete;
    PlayedChild &operator=(const PlayedChild &) = delete;

    // Whether it could write to memory that only the host may write to.
    bool broke_in() const { return broke_in_; }

private:
    void play();
    void hear(isolation::Descriptor &channel, bool is_control);
    void answer(isolation::Descriptor &channel, isolation::Kind kind);
    template <class Reply> void reply(isolation::Descriptor &channel, Reply &message);
    void send_changed(isolation::Descriptor &channel, std::vector<char> bytes);

    std::vector<isolation::Descriptor> channels_; // the first is the control channel
    void take_memory(const isolation::ReceivedMessage &received, isolation::Kind kind,
                     const char *message);
    void rewrite();
    void fill_numbers();

    const ChildsPart part_;
    size_t replies_ = 0;
    isolation::Mapping memory_;
    std::atomic<bool> is_over_{false}, broke_in_{false};
    std::thread thread_, rewriter_;
};

} // namespace fuzz
