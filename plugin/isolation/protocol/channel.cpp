// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "channel.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/types.h>

namespace isolation
{
namespace
{

constexpr size_t control_size = CMSG_SPACE(most_descriptors * sizeof(int));

template <class Call> ssize_t uninterrupted(Call call)
{
    ssize_t result;
    do
        result = call();
    while (result < 0 && errno == EINTR);
    return result;
}

// `control` must live as long as the result.
msghdr header_for(iovec &part, std::span<char> control)
{
    msghdr header = {};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.empty() ? nullptr : control.data();
    header.msg_controllen = control.size();
    return header;
}

void attach(msghdr &header, std::span<const int> descriptors)
{
    cmsghdr *about = CMSG_FIRSTHDR(&header);
    about->cmsg_level = SOL_SOCKET;
    about->cmsg_type = SCM_RIGHTS;
    about->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(about), descriptors.data(), descriptors.size_bytes());
}

std::vector<Descriptor> detach(msghdr &header)
{
    std::vector<Descriptor> descriptors;
    for (cmsghdr *about = CMSG_FIRSTHDR(&header); about; about = CMSG_NXTHDR(&header, about)) {
        if (about->cmsg_level != SOL_SOCKET || about->cmsg_type != SCM_RIGHTS)
            continue;
        const size_t count = (about->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int number = -1;
            std::memcpy(&number, CMSG_DATA(about) + i * sizeof(int), sizeof number);
            descriptors.emplace_back(number);
        }
    }
    return descriptors;
}

} // namespace

std::optional<std::pair<Descriptor, Descriptor>> make_channel()
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return std::nullopt;
    // The largest message must fit, whatever the system's default is.
    const int room = 1 << 18;
    for (const int end : ends)
        setsockopt(end, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    return std::pair(Descriptor(ends[0]), Descriptor(ends[1]));
}

bool send_bytes(int channel, const void *bytes, size_t size, std::span<const int> descriptors,
                Sending sending)
{
    const int flags = MSG_NOSIGNAL | (sending == Sending::waits ? 0 : MSG_DONTWAIT);
    // The cage forbids sendmsg(): descriptors in flight count against all of a user's processes.
    if (descriptors.empty())
        return uninterrupted([&] { return ::send(channel, bytes, size, flags); }) ==
               static_cast<ssize_t>(size);
    iovec part = {.iov_base = const_cast<void *>(bytes), .iov_len = size};
    alignas(cmsghdr) std::array<char, control_size> control = {};
    msghdr header =
        header_for(part, std::span(control).first(CMSG_SPACE(descriptors.size_bytes())));
    attach(header, descriptors);
    return uninterrupted([&] { return sendmsg(channel, &header, flags); }) ==
           static_cast<ssize_t>(size);
}

Receipt receive_now(int channel, void *bytes, size_t size)
{
    const ssize_t got =
        uninterrupted([&] { return recv(channel, bytes, size, MSG_DONTWAIT | MSG_TRUNC); });
    if (got == static_cast<ssize_t>(size))
        return Receipt::whole;
    if (got > 0)
        return Receipt::other_size;
    return got < 0 && errno == EAGAIN ? Receipt::nothing_yet : Receipt::closed;
}

ReceivedMessage receive_message(int channel, void *bytes, size_t most)
{
    iovec part = {.iov_base = bytes, .iov_len = most};
    alignas(cmsghdr) std::array<char, control_size> control = {};
    msghdr header = header_for(part, control);
    const ssize_t got = uninterrupted([&] { return recvmsg(channel, &header, MSG_CMSG_CLOEXEC); });
    if (got <= 0)
        return {};
    ReceivedMessage received = {.size = static_cast<size_t>(got), .descriptors = detach(header)};
    return header.msg_flags & MSG_TRUNC ? ReceivedMessage{} : std::move(received);
}

} // namespace isolation
