// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A TorchScript file, checked before LibTorch sees it.  Needs no LibTorch.
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

// The one owner of a model file's bytes.  Never changes; any thread.
class Archive
{
public:
    // Reads the source, once.  Throws a Failure that names it and says what to
    // do, unless it is a whole TorchScript archive: of sound records with right
    // CRCs, values and code in PyTorch's own form, each tensor within its numbers.
    explicit Archive(const DnnTorchSource &source);

    const std::string &name() const noexcept { return file_.name(); }

    // What LibTorch needs of it, by the name without the first folder.  The rest,
    // such as what helps to debug, it does not get to see.
    const std::map<std::string, std::string_view> &records() const noexcept { return records_; }

    // What its code may do; custom classes of its values are among the classes.
    const SourceFacts &facts() const noexcept { return facts_; }

    // Of the whole file.
    std::string hash() const;

private:
    void take_records();
    void check_code();
    void check_values(const std::string &name);
    std::optional<uint64_t> size_of(const std::string &name) const;

    FileBytes file_;
    std::optional<ZipRecords> zip_;
    std::map<std::string, std::string_view> records_;
    SourceFacts facts_;
};

} // namespace engine_torch
