// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Operators of our own that look at arguments before an operator of LibTorch gets them.
#pragma once

#include <c10/util/ArrayRef.h>
#include <cstdint>

namespace engine_torch
{

// Fails unless these are whole numbers that LibTorch can add up.  It does not look, and writes
// beyond the tensor.  Whoever changes the counts afterwards changes another tensor.
constexpr const char *sound_counts = "dnn_torch::sound_counts";

// Fails unless the size of one dimension, counted from the last one, is what the scale makes of the
// tensor's.  LibTorch computes where samples lie from the scale alone, and how many there are from
// the size alone.  Returns the sizes.
constexpr const char *sound_sizes = "dnn_torch::sound_sizes";

// Fails unless this is the number of a type that tensors may have, or none.  LibTorch takes the low
// byte of any number, and looks up what stands beyond its tables.
constexpr const char *sound_type = "dnn_torch::sound_type";

// Fails if the matrix is of complex numbers: OpenBLAS reads beyond those that LAPACK hands it.
constexpr const char *sound_reals = "dnn_torch::sound_reals";

// Fails if the list is empty.
constexpr const char *sound_dimensions = "dnn_torch::sound_dimensions";

// Fails if one side of a dimension is cut and the other one padded: where a picture goes on with
// its other end, LibTorch leaves samples as they were in memory.
constexpr const char *sound_padding = "dnn_torch::sound_padding";

// Whether sound_padding takes it.
bool is_padding(c10::ArrayRef<int64_t> sides);

// Whether sound_type takes it.
bool is_type(int64_t number);

// Makes them known.  Any thread, any number of times.
void register_sound_arguments();

} // namespace engine_torch
