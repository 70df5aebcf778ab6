// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Where records are written: a file, standard output ("-"), or any address that libavformat writes
// to.  All waits are limited.
#pragma once

#include "base/descriptor.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

struct AVIOContext;

namespace dnn_torch
{

// Returns the same text for all names of one file or descriptor.
std::string place_of(const std::string &destination);

// Belongs to one thread.
class Destination
{
public:
    static constexpr std::chrono::seconds default_patience{30};

    // Opens the destination; truncates a file.  Throws Error that begins with "destination=NAME".
    explicit Destination(std::string name) : Destination(std::move(name), true) {}
    ~Destination();
    Destination(const Destination &) = delete;
    Destination &operator=(const Destination &) = delete;

    // Returns after all of the text is written.  Throws Error.
    void write(std::string_view text);
    // Throws Error if something could not be written.  Do not write() afterwards.
    void close();

    // Limits later waits, the last of which may be while the program ends.
    void set_patience(std::chrono::seconds patience) { patience_ = patience; }

    // Returns the position in a file; nullopt if the destination cannot be reopened.
    std::optional<int64_t> position() const;

    // Opens a file to continue at that position.  Returns nullptr if it is shorter now.
    // Throws Error.
    static std::unique_ptr<Destination> reopen(std::string name, int64_t position);

private:
    Destination(std::string name, bool truncates);
    static int is_too_late(void *destination) noexcept;
    void open_descriptor(int number);
    void open_named_pipe();
    void open(const char *address, bool truncates);
    void write_piece(std::string_view piece);
    void begin_wait();
    [[noreturn]] void refuse(int error, std::string_view hint) const;

    std::string name_;
    std::chrono::seconds patience_ = default_patience;
    std::chrono::steady_clock::time_point deadline_;
    Descriptor pipe_; // a named pipe, opened without waiting for its reader
    int polled_ = -1; // a descriptor to poll before each write; -1: none
    AVIOContext *context_ = nullptr;
};

} // namespace dnn_torch
