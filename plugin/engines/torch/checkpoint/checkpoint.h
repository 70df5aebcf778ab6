// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A file of weights without code, checked before it is used.  Needs no LibTorch.
#pragma once

#include "candidates.h"
#include "engines/torch/file/file_bytes.h"

#include <optional>
#include <string>

namespace engine_torch
{

// The only owner of the file's bytes.  Never changes; any thread.
class Checkpoint
{
public:
    // Whether the file is a checkpoint by its first bytes and its records.
    static bool is_one(const FileBytes &file);

    // Throws a Failure that names the file and says what to do, unless it contains named tensors
    // that are all within the file.  Never runs what a pickle asks for.  Skips a value that only
    // Python could create if no weights depend on it, such as Lightning's hyper_parameters.
    explicit Checkpoint(FileBytes file);

    const std::string &name() const noexcept { return file_.name(); }
    // "safetensors", "PyTorch checkpoint", ...
    const std::string &format() const noexcept { return format_; }
    // Where the model's weights may be, best first; at least one.
    const Candidates &candidates() const noexcept { return candidates_; }
    // The number of tensors in the file, including those in no candidate.
    size_t tensor_count() const;
    // A hash of the whole file.
    std::string hash() const;
    [[noreturn]] void refuse(const std::string &words) const { file_.refuse(words); }

private:
    void read();

    FileBytes file_;
    std::string format_;
    std::optional<TorchFile> torch_file_; // owns decompressed records
    Candidates candidates_;
};

} // namespace engine_torch
