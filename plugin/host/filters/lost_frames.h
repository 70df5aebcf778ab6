// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Remembers frames that were in a filter of this process when it was freed.  A program may free a
// graph because nobody wants its frames, or because it replaces the graph.  Only in the second
// case are the frames lost.
#pragma once

#include <cstddef>
#include <string>

namespace dnn_torch
{

struct LostFrames {
    size_t frames;
    std::string model;
    double last_seconds; // the time of the last frame received; may be NaN
};

// Remembers the latest ones.  Any thread may call.
void remember_lost(LostFrames lost);

// Returns how many frames of this model are lost before the first one of a stream, if the stream
// continues at their time; otherwise 0.  Forgets them.
size_t take_lost_before(const std::string &model, double first_seconds);

} // namespace dnn_torch
