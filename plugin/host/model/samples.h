// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Pictures as a model gets them, by which int8 is calibrated.
#pragma once

#include "dnn_torch/engine.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dnn_torch
{

// Belongs to one thread until it is full; then any thread may read it.
class Samples
{
public:
    Samples();

    static constexpr size_t most = 8; // pictures; later ones are left out

    // Copies pictures of floats, [batch, channels, height, width].  Of large ones it keeps the
    // middle, and leaves out those of another shape than the first.
    void add(const DnnTorchTensor &pictures);

    bool empty() const { return count_ == 0; }
    // Tells it from all others of the process.
    uint64_t number() const { return number_; }
    // All of them as one tensor in the memory of this object.
    DnnTorchTensor tensor() const;

private:
    const uint64_t number_;
    int64_t channels_ = 0, height_ = 0, width_ = 0; // of the pictures that came
    int64_t rows_ = 0, columns_ = 0;                // of those that are kept
    size_t count_ = 0;
    mutable std::vector<float> numbers_; // tensors are views that may be written to
};

// Thrown by a session that only gathers the pictures which it is to run.
struct SampleTaken {
};

} // namespace dnn_torch
