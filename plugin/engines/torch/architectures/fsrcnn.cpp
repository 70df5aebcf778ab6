// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// FSRCNN: narrow convolutions, and a last one that enlarges.
//
// The last layer has the same kernel for all scales.  Only the file's name shows the scale.
#include "architecture.h"

#include "base/compose.h"

#include <vector>

namespace engine_torch
{
namespace fsrcnn_network
{
namespace
{

using dnn_torch::concat;

// The layers before the last, in order: "first_part.0", "mid_part.0" ....  Each convolution is
// followed by the PReLU of the next number.
std::vector<std::string> rows_of(const Weights &weights)
{
    if (weights.has_any("first_part."))
        return {"first_part.", "mid_part."};
    return {"feature_extraction.", "shrink.", "map.", "expand."};
}

std::string last_of(const Weights &weights)
{
    return weights.has("last_part.weight") ? "last_part" : "deconv";
}

bool recognises(const Weights &weights)
{
    return weights.has_all({"first_part.0.weight", "mid_part.0.weight", "last_part.weight"}) ||
           weights.has_all({"feature_extraction.0.weight", "shrink.0.weight", "map.0.weight",
                            "expand.0.weight", "deconv.weight"});
}

Blueprint build(const Weights &weights)
{
    Net net(weights, fsrcnn.name);
    const std::vector<std::string> rows = rows_of(weights);
    const std::string last = last_of(weights);
    const int64_t scale = weights.named_scale();
    if (scale < 2)
        net.contradict("its weights are the same for all scales, and the file's name does not "
                       "tell it; rename the file to end with _x2, _x3 or _x4");
    const int64_t kernel = weights.size(last + ".weight", 2);
    if (kernel < scale || kernel > 64)
        net.contradict(concat(last, " has a kernel of ", kernel, " for scale ", scale));
    int64_t convolutions = 0;
    Expression x = Net::input;
    for (const std::string &row : rows)
        for (int64_t i = 0; weights.has(concat(row, i, ".weight")); i += 2, convolutions++)
            x = net.prelu(net.conv(x, concat(row, i)), concat(row, i + 1));
    net.report("features", weights.size(rows.front() + "0.weight", 0));
    net.report("convolutions", convolutions);
    x = net.conv_transpose(x, last, scale, kernel / 2, scale - 1);
    return net.finish(x, scale, weights.size(rows.front() + "0.weight", 1),
                      weights.size(last + ".weight", 1));
}

} // namespace
} // namespace fsrcnn_network

const Architecture fsrcnn = {
    .name = "FSRCNN", .recognises = fsrcnn_network::recognises, .build = fsrcnn_network::build};

} // namespace engine_torch
