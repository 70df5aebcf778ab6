// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What a filter writes must not be what any filter reads, or writes as well.
#pragma once

struct AVFilterContext;

namespace dnn_torch
{

// The files of a filter, in one list with those of all other filters of the process.  Belongs to
// one thread; the list does not.
class UsedFiles
{
public:
    // Takes the names from the filter's options, and opens nothing: make it before anything is
    // opened.  Throws Error if stats or destination names a file that is read or written elsewhere,
    // or a file that is read is written by another filter.
    explicit UsedFiles(const AVFilterContext *ctx);
    ~UsedFiles();
    // Call it once the filter's graph is whole.  What ffmpeg has made anew comes after the graph in
    // whose place it is, so that the filters of two graphs that both are there are two filters.
    // Throws Error as above.
    void check_graph();

    UsedFiles(const UsedFiles &) = delete;
    UsedFiles &operator=(const UsedFiles &) = delete;

private:
    const AVFilterContext *const ctx_;
};

} // namespace dnn_torch
