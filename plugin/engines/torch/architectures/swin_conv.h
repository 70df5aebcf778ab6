// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The blocks of SCUNet and TSCUNet: half of the channels go through convolutions, the others
// through attention within windows of 8x8.
#pragma once

#include "windows.h"

#include <map>
#include <string>

namespace engine_torch
{

class SwinConvBlocks
{
public:
    explicit SwinConvBlocks(Net &net) : net_(net) {}

    // Writes the blocks `first` to `end` - 1 of the sequence whose names begin with `part`.  If
    // `shifts`, every second one shifts its windows.  Pictures of one `depth` have one size.
    Expression made(Expression x, const std::string &part, int64_t first, int64_t end,
                    int64_t depth, bool shifts = true);

private:
    Expression block(const Expression &x, const std::string &prefix, int64_t depth,
                     bool is_shifted);
    Expression transformed(const Expression &x, const std::string &prefix, const ShiftMasks *masks);
    Expression attention(const Expression &x, const std::string &prefix, const ShiftMasks *masks);
    const ShiftMasks *masks(const Expression &x, int64_t depth);

    Net &net_;
    Expression positions_;
    std::map<int64_t, ShiftMasks> masks_;
};

} // namespace engine_torch
