// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// TSCUNet: restores or enlarges a frame by those around it.  Each layer of U-nets looks at all
// threes of consecutive results of the one before, until one result is left.
#include "architecture.h"
#include "dense_blocks.h"
#include "swin_conv.h"

#include "base/compose.h"

namespace engine_torch
{
namespace tscunet_network
{
namespace
{

using dnn_torch::concat;

constexpr double slope = 0.2;
constexpr int64_t multiple = 64, most_layers = 15, most_doublings = 4;
constexpr ConvOptions without_bias = {.has_bias = false};

bool recognises(const Weights &weights)
{
    return weights.has("m_layers.0.m_head.0.weight") || weights.has("m_layers.0.m_tail.0.weight");
}

Expression doubled(Net &net, const Expression &x, const std::string &layer)
{
    const Expression first = net.conv(net.enlarge_nearest(x, 2), layer + ".up.1");
    return net.leaky_relu(net.conv(net.leaky_relu(first, slope), layer + ".up.3"), slope);
}

// `layer` is "m_layers.N.".
Expression unet(Net &net, SwinConvUNets &unets, const Expression &given, const std::string &layer)
{
    const Expression first = net.conv(given, layer + "m_head.0", without_bias);
    const Expression made = unets.made(first, layer);
    const Expression x = net.add(made, net.conv(first, layer + "m_res.0", without_bias));
    return net.leaky_relu(net.conv(x, layer + "m_tail.0", without_bias), slope);
}

struct Enlarging {
    int64_t blocks = 0, doublings = 0;
};

Enlarging enlarging_of(const Weights &weights)
{
    Enlarging found;
    const auto has = [&](int64_t place, const char *layer) {
        return weights.has(concat("m_upsample.0.up.", place, layer));
    };
    while (found.blocks < most_layers && has(found.blocks, ".rdb1.conv1.weight"))
        found.blocks++;
    while (found.doublings < most_doublings &&
           has(found.blocks + 1 + 3 * found.doublings, ".weight"))
        found.doublings++;
    return found;
}

Expression enlarged(Net &net, Expression x, const Enlarging &how)
{
    const std::string layers = "m_upsample.0.up.";
    for (int64_t i = 0; i < how.blocks; i++)
        x = residual_dense_blocks(net, x, concat(layers, i, ".rdb"), "");
    for (int64_t i = 0; i < how.doublings; i++)
        x = net.leaky_relu(
            net.conv(net.enlarge_nearest(x, 2), concat(layers, how.blocks + 1 + 3 * i)), slope);
    return net.leaky_relu(net.conv(x, concat(layers, how.blocks + 3 * how.doublings)), slope);
}

// As published: half a multiple at least on each side, by reflection; where the picture is too
// small for that, its border is repeated.
constexpr char pad_function[] = R"(
def pad_around(self, x, multiple: int):
    down = (multiple - x.size(2) % multiple) % multiple + multiple
    right = (multiple - x.size(3) % multiple) % multiple + multiple
    sides = [right - right // 2, right // 2, down - down // 2, down // 2]
    w, h = x.size(3) - 1, x.size(2) - 1
    near = [min(sides[0], w), min(sides[1], w), min(sides[2], h), min(sides[3], h)]
    x = torch.reflection_pad2d(x, near)
    left, right = sides[0] - near[0], sides[1] - near[1]
    return torch.replication_pad2d(x, [left, right, sides[2] - near[2], sides[3] - near[3]])

def first_row(self, size: int, multiple: int):
    more = (multiple - size % multiple) % multiple + multiple
    return more - more // 2
)";

// Training estimates how sure it is.
void ignore_training(Net &net)
{
    for (const auto &[name, weight] : net.weights().all())
        if (name.starts_with("m_sigma"))
            net.ignore(name);
}

Blueprint build(const Weights &weights)
{
    Net net(weights, tscunet.name);
    ignore_training(net);
    const int64_t layers = weights.count("m_layers."), reach = layers,
                  channels = weights.size("m_head.0.weight", 1),
                  features = weights.size("m_head.0.weight", 0);
    if (layers < 1 || layers > most_layers || channels < 1 || channels > 4 || features > 4096)
        net.contradict(concat("has ", layers, " layers for pictures of ", channels, " channels"));
    const Enlarging how = enlarging_of(weights);
    const int64_t scale = int64_t{1} << how.doublings;
    net.report("features", features);
    net.report("frames", 2 * reach + 1);
    net.report("blocks", weights.count("m_layers.0.m_body."));
    net.take_frames(-reach, reach);
    net.mark_nonlocal();
    net.function(pad_function);
    Expression x = net.let(concat("self.pad_around(", Net::input, ", ", multiple, ")"));
    int64_t count = 2 * reach + 1;
    const Expression followers = net.followers(x, channels);
    x = net.let(concat(x, ".reshape([-1, ", channels, ", ", x, ".size(2), ", x, ".size(3)])"));
    x = net.conv(x, "m_head.0", without_bias);
    const Expression whole = net.let(
        concat(x, ".reshape([-1, ", count * features, ", ", x, ".size(2), ", x, ".size(3)])"));
    const Expression middle = net.channels(whole, reach * features, (reach + 1) * features);
    SwinConvUNets unets(net, scale == 1, [&net](const Expression &small, const std::string &layer) {
        return doubled(net, small, layer);
    });
    for (int64_t i = 0; i < layers; i++, count -= 2) {
        const Expression threes = net.distinct_threes(x, followers, count);
        x = net.of_each_window(unet(net, unets, threes, concat("m_layers.", i, ".")), followers,
                               count - 2);
    }
    if (weights.has("m_res.0.weight"))
        x = net.add(x, net.conv(middle, "m_res.0", without_bias));
    x = net.conv(enlarged(net, x, how), "m_tail.0", without_bias);
    const auto part = [&](int dimension) {
        const std::string size = concat(Net::input, ".size(", dimension, ")");
        const Expression first =
            net.let(concat("self.first_row(", size, ", ", multiple, ") * ", scale));
        return concat(first, ":", first, " + ", size, " * ", scale);
    };
    const std::string rows = part(2), columns = part(3);
    x = net.let(concat(x, "[:, :, ", rows, ", ", columns, "]"));
    return net.finish(x, scale, (2 * reach + 1) * channels, weights.size("m_tail.0.weight", 0));
}

} // namespace
} // namespace tscunet_network

const Architecture tscunet = {
    .name = "TSCUNet", .recognises = tscunet_network::recognises, .build = tscunet_network::build};

} // namespace engine_torch
