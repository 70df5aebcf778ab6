// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The order of the dimensions of pictures.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>

namespace engine_torch
{

// n: batch, t: frames, c: channels, h: height, w: width.  A layout without n takes one picture at a
// time; a layout without c has pictures of one channel.  Only results of segments have a t.
enum class Layout { nchw, nhwc, chw, hwc, nhw, hw, ntchw, ncthw, tchw, cthw };

const char *name_of(Layout layout);

// Returns nullopt if there is no such name.  layout_names() lists the names.
std::optional<Layout> find_layout(const std::string &name);
std::string layout_names();

int64_t rank_of(Layout layout);
bool has_batch(Layout layout);
bool has_channels(Layout layout);
bool has_frames(Layout layout);
bool ends_with_channels(Layout layout);

// Returns a view of pictures [batch, channels, height, width] in that layout.  The channels are
// those of all `frames`, one frame after the other.  Throws a Failure if the layout has no
// dimension for several pictures or channels.
at::Tensor in_layout(const at::Tensor &pictures, Layout layout, int64_t frames);

// Does the reverse.  The tensor must have the rank of the layout.
at::Tensor from_layout(const at::Tensor &tensor, Layout layout);

// The frames that a model takes and returns together.  They cross the engine as a batch.
struct Segment {
    int64_t length = 0;     // frames, at most; 0: the model takes pictures, not segments
    bool repeats = false;   // shorter ones are filled up with the last frame, and not backwards
    bool is_filled = false; // trials showed that the model takes no shorter ones
    bool mixes = false;     // trials showed that a frame has an effect on others
};

// Returns a whole segment, whose end is made of the given frames: backwards, and forwards again if
// need be.  Returns whole segments as they are.
at::Tensor filled_up(const at::Tensor &frames, const Segment &segment);

// Returns whether a segment can have that layout.
bool can_be_segment(Layout layout);

// Returns the frames [batch, channels, height, width] as the model takes them.  Without t and with
// c in the layout nchw, their channels follow one another.  Throws a Failure if there are more than
// the segment's length.
at::Tensor as_segment(const at::Tensor &frames, Layout layout, const Segment &segment);

// Does the reverse with a result, which must have the rank of the layout.  Throws a Failure if it
// is not one frame for each of `count`.
at::Tensor from_segment(const at::Tensor &tensor, Layout layout, int64_t count);

// Guesses the layout of a result from its extents, given one input picture of `height` x `width`.
// An extent of 1, 3 or 4 can be the channels; `input` decides between several.  Returns nullopt if
// the extents cannot be a picture's.
std::optional<Layout> guess_layout(at::IntArrayRef extents, Layout input, int64_t height,
                                   int64_t width);

// The same for maps of `batch` pictures.  Maps may have any number of channels.
std::optional<Layout> guess_map_layout(at::IntArrayRef extents, Layout input, int64_t batch,
                                       int64_t height, int64_t width);

} // namespace engine_torch
