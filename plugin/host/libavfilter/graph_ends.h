// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Common parts of the graph parsers for all versions: labels, and lists of a graph's
// open ends.
#pragma once

extern "C" {
#include <libavfilter/avfilter.h>
}

namespace dnn_torch
{

// Owns a list of ends.
struct Ends {
    AVFilterInOut *first = nullptr;

    Ends() = default;
    explicit Ends(AVFilterInOut *list) : first(list) {}
    ~Ends() { avfilter_inout_free(&first); }
    Ends(const Ends &) = delete;
    Ends &operator=(const Ends &) = delete;

    AVFilterInOut *release();
    // Removes the end with this label from the list and returns it; NULL if there is none.
    // `label` may be NULL.
    AVFilterInOut *extract(const char *label);
    AVFilterInOut *take_first();
    void append(AVFilterInOut *list);
    void prepend(AVFilterInOut *end);
};

// Throws if there is no memory.
AVFilterInOut *make_end(char *name, AVFilterContext *filter, int pad);

void skip_whitespace(const char **at);

// Reads "[name]" at `*at` and returns the name, which av_free() frees.  On a syntax error,
// logs it and returns NULL.  Throws if there is no memory.
char *parse_label(const char **at, void *log_ctx);

// Reads "sws_flags=...;" at `*at` into `*options`, if it is there.
int parse_scaler_options(const char **at, char **options, void *log_ctx);

// Empties the graph, as a failed parse must, and returns `error`.
int fail_graph(AVFilterGraph *graph, int error);

} // namespace dnn_torch
