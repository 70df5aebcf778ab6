// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// IFRNet: makes a frame between two.  Decoders refine the optical flow from it to both and its
// features together, coarse first.
#include "architecture.h"

#include "base/compose.h"

#include <array>

namespace engine_torch
{
namespace ifrnet_network
{
namespace
{

using dnn_torch::concat;

constexpr int64_t colours = 3, flows = 4, levels = 4, smallest = 16;

constexpr char resize_functions[] = R"(
def resized(self, x, height: int, width: int):
    return torch.upsample_bilinear2d(x, [height, width], False)

def scaled_extent(self, extent: int, scale: float):
    return 16 * max(int(float(extent) * scale / 16.0 + 0.5), 1)
)";

// In a batch, a pair that stands there at several times is encoded once.  Another pair with one of
// its frames is not: each pair has its own mean taken off.
constexpr char once_functions[] = R"(
def pairs_once(self, x, repeats):
    return x.index_select(0, torch.nonzero(torch.logical_not(repeats))[:, 0])

def of_each_pair(self, x, repeats):
    return x.index_select(0, torch.cumsum(torch.logical_not(repeats), 0) - 1)
)";

bool recognises(const Weights &weights)
{
    return weights.has("encoder.pyramid1.0.0.weight") &&
           weights.has("decoder4.convblock.0.0.weight");
}

class IfrNet
{
public:
    explicit IfrNet(Net &net) : net_(net)
    {
        for (const char *text : {resize_functions, once_functions})
            net.function(text);
    }

    Expression between(const Expression &x, const Expression &t)
    {
        const Expression border =
            net_.border_around(x, concat("int(", smallest, ".0 / min(scale, 1.0))"));
        const Expression all = net_.pad_around(x, border);
        const Expression mean = net_.let(concat("torch.mean(", all, ", [1, 2, 3], True)"));
        const Expression centred = net_.let(concat(all, " - ", mean));
        const Expression small =
            net_.let(concat("self.resized(", centred, ", self.scaled_extent(", all,
                            ".size(2), scale), self.scaled_extent(", all, ".size(3), scale))"));
        encode_both(x, small);
        refine(t);
        // The flow is found in small pictures, and used in whole ones.
        const auto enlarged = [&](const Expression &each) {
            return net_.let(
                concat("self.resized(", each, ", ", all, ".size(2), ", all, ".size(3))"));
        };
        flow_ = net_.let(concat(enlarged(flow_), " / scale"));
        const Expression weight =
            enlarged(net_.activate(net_.channels(features_, 0, 1), "sigmoid"));
        const Expression change = enlarged(net_.channels(features_, 1, 1 + colours));
        const Expression made =
            net_.let(concat(weight, " * ", moved(colours_of(centred, 0), 0), " + (1.0 - ", weight,
                            ") * ", moved(colours_of(centred, 1), 1), " + ", mean, " + ", change));
        return net_.crop_around(net_.let(concat("torch.clamp(", made, ", 0, 1)")), x, border);
    }

private:
    Expression colours_of(const Expression &x, size_t frame)
    {
        const auto first = static_cast<int64_t>(frame) * colours;
        return net_.channels(x, first, first + colours);
    }

    // A convolution and its activation, in one nn.Sequential.
    Expression layer(const Expression &x, const std::string &name, int64_t stride = 1)
    {
        return net_.prelu(net_.conv(x, name + ".0", {.stride = stride}), name + ".1");
    }

    void encode_both(const Expression &pairs, const Expression &small)
    {
        const Expression repeats = net_.repeats(pairs);
        const Expression once = net_.let(concat("self.pairs_once(", small, ", ", repeats, ")"));
        for (size_t i = 0; i < 2; i++)
            encode(colours_of(once, i), i, repeats);
    }

    void encode(Expression x, size_t frame, const Expression &repeats)
    {
        for (size_t level = 0; level < levels; level++) {
            const std::string part = concat("encoder.pyramid", level + 1);
            x = layer(layer(x, part + ".0", 2), part + ".1");
            pyramids_[frame][level] = net_.let(concat("self.of_each_pair(", x, ", ", repeats, ")"));
        }
    }

    Expression moved(const Expression &x, size_t frame)
    {
        const auto first = static_cast<int64_t>(frame) * 2;
        return net_.moved_by_flow(x, net_.channels(flow_, first, first + 2));
    }

    // Changes the last channels alone.
    Expression beside(const Expression &x, const std::string &name)
    {
        const int64_t side = net_.weights().size(name + ".0.weight", 0);
        return net_.cat({net_.let(concat(x, "[:, :-", side, "]")),
                         layer(net_.let(concat(x, "[:, -", side, ":]")), name)});
    }

    Expression decoded(const Expression &x, const std::string &decoder)
    {
        const Expression first = layer(x, decoder + "0");
        const std::string block = decoder + "1.";
        const Expression once = beside(layer(first, block + "conv1"), block + "conv2");
        const Expression twice = beside(layer(once, block + "conv3"), block + "conv4");
        const Expression made =
            net_.prelu(net_.add(first, net_.conv(twice, block + "conv5")), block + "prelu");
        return net_.conv_transpose(made, decoder + "2", 2, 1);
    }

    // Leaves the mask and the correction in `features_`.
    void refine(const Expression &t)
    {
        for (size_t level = levels; level > 0; level--) {
            const Expression &first = pyramids_[0][level - 1], &second = pyramids_[1][level - 1];
            const Expression time = concat(t, "[:, :, :1, :1].expand([-1, 1, ", first, ".size(2), ",
                                           first, ".size(3)])");
            const Expression x = level == levels
                                     ? net_.cat({first, second, time})
                                     : net_.cat({features_, moved(first, 0), moved(second, 1),
                                                 concat(flow_, ".to(", first, ".dtype)")});
            const Expression made = decoded(x, concat("decoder", level, ".convblock."));
            const Expression change = net_.let(concat(made, "[:, :", flows, "].float()"));
            flow_ = level == levels ? change
                                    : net_.add_scaled(change, net_.enlarge_bilinear(flow_, 2), 2);
            features_ = net_.let(concat(made, "[:, ", flows, ":]"));
        }
    }

    Net &net_;
    std::array<std::array<Expression, levels>, 2> pyramids_;
    Expression flow_, features_;
};

Blueprint build(const Weights &weights)
{
    Net net(weights, ifrnet.name);
    std::string widths;
    for (int64_t level = 1; level <= levels; level++)
        dnn_torch::add_to_list(
            widths,
            std::to_string(weights.size(concat("encoder.pyramid", level, ".0.0.weight"), 0)), "/");
    net.report("features", widths);
    const Expression t = net.take_time("t");
    net.argument("scale: float = 1.0");
    net.mark_nonlocal();
    net.take_frames(0, 1, "repeat");
    return net.finish(IfrNet(net).between(Net::input, t), 1, 2 * colours, colours);
}

} // namespace
} // namespace ifrnet_network

const Architecture ifrnet = {
    .name = "IFRNet", .recognises = ifrnet_network::recognises, .build = ifrnet_network::build};

} // namespace engine_torch
