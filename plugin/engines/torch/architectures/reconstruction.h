// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Parts that transformer networks have before and after their blocks: the mean of the training
// pictures, residual convolutions, and enlargement.
#pragma once

#include "net.h"

#include <string>

namespace engine_torch::reconstruction
{

// Returns n with `whole` = n * n * `part`: 4 for 48 and 3.  Throws a WeightFault that names `what`
// if there is none, or if it is larger than any published enlargement.
int64_t square_side(const Net &net, const std::string &what, int64_t whole, int64_t part);

// Subtract and add the mean colour of DIV2K's pictures; do nothing if the picture is not RGB.
Expression without_mean(Net &net, const Expression &x, int64_t channels);
Expression with_mean(Net &net, const Expression &x, int64_t channels);

// One convolution, "NAME", or three: "NAME.0", "NAME.2" and "NAME.4".
Expression residual_convolution(Net &net, const Expression &x, const std::string &name);

struct Enlarged {
    Expression x;
    int64_t scale = 1;
};

// conv_before_upsample.0, upsample.0, upsample.2, ..., conv_last.
Enlarged enlarge_in_steps(Net &net, const Expression &x);
// Only upsample.0, which returns `channels` channels for each pixel of the enlarged picture.
Enlarged enlarge_at_once(Net &net, const Expression &x, int64_t channels);
// conv_before_upsample.0, conv_up1, conv_up2, conv_hr, conv_last: by 4, with the nearest pixels.
Enlarged enlarge_by_neighbours(Net &net, const Expression &x);

} // namespace engine_torch::reconstruction
