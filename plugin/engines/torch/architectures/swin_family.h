// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What SwinIR and its successors share: everything but the blocks of their layers.
//
// A convolution, layers of blocks (B, H, W, C), a convolution, and an enlargement.  Their weights:
//
//     conv_first (conv_first.1 after an unshuffle), patch_embed.norm, layers.N, norm,
//     conv_after_body, conv_before_upsample.0, upsample.N or conv_upN and conv_hr, conv_last
#pragma once

#include "net.h"
#include "windows.h"

#include <functional>
#include <string>

namespace engine_torch
{

struct SwinFamily {
    int64_t window = 0; // the picture is padded to multiples of it
    bool shifts = true; // whether every second block shifts its windows by half a window
    double range = 1;   // of the samples in the network
    // Writes the layer of the weights "layers.N.".  `masks` is null if no block shifts.
    std::function<Expression(const Expression &x, const std::string &prefix,
                             const ShiftMasks *masks)>
        layer;
};

// Writes the whole network.  Throws a WeightFault.
Blueprint build_swin_family(Net &net, const SwinFamily &family);

// ---- for the architectures

// Whether every second block shifts its windows, judging by the file's buffers: blocks that shift
// have "attn_mask".  A network for pictures no larger than a window does not shift.  If the file
// has no buffers, the blocks shift, as published ones do.
bool shifts_windows(const Weights &weights);

// Returns the range of the samples, for SwinFamily::range.  Only the published networks against
// JPEG artefacts have windows of 7 and compute in 0..255.
double range_of_window(int64_t window);

// Reports the numbers of blocks per layer ("6/6/4") and of heads, and the window size.  `blocks`
// follows "layers.N.", and the weight follows the block's number.
struct HeadsOf {
    std::string name; // of a weight
    size_t dimension = 1;
};
void report_layers(Net &net, const std::string &blocks, const HeadsOf &heads, int64_t window);

// The last convolution of one layer or of all, B, C, H, W: one, or three with leaky ReLUs between,
// or none.
Expression residual_convolution(Net &net, const Expression &x, const std::string &name);

} // namespace engine_torch
