// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The U-net of SCUNet and TSCUNet.  In its blocks half of the channels go through convolutions, the
// others through attention within windows of 8x8.
#pragma once

#include "windows.h"

#include <functional>
#include <map>
#include <string>
#include <utility>

namespace engine_torch
{

class SwinConvUNets
{
public:
    // Doubles the size of a picture by the layer of that name.
    using Enlarge = std::function<Expression(const Expression &x, const std::string &layer)>;

    // `shifts_deepest`: whether every second block shifts at the lowest resolution, too.
    SwinConvUNets(Net &net, bool shifts_deepest, Enlarge enlarge)
        : net_(net), shifts_deepest_(shifts_deepest), enlarge_(std::move(enlarge))
    {
    }

    // Writes the U-net of PREFIXm_down1 to PREFIXm_up1.  All pictures have one size.
    Expression made(Expression x, const std::string &prefix);

private:
    Expression blocks(Expression x, const std::string &part, int64_t first, int64_t end,
                      int64_t depth);
    Expression block(const Expression &x, const std::string &prefix, int64_t depth,
                     bool is_shifted);
    Expression transformed(const Expression &x, const std::string &prefix, const ShiftMasks *masks);
    Expression attention(const Expression &x, const std::string &prefix, const ShiftMasks *masks);
    const ShiftMasks *masks(const Expression &x, int64_t depth);

    Net &net_;
    const bool shifts_deepest_;
    const Enlarge enlarge_;
    Expression positions_;
    std::map<int64_t, ShiftMasks> masks_;
};

} // namespace engine_torch
