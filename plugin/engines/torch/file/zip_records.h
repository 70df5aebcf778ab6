// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The records of a zip archive as PyTorch writes it.  Needs no LibTorch.
//
// LibTorch has a zip reader of its own, but it trusts the central directory: an archive may
// show it other records than it shows another reader.  This one is strict.  It holds both lists
// against each other and refuses what PyTorch does not write.  What it returns are the bytes that
// it checked, and archive_adapter.h hands LibTorch these and no others.  So the bytes that are
// checked are the bytes that are loaded.
#pragma once

#include <cstddef>
#include <deque>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace engine_torch
{

// The archive contradicts itself.
struct ZipDamage : std::runtime_error {
    ZipDamage() : std::runtime_error("the archive is damaged") {}
};

// The archive seems sound, but PyTorch does not write archives like it.
struct ZipOddity : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct ZipRecord {
    std::string name; // with its first folder: "model/data.pkl"
    std::string_view bytes;
    size_t stored_size; // bytes in the archive; fewer if compressed
};

// Checks every record: it lies where both lists say, without a gap to its neighbours; its size and
// CRC-32 are those in the lists; no other record has the same name, in upper or lower case.  Never
// changes; any thread.
class ZipRecords
{
public:
    // `archive` must outlive the object.  Throws ZipDamage or ZipOddity.
    explicit ZipRecords(std::string_view archive);

    const std::vector<ZipRecord> &all() const noexcept { return records_; }

private:
    std::vector<ZipRecord> records_;
    std::deque<std::string> inflated_;
};

// Returns the records' names as the central directory has them, without looking at the records.
// Returns none if the directory is damaged or the file is no archive.
std::vector<std::string> names_in_zip(std::string_view file);

} // namespace engine_torch
