// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A model's bytes, read once.  Needs no LibTorch.
#pragma once

#include "dnn_torch/engine.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace engine_torch
{

// The contents of a source, in memory that no other process can change: the bytes that are checked
// are the bytes that are loaded.  Never changes; any thread.
class FileBytes
{
public:
    // Reads the file of the descriptor from its beginning, or copies the bytes.  Never waits for a
    // pipe or a device.  Throws a Failure that names the file unless it is a regular file that can
    // be read.
    explicit FileBytes(const DnnTorchSource &source);

    const std::string &name() const noexcept { return name_; }
    std::string_view bytes() const noexcept { return {bytes_.get(), size_}; }

    // Throws a Failure with the file's name and these words.
    [[noreturn]] void refuse(const std::string &words,
                             DnnTorchStatus status = DNN_TORCH_BAD_MODEL) const;

private:
    void take_size_of(int descriptor);
    void read(int descriptor);

    std::string name_;
    std::unique_ptr<char[]> bytes_;
    size_t size_ = 0;
};

} // namespace engine_torch
