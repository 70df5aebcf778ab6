// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Frames that a filter of this process took with it when it was freed.  Programs free a
// graph with frames in it if nobody wants them, and also if they put another graph in its
// place; only that is a loss.
#pragma once

#include <cstddef>
#include <string>

namespace dnn_torch
{

struct LostFrames {
    size_t frames;
    std::string model;
    double last_seconds; // the time of the last frame that came in; maybe NaN
};

// Remembers the latest ones.  Any thread may call.
void remember_lost(LostFrames lost);

// How many frames of this model are missing before the first one of a stream, if the
// stream goes on where the lost frames were; otherwise 0.  Forgets them.
size_t take_lost_before(const std::string &model, double first_seconds);

} // namespace dnn_torch
