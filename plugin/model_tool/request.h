// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What the user asks of `dnn-torch inspect`, `bench`, `contract` and `convert`.
#pragma once

#include "host/model/model_request.h"
#include "host/size.h"

#include <optional>
#include <stdexcept>
#include <string>

namespace dnn_torch
{

// A command line that makes no sense.  what() says what would make sense.
class UsageError : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

// The path of its ModelRequest is the model's.
struct Request : ModelRequest {
    std::string output_file; // only convert has one
    std::string svg_file;    // only bench has one; "": none
    bool json = false;
    bool force = false;       // only convert has it: files may be replaced
    bool help = false;        // only the command's help is wanted
    std::optional<Size> size; // measured with, or tried first
    double seconds = 30;      // only bench uses it
};

// Reads a command line that begins with the command's name.  Throws UsageError.
// One thread at a time may call it.
Request parse_request(int count, char **words);

// As the option `isolate` takes it.
const char *name_of(Isolation isolation);

// Returns how to call the command and what its options do.
std::string help_of(const std::string &command);

} // namespace dnn_torch
