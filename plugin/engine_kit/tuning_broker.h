// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Gives tuning records to a process that may not touch the user's files.  It asks another process
// over a socket that keeps message boundaries.  Needs no LibTorch.
#pragma once

#include "base/descriptor.h"
#include "tuning_record.h"

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace engine_torch
{

// The environment variable with the number of that socket.
constexpr char tuning_socket_variable[] = "DNN_TORCH_TUNING_FD";

enum class TuningRequest : uint32_t { read = 1, write };

// Texts end with a zero byte.  The reply has the same kind; its text is "" for no record.
struct TuningMessage {
    TuningRequest kind;
    uint32_t reserved;
    char line[4096];
    char text[longest_tuning_text];
};

// ---- in the process that asks ---------------------------------------------------------

// Returns nullopt in a process that has none.
std::optional<int> tuning_socket();

// Returns the record for the line, or "".  Waits for a few seconds at most.  Any thread.
std::string ask_broker(int socket, TuningRequest kind, const std::string &line,
                       const std::string &text);

// ---- in the process that answers ------------------------------------------------------

// Keeps records of one model only, for a process that is not trusted.  Every member function may be
// called from several threads at once.
class TuningBroker
{
public:
    // `files` is what the model is read from.
    TuningBroker(std::string path, std::vector<dnn_torch::Descriptor> files);

    // Answers waiting requests, up to a limit.  Never waits for the socket.  Returns false if the
    // other process is gone or sends something else.
    bool answer(int socket);

private:
    bool is_of_this_model(const std::string &line);
    std::string reply_to(const TuningMessage &request);

    const std::string path_;
    const std::vector<dnn_torch::Descriptor> files_;

    std::mutex mutex_;
    // ---- under mutex_
    std::optional<std::string> contents_; // the model's hash; "" if it cannot be read
    int writes_left_;
};

} // namespace engine_torch
