// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Reads an archive of torch.export.save(): a graph in JSON, and tensors.  Needs no LibTorch.
//
// PyTorch 2.1 to 2.7 wrote records without a folder, and the tensors as checkpoints.  Since 2.8
// there is a folder, and since 2.9 a record of numbers for each tensor.
#pragma once

#include "engines/torch/checkpoint/torch_file.h"
#include "engines/torch/checkpoint/weights.h"
#include "engines/torch/file/zip_records.h"

#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace engine_torch
{

// Access to untrusted JSON.  Each throws a WeightFault if the value is of another kind.
using ExportJson = nlohmann::json;
const ExportJson &member_of(const ExportJson &object, const char *key);
const ExportJson &list_in(const ExportJson &object, const char *key);
std::string text_in(const ExportJson &object, const char *key);
int64_t whole_of(const ExportJson &value);
[[noreturn]] void fail_as_damaged(std::string_view what);

// Returns the only entry of a union: {"as_int": 3} has the kind "as_int".
struct ExportUnion {
    std::string_view kind;
    const ExportJson &value;
};
ExportUnion union_of(const ExportJson &value);

// Returns the type that torch.export gives this number, or nullopt if it is not known here.
std::optional<ElementType> export_type(const ExportJson &number);

// Never changes; any thread.  Refers to the file's bytes.
class ExportArchive
{
public:
    // By the names of the records.
    static bool is_one(std::string_view file);

    // Throws a WeightFault that says what is wrong.
    explicit ExportArchive(std::string_view file);

    const ExportJson &program() const noexcept { return program_; }
    // Parameters, buffers and constants.
    const Weights::Map &tensors() const noexcept { return tensors_; }
    // A contract in the file, or "".
    std::string_view contract() const noexcept { return contract_; }

private:
    void read(std::string_view file);
    std::string name_of_model() const;
    void take_tensors(const std::string &model, const std::string &kind);
    void take_checkpoint(std::string_view bytes);
    void take_payload(const std::string &name, const ExportJson &about, std::string_view bytes);
    void take(const std::string &name, const Weight &weight);
    std::string_view record(const std::string &name) const;

    size_t file_size_;
    std::optional<ZipRecords> zip_; // owns decompressed records
    std::deque<TorchFile> checkpoints_;
    std::map<std::string, std::string_view, std::less<>> records_; // by names without the folder
    ExportJson program_;
    Weights::Map tensors_;
    uint64_t tensor_bytes_ = 0;
    std::string_view contract_;
};

} // namespace engine_torch
