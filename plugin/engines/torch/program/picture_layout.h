// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// In which order a model has the dimensions of pictures.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>

namespace engine_torch
{

// n: batch, c: channels, h: height, w: width.  A layout without n takes one picture at a time, and
// one without c has pictures of one channel.
enum class Layout { nchw, nhwc, chw, hwc, nhw, hw };

const char *name_of(Layout layout);

// Returns nullopt if there is no such name.  layout_names() lists the names.
std::optional<Layout> find_layout(const std::string &name);
std::string layout_names();

int64_t rank_of(Layout layout);
bool has_batch(Layout layout);
bool has_channels(Layout layout);
bool ends_with_channels(Layout layout);

// Returns a view of pictures [batch, channels, height, width] in that layout.  Throws a Failure if
// the layout has no place for so many pictures or channels.
at::Tensor in_layout(const at::Tensor &pictures, Layout layout);

// The reverse.  The tensor must have the rank of the layout.
at::Tensor from_layout(const at::Tensor &tensor, Layout layout);

// Guesses from its extents in which layout a result is, for one picture of `height` x `width` that
// went in.  A place of 1, 3 or 4 is that of the channels; `input` decides where several fit.
// Returns nullopt if the extents are no picture's.
std::optional<Layout> guess_layout(at::IntArrayRef extents, Layout input, int64_t height,
                                   int64_t width);

// The same of maps, which may have any number of channels, for `batch` pictures.
std::optional<Layout> guess_map_layout(at::IntArrayRef extents, Layout input, int64_t batch,
                                       int64_t height, int64_t width);

} // namespace engine_torch
