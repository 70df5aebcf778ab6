// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Zip archives taken apart and put together again with check sums that fit, so that
// what a change did to a member gets past whoever reads the archive.
#pragma once

#include "random.h"

#include <optional>
#include <string>
#include <vector>

namespace fuzz
{

struct Member {
    std::string name;
    std::string stored;      // as it lies in the file
    unsigned method = 0;     // 0: as it is, 8: deflated
    unsigned flags = 0;      // 8: sizes follow the data once more
    uint64_t size = 0;       // uncompressed; of method 0 what is stored, unless it lies
    uint32_t crc = 0;        // of the uncompressed bytes
    bool is_aligned = false; // as PyTorch does it, to 64 bytes

    // Of method 0: puts in other bytes, and makes all the numbers fit.
    void put(std::string contents);
};

struct Archive {
    std::vector<Member> members;
    bool has_end64 = false; // ends in the form for large archives as well
};

// Nothing where the bytes are no archive in order.
std::optional<Archive> take_apart(const std::string &bytes);

std::string put_together(const Archive &archive);

uint32_t crc_of(const std::string &bytes);

// A member that says it holds `size` zeros, and does.
Member bomb(const std::string &name, uint64_t size);

} // namespace fuzz
