// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Checks that no filter writes a file that another one, or itself, reads or writes as well.
#pragma once

#include <string>

struct AVFilterContext;

namespace dnn_torch
{

// The files of a filter, in one list with those of all other filters of the process.  Belongs to
// one thread; the list does not.
class UsedFiles
{
public:
    // Takes the names from the filter's options, and opens nothing.  Must be created before the
    // filter opens anything.  Throws Error if stats or destination names a file that is read or
    // written elsewhere, or if another filter writes a file that is read.
    explicit UsedFiles(const AVFilterContext *ctx);
    ~UsedFiles();
    // Adds a file that the model also consists of, which only the opened model tells.  Throws Error
    // if stats or destination of any filter names it.
    void add_model_part(const std::string &path);
    // Must be called once the filter's graph is complete.  ffmpeg frees a graph before it creates
    // its replacement, so filters in two of its graphs are different ones.  Throws Error as above.
    void check_graph();

    UsedFiles(const UsedFiles &) = delete;
    UsedFiles &operator=(const UsedFiles &) = delete;

private:
    const AVFilterContext *const ctx_;
};

} // namespace dnn_torch
