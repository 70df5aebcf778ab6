// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Operators of our own that check arguments before an operator of LibTorch gets them.
#pragma once

#include <c10/util/ArrayRef.h>
#include <cstdint>

namespace engine_torch
{

// Throws unless these are integers that LibTorch can add up: LibTorch does not check them, and
// writes beyond the tensor.  Returns a copy, so that later changes of the counts do no harm.
constexpr const char *sound_counts = "dnn_torch::sound_counts";

// Throws unless the size of one dimension, counted from the last, matches the tensor's size times
// the scale.  LibTorch computes positions from the scale alone and their number from the size
// alone.  Returns the sizes.
constexpr const char *sound_sizes = "dnn_torch::sound_sizes";

// Throws unless this is the number of a type that tensors may have, or None.  LibTorch uses the low
// byte of any number as an index, which may be beyond its tables.
constexpr const char *sound_type = "dnn_torch::sound_type";

// Throws if the matrix is complex: OpenBLAS reads beyond the complex numbers that LAPACK passes.
constexpr const char *sound_reals = "dnn_torch::sound_reals";

// Throws if the list is empty.
constexpr const char *sound_dimensions = "dnn_torch::sound_dimensions";

// Throws if one side of a dimension is cropped and the other one padded: with circular padding,
// LibTorch then leaves some samples uninitialised.
constexpr const char *sound_padding = "dnn_torch::sound_padding";

// Whether sound_padding accepts it.
bool is_padding(c10::ArrayRef<int64_t> sides);

// Whether sound_type accepts it.
bool is_type(int64_t number);

// Registers the operators.  Any thread, any number of times.
void register_sound_arguments();

} // namespace engine_torch
