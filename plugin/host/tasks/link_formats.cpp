// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "link_formats.h"

#include "host/frames/formats.h"

namespace dnn_torch
{
namespace
{

const AVPixelFormat *taken(Channels channels)
{
    switch (channels) {
    case Channels::rgb:
        return formats_for_rgb_models();
    case Channels::luma:
        return formats_for_luma_models();
    case Channels::rgba:
        return rgb_formats_with_alpha();
    default:
        return formats_for_any_model();
    }
}

LinkFormats unchanged(const AVPixelFormat *formats)
{
    return {.in = formats, .out = formats};
}

} // namespace

// Where alpha is made, frames come with an alpha of their own, which libavfilter adds without
// loss.  So they keep their formats, and their colours to the bit.
LinkFormats link_formats(const FoundChannels &found, As as)
{
    const int in = count_of(found.channels), out = found.made ? found.made : in;
    if (as == As::alpha)
        return unchanged(in == 4 ? rgb_formats_with_alpha() : formats_with_alpha(in));
    const bool makes_grey = as == As::grey || as == As::depth;
    if (!makes_grey && (found.channels == Channels::any || in == out))
        return unchanged(taken(found.channels));
    // Luma of YUV has a range of its own and is not grey.
    if (in == 1 && out == 1)
        return unchanged(grey_formats());
    if (in == 1)
        return {.in = grey_formats(),
                .out = out == 4 ? rgb_formats_with_alpha() : opaque_rgb_formats()};
    if (out == 1)
        return {.in = in == 4 ? rgb_formats_with_alpha() : formats_for_rgb_models(),
                .out = grey_formats()};
    return unchanged(rgb_formats_with_alpha());
}

} // namespace dnn_torch
