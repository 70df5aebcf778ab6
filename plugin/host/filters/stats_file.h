// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Writes statistics to a file, a pipe with a reader, a terminal, /dev/null, or what the program has
// open as /dev/stdout, /dev/stderr or /dev/fd/N.  Neither opening nor writing blocks for long.
#pragma once

#include "base/descriptor.h"

#include <string>

namespace dnn_torch
{

class StatsFile
{
public:
    // Writes nothing if the path is empty.  Throws Error if the path cannot be written to, also if
    // it is a pipe without a reader, or a device.
    explicit StatsFile(std::string path);
    ~StatsFile();
    StatsFile(const StatsFile &) = delete;
    StatsFile &operator=(const StatsFile &) = delete;

    // Replaces the content of a file.  Throws Error, also if a reader does not read.
    void write(const std::string &text);

    // Writes a text that write() will replace.  Does nothing for pipes and descriptors.  Throws
    // Error.
    void check(const std::string &text);

private:
    std::string path_;
    Descriptor pipe_; // kept open, so that its reader does not see the end too early
};

} // namespace dnn_torch
