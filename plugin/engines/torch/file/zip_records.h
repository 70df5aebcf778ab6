// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The records of a zip archive as PyTorch writes it.  Needs no LibTorch.
#pragma once

#include <cstddef>
#include <deque>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace engine_torch
{

// The archive is not what its own numbers say.
struct ZipDamage : std::runtime_error {
    ZipDamage() : std::runtime_error("the archive is damaged") {}
};

// The archive is sound, or looks so, but PyTorch writes none like it.
struct ZipOddity : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct ZipRecord {
    std::string name; // with its first folder: "model/data.pkl"
    std::string_view bytes;
    size_t stored_size; // in the archive; less than the bytes if it is compressed
};

// Every record is checked: it lies where both lists say, beside its neighbours
// without a gap, in the size and with the CRC-32 that they tell, and no other
// has its name in any case.  Never changes; any thread.
class ZipRecords
{
public:
    // `archive` must outlive the object.  Throws one of the two above.
    explicit ZipRecords(std::string_view archive);

    const std::vector<ZipRecord> &all() const noexcept { return records_; }

private:
    std::vector<ZipRecord> records_;
    std::deque<std::string> inflated_;
};

} // namespace engine_torch
