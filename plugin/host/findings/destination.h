// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Where records go: a file, standard output as "-", or any address that libavformat writes to.
// Nothing waits without an end.
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

// Returns the same for all names of one file or descriptor.
std::string place_of(const std::string &destination);

// Belongs to one thread.
class Destination
{
public:
    static constexpr std::chrono::seconds usual_patience{30};

    // Opens it, and empties a file.  Throws Error in words that begin with "destination=NAME".
    explicit Destination(std::string name) : Destination(std::move(name), true) {}
    ~Destination();
    Destination(const Destination &) = delete;
    Destination &operator=(const Destination &) = delete;

    // Writes all of it, before it returns.  Throws Error.
    void write(std::string_view text);
    // Throws Error if something that was written did not arrive.  Nothing can be written then.
    void close();

    // For waits from now on, of which the last may be during the end of the program.
    void set_patience(std::chrono::seconds patience) { patience_ = patience; }

    // Returns how much was written if it is a file; nullopt if it cannot be gone on with.
    std::optional<int64_t> position() const;

    // Opens a file to go on at that place.  Returns nullptr if it is no longer that long.
    // Throws Error.
    static std::unique_ptr<Destination> reopen(std::string name, int64_t position);

private:
    Destination(std::string name, bool empties);
    static int is_too_late(void *destination) noexcept;
    void open_descriptor(int number);
    void open_named_pipe();
    void open(const char *address, bool empties);
    void write_piece(std::string_view piece);
    void begin_wait();
    [[noreturn]] void refuse(int error, std::string_view hint) const;

    std::string name_;
    std::chrono::seconds patience_ = usual_patience;
    std::chrono::steady_clock::time_point deadline_;
    Descriptor pipe_;  // a named one, opened without waiting for its reader
    int watched_ = -1; // a descriptor that must have room before it is written to
    AVIOContext *context_ = nullptr;
};

} // namespace dnn_torch
