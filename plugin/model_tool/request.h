// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The command lines of `dnn-torch inspect`, `bench`, `contract` and `convert`.
#pragma once

#include "host/model/model_request.h"
#include "host/size.h"

#include <optional>
#include <stdexcept>
#include <string>

namespace dnn_torch
{

// An invalid command line.  what() says what would be valid.
class UsageError : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

// ModelRequest's path is the model's.
struct Request : ModelRequest {
    std::string output_file; // of convert
    std::string svg_file;    // of bench; "": none
    bool json = false;
    bool force = false;       // of convert: files may be replaced
    bool help = false;        // only print the command's help
    std::optional<Size> size; // to measure with, or to try first
    double seconds = 30;      // of bench
};

// Parses a command line that begins with the command's name.  Throws UsageError.  Not thread-safe.
Request parse_request(int count, char **words);

// Returns the value of the option `isolate`.
const char *name_of(Isolation isolation);

// Returns how to call the command and what its options do.
std::string help_of(const std::string &command);

} // namespace dnn_torch
