// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A file of weights without code, checked before anybody uses it.  Needs no LibTorch.
#pragma once

#include "candidates.h"
#include "engines/torch/file/file_bytes.h"

#include <optional>
#include <string>

namespace engine_torch
{

// The one owner of the file's bytes.  Never changes; any thread.
class Checkpoint
{
public:
    // Whether the file is a checkpoint by its first bytes and its records.
    static bool is_one(const FileBytes &file);

    // Throws a Failure that names the file and says what to do, unless it holds named tensors that
    // all lie within the file.  What a pickle asks for is never run.  A value that only Python
    // could make is left out where no weights depend on it, as with the hyper_parameters of
    // Lightning.
    explicit Checkpoint(FileBytes file);

    const std::string &name() const noexcept { return file_.name(); }
    // "safetensors", "PyTorch checkpoint", ...
    const std::string &format() const noexcept { return format_; }
    // Where the model's weights may be, best first; at least one.
    const Candidates &candidates() const noexcept { return candidates_; }
    // All that are in the file, also those that are in no candidate.
    size_t tensor_count() const;
    // A hash of the whole file.
    std::string hash() const;
    [[noreturn]] void refuse(const std::string &words) const { file_.refuse(words); }

private:
    void read();

    FileBytes file_;
    std::string format_;
    std::optional<TorchFile> torch_file_; // holds what was compressed
    Candidates candidates_;
};

} // namespace engine_torch
