// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A file of weights without code, checked before anybody uses it.  Needs no LibTorch.
#pragma once

#include "engines/torch/file/file_bytes.h"
#include "weights.h"

#include <string>

namespace engine_torch
{

// The one owner of the file's bytes.  Never changes; any thread.
class Checkpoint
{
public:
    // Whether the file is a checkpoint by its first bytes and its records.
    static bool is_one(const FileBytes &file);

    // Throws a Failure that names the file and says what to do, unless all tensors lie within the
    // file and nothing else than tensors, numbers, texts and containers of them is asked for.
    explicit Checkpoint(FileBytes file);

    const std::string &name() const noexcept { return file_.name(); }
    // "safetensors", "PyTorch checkpoint", ...
    const std::string &format() const noexcept { return format_; }
    // Those that belong to the model, without what stands before all names.
    const Weights &weights() const noexcept { return weights_; }
    // A hash of the whole file.
    std::string hash() const;
    [[noreturn]] void refuse(const std::string &words) const { file_.refuse(words); }

private:
    FileBytes file_;
    std::string format_;
    Weights weights_;
};

} // namespace engine_torch
