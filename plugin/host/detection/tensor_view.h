// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Reads the tensors of a detector, whose elements are floats or 64-bit integers.
//
// Views own nothing.  Any thread may read them.
#pragma once

#include "dnn_torch/engine.h"

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace dnn_torch
{

// An extent that may be anything.
constexpr int64_t any_extent = -1;

// Returns whether the tensor has that rank and those extents.
bool has_shape(const DnnTorchTensor &tensor, std::initializer_list<int64_t> extents);

// Returns whether `last_part` is the last part of the tensor's name: "boxes" of "1.0.boxes".
bool is_named(const DnnTorchTensor &tensor, std::string_view last_part);

// Returns the tensor's name without its last part: "1.0" of "1.0.boxes".
std::string_view name_before_last(const DnnTorchTensor &tensor);

// Returns "0 [1,84,8400], 1 [1,32,160,160]", safe for a terminal.
std::string shapes_text(std::span<const DnnTorchTensor> tensors);

// Values in rows, one row for each candidate.
struct Rows {
    const char *data = nullptr;
    int64_t count = 0, width = 0;
    int64_t row_step = 0, value_step = 0; // in bytes
    bool whole_numbers = false;

    // The indices are not checked.
    float at(int64_t row, int64_t value) const
    {
        const char *place = data + row * row_step + value * value_step;
        if (whole_numbers) {
            int64_t number = 0;
            std::memcpy(&number, place, sizeof number);
            return static_cast<float>(number);
        }
        float number = 0;
        std::memcpy(&number, place, sizeof number);
        return number;
    }

    // The same without the first values of each row.
    Rows without_first(int64_t values) const
    {
        Rows remainder = *this;
        remainder.data += values * value_step;
        remainder.width -= values;
        return remainder;
    }
};

// The axes of a tensor's rows and of their values.  The index in all other axes is 0.
struct RowAxes {
    int rows = 0;
    int values = -1;  // below 0: each row is one value
    int picture = -1; // the batch axis; below 0: there is only one picture
};

// The most values of a tensor that are read for one picture.  A tensor with strides of 0 may have
// many more values than bytes, and reading them takes time in ffmpeg's own process.
constexpr int64_t most_values = 64 << 20;

// Returns the rows of picture `index`.  Throws Error if the tensor has no such picture, holds
// neither floats nor 64-bit integers, or has more than most_values for a picture.
Rows rows_of(const DnnTorchTensor &tensor, int index, const RowAxes &axes);

// Returns whether a float of the tensors is NaN or infinite, or may be because there are more than
// most_values.
bool has_no_number(std::span<const DnnTorchTensor> tensors);

// Throws Error that the decoder was not made for these tensors.
[[noreturn]] void refuse_tensors(const char *decoder, std::span<const DnnTorchTensor> tensors);

} // namespace dnn_torch
