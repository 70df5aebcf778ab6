// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Owns a file descriptor.
#pragma once

#include <unistd.h>
#include <utility>

namespace dnn_torch
{

class Descriptor
{
public:
    Descriptor() = default;
    // Takes the result of open(); below 0 it owns nothing.
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor()
    {
        if (number_ >= 0)
            close(number_);
    }
    Descriptor(Descriptor &&other) noexcept : number_(other.release()) {}
    Descriptor &operator=(Descriptor &&other) noexcept
    {
        std::swap(number_, other.number_);
        return *this;
    }

    bool is_open() const { return number_ >= 0; }
    int get() const { return number_; }
    int release() { return std::exchange(number_, -1); }

private:
    int number_ = -1;
};

} // namespace dnn_torch
