// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What EDSR and RCAN have around their blocks: subtraction of the mean, a first convolution, one
// after the blocks, those that enlarge, and a last one.
//
// There are two sets of names, the authors' and BasicSR's:
//
//     sub_mean, head.0, body.N, body.COUNT, tail.0.N, tail.1, add_mean
//     conv_first, body.N, conv_after_body, upsample.N, conv_last
#pragma once

#include "net.h"

#include <functional>

namespace engine_torch
{

struct ResidualShell {
    bool is_of_authors = true;
    std::string first, after_blocks, steps, last;
    int64_t block_count = 0;
};

ResidualShell residual_shell_of(const Weights &weights);

// Returns the whole network.  `block` writes the block of this number.  Reports "range", by which
// the samples are multiplied.  Throws a WeightFault.
Blueprint finish_residual(Net &net, const ResidualShell &shell,
                          const std::function<Expression(const Expression &, int64_t)> &block);

} // namespace engine_torch
