// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Sends and receives whole messages over a channel.  Any thread; one reader and one writer at a
// time.
#pragma once

#include "base/descriptor.h"

#include "dnn_torch/engine.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace isolation
{

using dnn_torch::Descriptor;

// The most descriptors that a message carries: a model's files, and where one is written.
constexpr size_t most_descriptors = 2 + DNN_TORCH_PARTS;

// Returns two connected ends, or nullopt with errno set.
std::optional<std::pair<Descriptor, Descriptor>> make_channel();

enum class Sending : bool { waits, never_waits };

// Returns false if the other side is gone, or if it does not take the message and we do not wait.
bool send_bytes(int channel, const void *bytes, size_t size, std::span<const int> descriptors,
                Sending sending);

template <class Message>
bool send(int channel, const Message &message, Sending sending = Sending::never_waits,
          std::span<const int> descriptors = {})
{
    static_assert(std::is_trivially_copyable_v<Message>);
    return send_bytes(channel, &message, sizeof message, descriptors, sending);
}

enum class Receipt : uint8_t { whole, nothing_yet, other_size, closed };

// Takes the next message, which must have exactly that size, without waiting.  Descriptors that
// come with it are closed.
Receipt receive_now(int channel, void *bytes, size_t size);

// A message of any size up to a maximum, with its descriptors.
struct ReceivedMessage {
    size_t size = 0; // 0: the other side is gone
    std::vector<Descriptor> descriptors;
};

// Waits for the next message.
ReceivedMessage receive_message(int channel, void *bytes, size_t most);

} // namespace isolation
