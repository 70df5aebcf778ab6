// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The records of a zip archive as PyTorch writes it.  Needs no LibTorch.
//
// LibTorch's own zip reader trusts the central directory: an archive may show it other records than
// another reader sees.  This one is strict.  It compares the local headers with the directory and
// refuses what PyTorch does not write.  archive_adapter.h gives LibTorch the checked bytes and no
// others, so the bytes that are checked are the bytes that are loaded.
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

// The archive seems sound, but PyTorch does not write such archives.
struct ZipOddity : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct ZipRecord {
    std::string name; // with its first folder: "model/data.pkl"
    std::string_view bytes;
    size_t stored_size; // bytes in the archive; fewer if compressed
};

// Checks every record: it is where both lists say, without gaps between records; its size and
// CRC-32 match both lists; no two names differ only in case.  Never changes; any thread.
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

// Returns the records' names from the central directory, without reading the records.  Returns none
// if the directory is damaged or the file is not an archive.
std::vector<std::string> names_in_zip(std::string_view file);

} // namespace engine_torch
