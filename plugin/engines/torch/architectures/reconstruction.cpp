// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "reconstruction.h"

#include "base/compose.h"

namespace engine_torch::reconstruction
{
namespace
{

using dnn_torch::concat;

constexpr int64_t largest_scale = 64;

Expression mean_colour(Net &net)
{
    return net.numbers({1, 3, 1, 1}, {0.4488F, 0.4371F, 0.4040F});
}

} // namespace

int64_t square_side(const Net &net, const std::string &what, int64_t whole, int64_t part)
{
    for (int64_t side = 1; side <= largest_scale; side++)
        if (part > 0 && whole % part == 0 && whole / part == side * side)
            return side;
    throw WeightFault(concat("looks like ", net.architecture(), ", but ", what, " enlarges ", part,
                             " channels to ", whole, ", which is not an integer enlargement"));
}

Expression without_mean(Net &net, const Expression &x, int64_t channels)
{
    return channels == 3 ? net.let(concat(x, " - ", mean_colour(net))) : x;
}

Expression with_mean(Net &net, const Expression &x, int64_t channels)
{
    return channels == 3 ? net.let(concat(x, " + ", mean_colour(net))) : x;
}

Expression residual_convolution(Net &net, const Expression &x, const std::string &name)
{
    if (net.weights().has(name + ".weight"))
        return net.conv(x, name);
    Expression result = net.leaky_relu(net.conv(x, name + ".0"), 0.2);
    result = net.leaky_relu(net.conv(result, name + ".2"), 0.2);
    return net.conv(result, name + ".4");
}

Enlarged enlarge_in_steps(Net &net, const Expression &x)
{
    Enlarged result = {.x = net.leaky_relu(net.conv(x, "conv_before_upsample.0"), 0.01),
                       .scale = 1};
    for (int64_t i = 0; net.weights().has(concat("upsample.", i, ".weight")); i += 2) {
        const std::string name = concat("upsample.", i);
        const int64_t side = square_side(net, name, net.weights().size(name + ".weight", 0),
                                         net.weights().size(name + ".weight", 1));
        result.scale *= side;
        if (result.scale > largest_scale)
            throw WeightFault(concat("looks like ", net.architecture(), ", but enlarges ",
                                     result.scale, " times"));
        result.x = net.pixel_shuffle(net.conv(result.x, name), side);
    }
    result.x = net.conv(result.x, "conv_last");
    return result;
}

Enlarged enlarge_at_once(Net &net, const Expression &x, int64_t channels)
{
    const int64_t side =
        square_side(net, "upsample.0", net.weights().size("upsample.0.weight", 0), channels);
    return {.x = net.pixel_shuffle(net.conv(x, "upsample.0"), side), .scale = side};
}

Enlarged enlarge_by_neighbours(Net &net, const Expression &x)
{
    Expression result = net.leaky_relu(net.conv(x, "conv_before_upsample.0"), 0.01);
    for (const char *name : {"conv_up1", "conv_up2"})
        result = net.leaky_relu(net.conv(net.enlarge_nearest(result, 2), name), 0.2);
    result = net.leaky_relu(net.conv(result, "conv_hr"), 0.2);
    return {.x = net.conv(result, "conv_last"), .scale = 4};
}

} // namespace engine_torch::reconstruction
