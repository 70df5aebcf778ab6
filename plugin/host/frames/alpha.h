// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Gives a frame another alpha.
#pragma once

#include "host/ffmpeg_pointers.h"
#include "picture.h"

namespace dnn_torch
{

// Copies what lies in other planes than alpha.  Both frames have the same size and format, which
// has alpha.  What shares a plane with alpha is copied by write_picture() with Part::alpha.
void copy_all_but_alpha(const AVFrame *from, AVFrame *to);

} // namespace dnn_torch
