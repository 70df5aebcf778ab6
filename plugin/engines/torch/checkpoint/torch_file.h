// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Files written by torch.save(): a pickle, and the numbers of its tensors.  Needs no LibTorch.
//
// Since PyTorch 1.6 they are zip archives with a record for each storage.  Before, they were five
// pickles in a row (a magic number, a version, the machine, the object, the keys of its storages),
// followed by the numbers of each storage after their count.
#pragma once

#include "engines/torch/file/zip_records.h"
#include "pickle.h"
#include "weights.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace engine_torch
{

// Never changes; any thread.  Refers to the file's bytes.
class TorchFile
{
public:
    // Checks the first bytes, or the names of the records.  TorchScript is another format.
    static bool is_one(std::string_view file);

    // Throws a WeightFault if the file is damaged.
    explicit TorchFile(std::string_view file);

    size_t size() const noexcept { return size_; } // in bytes
    const char *format() const noexcept { return format_; }
    const Pickle &pickle() const noexcept { return *pickle_; }

    // Returns the tensor, which refers to the file's bytes.  Throws a WeightFault with the tensor's
    // name if it reaches beyond its storage or its element type is not supported.
    Weight weight(const PickledValue &tensor, std::string_view name) const;

private:
    void read_archive(std::string_view file);
    void read_older(std::string_view file);
    void read_numbers(const Pickle &keys, std::string_view rest);
    std::string_view numbers_of(const PickledValue &storage, size_t element) const;

    size_t size_;
    const char *format_;
    std::unique_ptr<ZipRecords> zip_; // owns decompressed records
    std::unique_ptr<Pickle> pickle_;
    std::map<std::string, std::string_view, std::less<>> storages_; // by key
};

} // namespace engine_torch
