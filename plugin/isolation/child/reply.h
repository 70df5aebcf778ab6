// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// How the child answers.
#pragma once

#include "isolation/protocol/channel.h"
#include "isolation/protocol/messages.h"
#include "served_model.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>
#include <unistd.h>

namespace isolation
{

constexpr size_t largest_request =
    std::max({sizeof(OpenRequest), sizeof(TensorsRequest), sizeof(KeyRequest),
              sizeof(ShapesRequest), sizeof(SessionRequest), sizeof(RunRequest)});

// Ends this process with a message that the host passes on.  Runs no destructors and no exit
// handlers: they could hang in what the model left behind.
[[noreturn]] inline void leave(const char *words)
{
    std::fprintf(stderr, "engine-host: %s\n", words);
    _exit(1);
}

// What the host sends is not hostile, but a fault of it must not read this process's memory.
inline void require(bool is_sound)
{
    if (!is_sound)
        leave("the host sent a message that contradicts itself");
}

template <size_t size> void require_end(const char (&text)[size])
{
    require(std::memchr(text, '\0', size) != nullptr);
}

// Copies as much of the text as fits, and terminates it.
template <size_t size> void put_text(std::string_view text, char (&field)[size])
{
    const size_t count = std::min(text.size(), size - 1);
    std::memcpy(field, text.data(), count);
    field[count] = '\0';
}

template <class Reply> std::unique_ptr<Reply> new_reply(Kind kind)
{
    auto reply = std::make_unique<Reply>();
    reply->head.kind = kind;
    return reply;
}

// Ignores failure: the next receive_message() shows whether the host is gone.
template <class Reply> void send_reply(int channel, Reply &reply, const ServedModel &model)
{
    const char *notice = model.engine().model_metadata(model.get(), "notice");
    put_text(notice ? notice : "", reply.head.notice);
    send(channel, reply, Sending::waits);
}

} // namespace isolation
