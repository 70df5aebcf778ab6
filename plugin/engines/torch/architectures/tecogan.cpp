// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// TecoGAN and FRVSR, as in TecoGAN-PyTorch: enlarges a frame by its result for the frame before,
// which it moves by the optical flow.
#include "architecture.h"

#include "base/compose.h"

namespace engine_torch
{
namespace tecogan_network
{
namespace
{

using dnn_torch::concat;

constexpr double slope = 0.2;
constexpr double fastest = 24; // pixels per frame

bool recognises(const Weights &weights)
{
    return weights.has("fnet.encoder1.0.weight") || weights.has("srnet.conv_in.0.weight");
}

// Networks for frames that were blurred first enlarge by a kernel of their own.
bool has_kernel(const Weights &weights)
{
    return weights.has("upsample_func.kernels") || weights.has("srnet.upsample_func.kernels");
}

// The kernel's rows are for each place between two pixels.
constexpr char kernel_function[] = R"(
def enlarged_by_kernel(self, x, kernels):
    f, n, c, h, w = kernels.size(0), x.size(0), x.size(1), x.size(2), x.size(3)
    x = torch.replication_pad2d(x.reshape([n * c, 1, h, w]), [1, 2, 1, 2])
    x = torch.conv2d(x, kernels.reshape([f, 1, 4, 1]))
    x = x.permute([0, 2, 1, 3]).reshape([n * c, 1, f * h, w + 3])
    x = torch.conv2d(x, kernels.reshape([f, 1, 1, 4]))
    return x.permute([0, 2, 3, 1]).reshape([n, c, f * h, f * w])
)";

constexpr char warp_function[] = R"(
def moved(self, x, flow):
    h, w = x.size(2), x.size(3)
    columns = torch.linspace(-1.0, 1.0, w, dtype=x.dtype, device=x.device)
    rows = torch.linspace(-1.0, 1.0, h, dtype=x.dtype, device=x.device)
    across = columns.reshape([1, 1, w]) + flow[:, 0] / ((w - 1.0) / 2.0)
    down = rows.reshape([1, h, 1]) + flow[:, 1] / ((h - 1.0) / 2.0)
    return torch.grid_sampler(x, torch.stack([across, down], 3), 0, 1, True)
)";

// From colours, rows, columns to rows, columns, colours.
constexpr char depth_function[] = R"(
def to_depth(self, x, f: int):
    n, c, h, w = x.size(0), x.size(1), x.size(2) // f, x.size(3) // f
    x = x.reshape([n, c, h, f, w, f]).permute([0, 3, 5, 1, 2, 4])
    return x.reshape([n, f * f * c, h, w])
)";

// The flow is found for multiples of 8 pixels.
constexpr char widen_function[] = R"(
def widened(self, flow, x):
    more = [0, x.size(3) - flow.size(3), 0, x.size(2) - flow.size(2)]
    return torch.reflection_pad2d(flow, more)
)";

Expression enlarged(Net &net, const Expression &x, int64_t scale)
{
    if (!has_kernel(net.weights()))
        return net.enlarge_bilinear(x, scale);
    net.function(kernel_function);
    return net.let(
        concat("self.enlarged_by_kernel(", x, ", ", net.weight("upsample_func.kernels"), ")"));
}

Expression flow(Net &net, const Expression &now, const Expression &before)
{
    constexpr int64_t steps = 3;
    const auto pair = [&](Expression x, const std::string &name) {
        for (const int64_t place : {0, 2})
            x = net.leaky_relu(net.conv(x, concat("fnet.", name, ".", place)), slope);
        return x;
    };
    Expression x = net.cat({now, before});
    for (int64_t i = 1; i <= steps; i++)
        x = net.let(concat("torch.max_pool2d(", pair(x, concat("encoder", i)),
                           ", [2, 2], [2, 2], [0, 0], [1, 1], False)"));
    for (int64_t i = 1; i <= steps; i++)
        x = net.enlarge_bilinear(pair(x, concat("decoder", i)), 2);
    x = net.conv(net.leaky_relu(net.conv(x, "fnet.flow.0"), slope), "fnet.flow.2");
    return net.scaled(net.activate(x, "tanh"), fastest);
}

Expression reconstructed(Net &net, const Expression &frame, const Expression &moved, int64_t scale)
{
    const std::string blocks = "srnet.resblocks.";
    Expression x = net.activate(net.conv(net.cat({frame, moved}), "srnet.conv_in.0"), "relu");
    for (int64_t i = 0, count = net.weights().count(blocks); i < count; i++) {
        const std::string layers = concat(blocks, i, ".conv.");
        x = net.add(net.conv(net.activate(net.conv(x, layers + "0"), "relu"), layers + "2"), x);
    }
    for (int64_t i = 0; (2 << i) <= scale; i++)
        x = net.activate(net.conv_transpose(x, concat("srnet.conv_up.", 2 * i), 2, 1, 1), "relu");
    return net.add(net.conv(x, "srnet.conv_out"), enlarged(net, frame, scale));
}

Blueprint build(const Weights &weights)
{
    Net net(weights, tecogan.name);
    if (has_kernel(weights)) // the same one, twice
        static_cast<void>(weights.at("srnet.upsample_func.kernels"));
    net.ignore("srnet.upsample_func.kernels");
    const int64_t scale = weights.has("srnet.conv_up.2.weight") ? 4 : 2,
                  colours = weights.size("srnet.conv_out.weight", 0);
    if (has_kernel(weights) && (weights.size("upsample_func.kernels", 0) != scale ||
                                weights.size("upsample_func.kernels", 1) != 4))
        net.contradict("its upsample_func.kernels is for another scale");
    net.report("features", weights.size("srnet.conv_in.0.weight", 0));
    net.report("blocks", weights.count("srnet.resblocks."));
    net.report("upsampler", has_kernel(weights) ? "bicubic" : "bilinear");
    // The flow may come from anywhere.
    net.mark_nonlocal();
    net.need_size(8); // which the flow's encoder makes one pixel of
    for (const char *function : {warp_function, depth_function, widen_function})
        net.function(function);
    const Expression x = Net::input;
    // Nothing that is moved is nothing, wherever the flow leads.
    const Expression before = net.state("frame", 1, x);
    const Expression result =
        net.state("result", 0,
                  concat(x, ".new_zeros([", x, ".size(0), ", colours, ", ", x, ".size(2) * ", scale,
                         ", ", x, ".size(3) * ", scale, "])"));
    const Expression small = net.let(concat("self.widened(", flow(net, x, before), ", ", x, ")"));
    const Expression large = net.scaled(enlarged(net, small, scale), static_cast<double>(scale));
    const Expression moved =
        net.let(concat("self.to_depth(self.moved(", result, ", ", large, "), ", scale, ")"));
    const Expression made = reconstructed(net, x, moved, scale);
    return net.finish(concat(made, ", ", x), scale, colours, colours);
}

} // namespace
} // namespace tecogan_network

const Architecture tecogan = {
    .name = "TecoGAN", .recognises = tecogan_network::recognises, .build = tecogan_network::build};

} // namespace engine_torch
