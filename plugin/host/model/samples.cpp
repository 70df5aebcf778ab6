// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "samples.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>

namespace dnn_torch
{
namespace
{

// 6 MiB of RGB floats.  The middle of a larger picture suffices.
constexpr double most_sampled_pixels = 1 << 19;

void append_row(const std::byte *row, int64_t stride, int64_t columns, std::vector<float> &to)
{
    for (int64_t x = 0; x < columns; x++)
        to.push_back(*reinterpret_cast<const float *>(row + x * stride));
}

} // namespace

Samples::Samples()
    : number_([] {
          static std::atomic<uint64_t> last{0};
          return ++last;
      }())
{
}

void Samples::add(const DnnTorchTensor &pictures)
{
    const int64_t *const dims = pictures.dims, *const strides = pictures.strides;
    if (pictures.type != DNN_TORCH_F32 || pictures.rank != 4)
        return;
    if (count_ == 0) {
        channels_ = dims[1];
        height_ = dims[2];
        width_ = dims[3];
        const double pixels = static_cast<double>(height_) * static_cast<double>(width_);
        const double part = std::min(1.0, std::sqrt(most_sampled_pixels / pixels));
        rows_ = std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(height_) * part));
        columns_ = std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(width_) * part));
    }
    if (dims[1] != channels_ || dims[2] != height_ || dims[3] != width_)
        return;
    const int64_t above = (height_ - rows_) / 2, left = (width_ - columns_) / 2;
    for (int64_t n = 0; n < dims[0] && count_ < most; n++, count_++)
        for (int64_t c = 0; c < channels_; c++)
            for (int64_t y = above; y < above + rows_; y++)
                append_row(static_cast<const std::byte *>(pictures.data) + n * strides[0] +
                               c * strides[1] + y * strides[2] + left * strides[3],
                           strides[3], columns_, numbers_);
}

DnnTorchTensor Samples::tensor() const
{
    constexpr int64_t size = sizeof(float);
    return {.size = sizeof(DnnTorchTensor),
            .data = numbers_.data(),
            .type = DNN_TORCH_F32,
            .rank = 4,
            .dims = {static_cast<int64_t>(count_), channels_, rows_, columns_},
            .strides = {size * channels_ * rows_ * columns_, size * rows_ * columns_,
                        size * columns_, size},
            .white = 0};
}

} // namespace dnn_torch
