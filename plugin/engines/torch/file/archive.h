// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A TorchScript file, checked before LibTorch reads it.  Needs no LibTorch.
#pragma once

#include "file_bytes.h"
#include "source_check.h"
#include "zip_records.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace engine_torch
{

// The only owner of a model file's bytes.  Never changes; any thread.
class Archive
{
public:
    // Throws a Failure that names the file and says what to do, unless it is a complete TorchScript
    // archive: records are sound, CRCs match, values and code are as PyTorch writes them, and each
    // tensor is within its storage.
    explicit Archive(FileBytes file);

    const std::string &name() const noexcept { return file_.name(); }

    // The records that LibTorch needs, by their names without the first folder.  LibTorch does not
    // get the others, such as debug information.
    const std::map<std::string, std::string_view> &records() const noexcept { return records_; }

    // The extra files that are known (file_contract.h), by their names.
    const std::map<std::string, std::string_view> &extras() const noexcept { return extras_; }

    // What the code may do.  The classes include custom classes of its values.
    const SourceFacts &facts() const noexcept { return facts_; }

    // A hash of the whole file.
    std::string hash() const;

private:
    void take_records();
    void check_code();
    void check_values(const std::string &name);
    std::optional<uint64_t> size_of(const std::string &name) const;

    FileBytes file_;
    std::optional<ZipRecords> zip_;
    std::map<std::string, std::string_view> records_, extras_;
    SourceFacts facts_;
};

} // namespace engine_torch
