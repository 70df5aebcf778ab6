// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What the host side (the engine "isolated") and its child (the program engine-host) say to each
// other.  Each message has a fixed size.  Both sides come from one build, which the first message
// checks.
//
// A channel is a pair of connected sockets that keep messages apart (SOCK_SEQPACKET).  A channel
// serves one request at a time, and the child has one thread for each channel.  The first channel
// is the control channel: the model is opened on it, and afterwards it carries what has no reply.
// The host makes all other channels and passes one end over the control channel.
//
// The host never trusts the child: the model may have taken it over.
#pragma once

#include "dnn_torch/engine.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace isolation
{

// Raised with every change of a layout or a meaning below.
constexpr uint32_t protocol_version = 9;

// The descriptor of the control channel in the child.
constexpr int control_number = 3;
// The descriptor of the socket to engine_kit/tuning_broker.h, which is no channel.
constexpr int tuning_number = 4;

constexpr size_t most_options = 24, most_inputs = 16, most_outputs = 64, most_infos = 64;
// Where a run's inputs are: in memory that the session gave out, or copied.
enum class Area : uint32_t { given, copied };
constexpr size_t area_count = 2;

enum class Kind : uint32_t {
    // Over the control channel, with two replies: the state of the cage, and the opened model.
    open = 1,
    cage,
    // Over the control channel, without a reply.  The same file may be opened again after `close`,
    // and after a model that could not be opened.
    channel,
    stop,
    plan_close,
    close,
    end,
    // Over any other channel, with a reply.
    tensors,
    metadata,
    probe,
    plan,
    plan_metadata,
    session_open,
    session_warm,
    session_run,
    session_reset,
    session_close,
    // Only as an answer to a reply that asks for it.
    output
};

// Each side sends one first.
struct Greeting {
    char magic[16];
    uint32_t version;
    uint32_t engine_abi;
    uint64_t sizes; // of the messages below, see sizes_of_messages()
};

// How each request begins.
struct Head {
    Kind kind;
    uint32_t reserved;
    int64_t id; // of the plan or the session that is meant
};

// How each reply begins.
struct ReplyHead {
    Kind kind;
    int32_t status; // a DnnTorchStatus
    char message[sizeof(DnnTorchMessage::text)];
    char notice[1024]; // the model's current one
};

// The requests channel (with a descriptor), stop, plan_close, close, end, session_warm,
// session_reset and session_close.
struct PlainRequest {
    Head head;
};

// To open, session_warm, session_reset and session_close.
struct PlainReply {
    ReplyHead head;
};

struct WireOption {
    char key[32];
    char value[2016];
};

// With descriptors: the file, or memory that holds the model; the model's further files; and, if
// there is one more, what the option `export` writes to.
struct OpenRequest {
    Head head;
    char engine[64];
    char name[4096];
    int64_t data_size;    // of the memory; below 0: the descriptor is a file
    int64_t memory_bytes; // that the cage allows; 0: its default
    int32_t cage_is_required;
    uint32_t option_count;
    uint64_t part_count;
    char part_names[DNN_TORCH_PARTS][256];
    WireOption options[most_options];
};

// Sent before anything of the model is read.
struct CageReply {
    ReplyHead head;
    char report[512]; // "closed: Landlock, seccomp"
    char engine_name[64], engine_version[128];
};

struct TensorsRequest {
    Head head;
    int32_t direction;
    uint32_t reserved;
};

struct WireInfo {
    char name[sizeof(DnnTorchTensorInfo::name)];
    char type_text[sizeof(DnnTorchTensorInfo::type_text)];
    int32_t type, rank;
    int64_t dims[DNN_TORCH_DIMENSIONS];
};

struct TensorsReply {
    ReplyHead head;
    uint64_t count;
    WireInfo infos[most_infos];
};

struct KeyRequest {
    Head head;
    char key[64];
};

struct TextReply {
    ReplyHead head;
    int32_t is_known; // 0: the engine returned NULL
    uint32_t reserved;
    char text[16384];
};

// A tensor in an area, or its shape alone.
struct WireTensor {
    int32_t type, rank;
    int64_t dims[DNN_TORCH_DIMENSIONS];
    int64_t strides[DNN_TORCH_DIMENSIONS];
    int32_t white;
    float low, high;
    Area area;
    int64_t offset; // in the area, or a constant below
    char name[sizeof(DnnTorchTensor::name)] = "";
};
// The caller gave no memory, or gave memory for a tensor without elements or a valid shape.
constexpr int64_t no_memory = -1, no_elements = -2;

// What an engine returns.  Absent tensors have the type 0 and come last.
struct WireOutputs {
    WireTensor tensors[most_outputs];
};

// Comes with a descriptor if `samples_bytes` is not 0, which only Kind::plan allows: memory that
// begins with the samples.
struct ShapesRequest {
    Head head;
    double budget_seconds;
    uint64_t samples_bytes;
    WireTensor samples;
    int32_t as_saved;
    uint32_t reserved;
    uint32_t in_count, out_count;
    WireTensor in[most_inputs];
};

struct ProbeReply {
    ReplyHead head;
    WireOutputs out;
};

struct PlanReply {
    ReplyHead head;
    double run_seconds, run_operations;
    int64_t run_bytes;
    int32_t interleaved, takes_integers, in_order, alone, rounds_to_16_bits;
    uint32_t reserved;
};

struct SessionRequest {
    Head head;
    int64_t plan;
    int32_t threads;
    uint32_t reserved;
};

struct SessionReply {
    ReplyHead head;
    int32_t thread; // the kernel's id of the one that serves the channel
    uint32_t reserved;
};

struct RequestedTensor {
    int32_t type, white;
};

// Comes with a descriptor for each area whose size is not 0.  It replaces the previous area.
struct RunRequest {
    Head head;
    int64_t number, predecessor_distance;
    int32_t more;
    uint32_t reserved;
    uint64_t new_areas[area_count]; // sizes
    uint32_t in_count, out_count;
    WireTensor in[most_inputs];
    RequestedTensor requested[most_outputs];
};

struct RunReply {
    ReplyHead head;
    // Not 0: the results need memory of that many bytes, and are not sent yet.  The host answers
    // with an OutputRequest.
    uint64_t wanted_bytes;
    int32_t had_nan;
    int32_t as_saved; // the plan's fact as of now
    WireOutputs out;
};

// Comes with a descriptor, unless `bytes` is 0: then the host has no such memory.
struct OutputRequest {
    Head head;
    uint64_t bytes;
};

// Differs if any of the messages has another size.
constexpr uint64_t sizes_of_messages()
{
    uint64_t sum = 0;
    for (const size_t size :
         {sizeof(Head), sizeof(ReplyHead), sizeof(OpenRequest), sizeof(CageReply),
          sizeof(TensorsRequest), sizeof(TensorsReply), sizeof(KeyRequest), sizeof(TextReply),
          sizeof(ShapesRequest), sizeof(ProbeReply), sizeof(PlanReply), sizeof(SessionRequest),
          sizeof(SessionReply), sizeof(RunRequest), sizeof(RunReply), sizeof(OutputRequest)})
        sum = sum * 1000003 + size;
    return sum;
}

constexpr Greeting greeting_of_this_build()
{
    return {.magic = "dnn-torch lane",
            .version = protocol_version,
            .engine_abi = DNN_TORCH_ENGINE_ABI,
            .sizes = sizes_of_messages()};
}

} // namespace isolation
