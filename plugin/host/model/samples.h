// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The model's input pictures with which int8 is calibrated.
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

    // Copies pictures of floats, [batch, channels, height, width].  Keeps only the middle of large
    // ones.  Leaves out pictures whose shape differs from the first one's.
    void add(const DnnTorchTensor &pictures);

    bool empty() const { return count_ == 0; }
    // Returns a number that is unique in the process.
    uint64_t number() const { return number_; }
    // Returns all pictures as one tensor in the memory of this object.
    DnnTorchTensor tensor() const;

private:
    const uint64_t number_;
    int64_t channels_ = 0, height_ = 0, width_ = 0; // of the added pictures
    int64_t rows_ = 0, columns_ = 0;                // of the part that is kept
    size_t count_ = 0;
    mutable std::vector<float> numbers_; // mutable: tensors point to non-const data
};

// Thrown by a session that gathers its pictures instead of running them.
struct SampleTaken {
};

} // namespace dnn_torch
