// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What the user asks of `dnn-torch inspect` and `dnn-torch bench`.
#pragma once

#include "host/size.h"

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>

namespace dnn_torch
{

// A command line that makes no sense; what() says what would.
class UsageError : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

struct Request {
    std::string model;
    // As the filter's options of these names take them.
    std::string device = "cpu", engine = "torch", input, output, allow;
    bool json = false;
    bool help = false;        // the command's help is all that is wanted
    std::optional<Size> size; // to measure with, or to try first
    double seconds = 30;      // bench alone uses it
    std::chrono::microseconds timeout = std::chrono::seconds(60); // of one run; 0 has no limit
};

// Reads a command line that begins with the command's name.  Throws UsageError.
// One thread at a time may call it.
Request parse_request(int count, char **words);

// How to call the command, and what each of its options does.
std::string help_of(const std::string &command);

} // namespace dnn_torch
