// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tuning_broker.h"

#include "content_hash.h"
#include "tuning_cache.h"
#include "tuning_record.h"

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <string_view>
#include <sys/socket.h>
#include <utility>

namespace engine_torch
{
namespace
{

constexpr int most_wait_ms = 5000;
// A model has one record for each of its variants and sizes.
constexpr int most_writes = 1000, most_answers = 16;

template <size_t size> std::string text_in(const char (&field)[size])
{
    return std::string(field, strnlen(field, size));
}

template <size_t size> bool put(const std::string &text, char (&field)[size])
{
    if (text.size() >= size)
        return false;
    std::memcpy(field, text.c_str(), text.size() + 1);
    return true;
}

bool send_message(int socket, const TuningMessage &message)
{
    return send(socket, &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT) ==
           ssize_t{sizeof message};
}

enum class Receipt : uint8_t { whole, nothing_yet, broken };

Receipt receive_message(int socket, TuningMessage &message)
{
    const ssize_t got = recv(socket, &message, sizeof message, MSG_DONTWAIT | MSG_TRUNC);
    if (got == ssize_t{sizeof message})
        return Receipt::whole;
    return got < 0 && errno == EAGAIN ? Receipt::nothing_yet : Receipt::broken;
}

} // namespace

// ---- asking ---------------------------------------------------------------------------

std::optional<int> tuning_socket()
{
    const char *value = secure_getenv(tuning_socket_variable);
    const std::string_view text = value ? value : "";
    int number = -1;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    return parsed.ec == std::errc() && number > 2 ? std::optional(number) : std::nullopt;
}

std::string ask_broker(int socket, TuningRequest kind, const std::string &line,
                       const std::string &text)
{
    static std::mutex one_at_a_time;
    const std::lock_guard<std::mutex> lock(one_at_a_time);
    TuningMessage message = {};
    message.kind = kind;
    if (!put(line, message.line) || !put(text, message.text) || !send_message(socket, message))
        return "";
    pollfd ready = {.fd = socket, .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, most_wait_ms) != 1 || receive_message(socket, message) != Receipt::whole)
        return "";
    return text_in(message.text);
}

// ---- answering ------------------------------------------------------------------------

TuningBroker::TuningBroker(std::string path, std::vector<dnn_torch::Descriptor> files)
    : path_(std::move(path)), files_(std::move(files)), writes_left_(most_writes)
{
}

bool TuningBroker::answer(int socket)
{
    TuningMessage message = {};
    for (int i = 0; i < most_answers; i++) {
        const Receipt receipt = receive_message(socket, message);
        if (receipt != Receipt::whole)
            return receipt == Receipt::nothing_yet;
        if (!put(reply_to(message), message.text))
            message.text[0] = '\0';
        send_message(socket, message);
    }
    return true;
}

// Otherwise the process could forge the records of another model.
bool TuningBroker::is_of_this_model(const std::string &line)
{
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!contents_) {
        std::vector<std::string> hashes;
        for (const dnn_torch::Descriptor &file : files_)
            hashes.push_back(content_hash_of_file(file.get()));
        contents_ = joined_hash(hashes);
    }
    return !contents_->empty() && is_tuning_line(line) && line.starts_with(*contents_ + "; ");
}

std::string TuningBroker::reply_to(const TuningMessage &request)
{
    const std::string line = text_in(request.line);
    if (!is_of_this_model(line))
        return "";
    const TuningCache cache(path_, line);
    if (request.kind == TuningRequest::read) {
        auto record = cache.recall_from_process();
        if (!record)
            record = parse_record(read_from_folder(line), line);
        return record ? text_of(*record, line) : "";
    }
    const auto record = parse_record(text_in(request.text), line);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (record && writes_left_ > 0) {
        writes_left_--;
        cache.remember_in_process(*record);
        write_to_folder(line, text_of(*record, line));
    }
    return "";
}

} // namespace engine_torch
