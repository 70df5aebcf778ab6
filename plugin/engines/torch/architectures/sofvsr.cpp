// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// SOF-VSR: enlarges a frame's luma.  A network finds the optical flow from the frame to each
// neighbour at the size of the result; the neighbours, moved by it, become channels.
#include "architecture.h"

#include "base/compose.h"

namespace engine_torch
{
namespace sofvsr_network
{
namespace
{

using dnn_torch::concat;

constexpr double slope = 0.1;
constexpr ConvOptions without_bias = {.has_bias = false};

bool recognises(const Weights &weights)
{
    return weights.has("OFR.RNN1.0.weight") || weights.has("OFR.RNN2.0.weight");
}

// The flow is in units of 15.5 pixels, as for the patches of training.
constexpr char warp_function[] = R"(
def moved_by_flow(self, x, flow):
    h, w = x.size(2), x.size(3)
    columns = torch.arange(w, dtype=x.dtype, device=x.device) * 2.0 / (w - 1.0) - 1.0
    rows = torch.arange(h, dtype=x.dtype, device=x.device) * 2.0 / (h - 1.0) - 1.0
    across = columns.reshape([1, 1, w]) + flow[:, 0] * 31.0 / (w - 1.0)
    down = rows.reshape([1, h, 1]) + flow[:, 1] * 31.0 / (h - 1.0)
    return torch.grid_sampler(x, torch.stack([across, down], 3), 0, 1, True)
)";

class Layers
{
public:
    explicit Layers(Net &net) : net_(net) { net_.function(warp_function); }

    Expression plain(const Expression &x, const std::string &name)
    {
        return net_.conv(x, name, without_bias);
    }

    Expression active(const Expression &x, const std::string &name)
    {
        return net_.leaky_relu(plain(x, name), slope);
    }

    // Blocks that change half of the channels and mix both halves.
    Expression blocks(Expression x, const std::string &prefix)
    {
        for (int64_t i = 0, count = net_.weights().count(prefix); i < count; i++) {
            const std::string layers = concat(prefix, i, ".body.");
            const int64_t half = net_.weights().size(layers + "0.weight", 0);
            const Expression first = active(net_.channels(x, half, 2 * half), layers + "0");
            const Expression around =
                net_.conv(first, layers + "2", {.groups = half, .has_bias = false});
            const Expression both =
                net_.cat({net_.channels(x, 0, half), active(around, layers + "3")});
            x = net_.let(concat("torch.channel_shuffle(", both, ", 2)"));
        }
        return x;
    }

    // From the layer of this number on, three places each.
    Expression enlarged(Expression x, const std::string &prefix, int64_t &place, int64_t &scale)
    {
        constexpr int64_t between = 64;
        for (int64_t i = 0; i < 2 && net_.weights().has(concat(prefix, place + 3, ".weight"));
             i++) {
            const std::string layer = concat(prefix, place);
            const int64_t factor = net_.shuffle_factor(layer, between);
            x = net_.leaky_relu(net_.pixel_shuffle(plain(x, layer), factor), slope);
            scale *= factor;
            place += 3;
        }
        return x;
    }

    Expression moved(const Expression &x, const Expression &flow)
    {
        return net_.let(concat("self.moved_by_flow(", x, ", ", flow, ")"));
    }

    // Returns the flow at the result's size, in the frame's pixels times `scale`.
    Expression flow(const Expression &neighbour, const Expression &frame, int64_t &scale)
    {
        const auto seen = [&](const Expression &both, const Expression &known) {
            return blocks(active(net_.cat({both, known}), "OFR.RNN1.0"), "OFR.RNN1.2.body.");
        };
        const Expression small =
            net_.let(concat("torch.avg_pool2d(", net_.cat({neighbour, frame}), ", [2, 2])"));
        const Expression none = net_.let(concat("torch.zeros_like(", small, ")"));
        const Expression coarse =
            net_.let(concat("torch.upsample_bilinear2d(", plain(seen(small, none), "OFR.RNN2.0"),
                            ", [", frame, ".size(2), ", frame, ".size(3)], False) * 2.0"));
        const Expression near = net_.cat({moved(neighbour, coarse), frame});
        const Expression fine = net_.add(plain(seen(near, coarse), "OFR.RNN2.0"), coarse);
        const Expression nearer = net_.cat({moved(neighbour, fine), frame});
        const Expression last = blocks(seen(nearer, fine), "OFR.SR.0.body.");
        int64_t place = 1;
        const Expression large = enlarged(last, "OFR.SR.", place, scale);
        return net_.let(concat(plain(large, concat("OFR.SR.", place)), " + ",
                               net_.enlarge_bilinear(fine, scale), " * ",
                               literal(static_cast<double>(scale))));
    }

private:
    Net &net_;
};

// Takes the neighbour moved by each of the flows within a pixel.
std::string parts_of(Net &net, Layers &layers, const Expression &neighbour, const Expression &flow,
                     int64_t scale)
{
    std::string parts;
    for (int64_t y = 0; y < scale; y++)
        for (int64_t x = 0; x < scale; x++)
            dnn_torch::add_to_list(
                parts, layers.moved(neighbour, net.let(concat(flow, "[:, :, ", y, "::", scale, ", ",
                                                              x, "::", scale, "] / ", scale))));
    return parts;
}

Blueprint build(const Weights &weights)
{
    Net net(weights, sofvsr.name);
    net.mark_nonlocal();
    Layers layers(net);
    if (weights.size("OFR.RNN1.0.weight", 1) != 4 || weights.size("OFR.RNN2.0.weight", 0) != 2)
        net.contradict("is not for luma");
    // The scale, which says how many frames there are, is known once the flow's network is.
    const int64_t given = weights.size("SR.body.0.weight", 1);
    const std::string doubling = "OFR.SR.4.weight";
    const int64_t expected = weights.size("OFR.SR.1.weight", 0) == 64 * 9 ? 3
                             : weights.size(doubling, 0) == 2             ? 2
                                                                          : 4;
    const int64_t neighbours = (given - 1) / (expected * expected), reach = neighbours / 2;
    constexpr int64_t farthest = 15;
    if (reach < 1 || reach > farthest || 2 * reach * expected * expected + 1 != given)
        net.contradict(concat("SR.body.0.weight has ", given, " channels"));
    net.take_frames(-reach, reach);
    net.report("features", weights.size("SR.body.0.weight", 0));
    net.report("frames", 2 * reach + 1);
    const Expression frame = net.channels(Net::input, reach, reach + 1);
    std::string all = frame;
    for (int64_t i = 0; i <= 2 * reach; i++) {
        if (i == reach)
            continue;
        const Expression neighbour = net.channels(Net::input, i, i + 1);
        int64_t scale = 1;
        const Expression flow = layers.flow(neighbour, frame, scale);
        if (scale != expected)
            net.contradict("its flow has another size than its result");
        dnn_torch::add_to_list(all, parts_of(net, layers, neighbour, flow, scale));
    }
    Expression x = net.let(concat("torch.cat([", all, "], 1)"));
    x = layers.blocks(layers.active(x, "SR.body.0"), "SR.body.2.body.");
    int64_t place = 3, scale = 1;
    x = layers.enlarged(x, "SR.body.", place, scale);
    return net.finish(net.conv(x, concat("SR.body.", place)), scale, 2 * reach + 1, 1);
}

} // namespace
} // namespace sofvsr_network

const Architecture sofvsr = {
    .name = "SOFVSR", .recognises = sofvsr_network::recognises, .build = sofvsr_network::build};

} // namespace engine_torch
