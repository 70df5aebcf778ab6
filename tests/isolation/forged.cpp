// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "forged.h"

#include "isolation/protocol/messages.h"

#include <cstdint>
#include <cstring>
#include <limits>

namespace
{

using namespace isolation;

constexpr int64_t largest = std::numeric_limits<int64_t>::max(),
                  smallest = std::numeric_limits<int64_t>::min();

template <class Reply> std::vector<char> bytes_of(const Reply &reply)
{
    std::vector<char> bytes(sizeof(reply));
    std::memcpy(bytes.data(), &reply, sizeof(reply));
    return bytes;
}

// A reply of success, all of whose other bytes are the same.
template <class Reply> Reply filled(Kind kind, int byte)
{
    Reply reply;
    std::memset(static_cast<void *>(&reply), byte, sizeof(reply));
    reply.head.kind = kind;
    reply.head.status = DNN_TORCH_OK;
    return reply;
}

template <class Reply>
void add_filled(std::vector<std::vector<char>> &replies, std::initializer_list<Kind> kinds)
{
    for (Kind kind : kinds)
        for (int byte : {0, 1, 0x7f, 0xff})
            replies.push_back(bytes_of(filled<Reply>(kind, byte)));
}

// Results as those of the test's model are, but for one number.
RunReply run_reply()
{
    RunReply reply = filled<RunReply>(Kind::session_run, 0);
    reply.out.tensors[0] = {.type = DNN_TORCH_F32,
                            .rank = 4,
                            .dims = {1, 3, 8, 16},
                            .strides = {1536, 512, 64, 4},
                            .white = 0,
                            .area = Area::given,
                            .offset = 0};
    return reply;
}

void add_wild_results(std::vector<std::vector<char>> &replies)
{
    for (int64_t wild :
         {largest, smallest, largest / 4 + 1, int64_t{-1}, int64_t{3}, int64_t{1} << 40})
        for (int field = 0; field < 4; field++) {
            RunReply reply = run_reply();
            WireTensor &out = reply.out.tensors[0];
            int64_t *fields[] = {&out.offset, &out.dims[1], &out.strides[2], &out.strides[0]};
            *fields[field] = wild;
            replies.push_back(bytes_of(reply));
        }
    for (int32_t wild : {-1, 0, 9, std::numeric_limits<int32_t>::max()}) {
        RunReply rank = run_reply(), type = run_reply();
        rank.out.tensors[0].rank = wild;
        type.out.tensors[0].type = wild;
        replies.push_back(bytes_of(rank));
        replies.push_back(bytes_of(type));
    }
    RunReply endless = run_reply();
    std::memset(endless.out.tensors[0].name, 'n', sizeof endless.out.tensors[0].name);
    replies.push_back(bytes_of(endless));
    for (uint64_t wild : {uint64_t{1} << 62, ~uint64_t{0}}) {
        RunReply reply = run_reply();
        reply.wanted_bytes = wild;
        replies.push_back(bytes_of(reply));
    }
}

} // namespace

std::vector<std::vector<char>> forged_replies()
{
    std::vector<std::vector<char>> replies;
    add_wild_results(replies);
    add_filled<RunReply>(replies, {Kind::session_run});
    add_filled<PlainReply>(
        replies, {Kind::open, Kind::session_warm, Kind::session_reset, Kind::session_close});
    add_filled<SessionReply>(replies, {Kind::session_open});
    add_filled<CageReply>(replies, {Kind::cage});
    add_filled<TensorsReply>(replies, {Kind::tensors});
    add_filled<TextReply>(replies, {Kind::metadata, Kind::plan_metadata});
    add_filled<ProbeReply>(replies, {Kind::probe});
    add_filled<PlanReply>(replies, {Kind::plan});
    return replies;
}
