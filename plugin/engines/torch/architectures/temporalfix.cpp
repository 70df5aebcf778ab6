// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// temporal fix: moves three frames before and three after onto the one between them, and averages
// those of their pixels that a small network trusts.
#include "architecture.h"

#include "base/compose.h"

#include <array>

namespace engine_torch
{
namespace temporalfix_network
{
namespace
{

using dnn_torch::concat;

constexpr int64_t frames = 7, others = frames - 1;
constexpr double slope = 0.2;
// How much smaller a flow's stage is than the frame, the first one first.
constexpr std::array<int64_t, 3> stages = {8, 4, 2};

bool recognises(const Weights &weights)
{
    return weights.has("aligner.blocks.0.out_conv.weight") ||
           weights.has("aligner.blocks.1.out_conv.weight");
}

constexpr char resize_function[] = R"(
def resized(self, x, kernel, h: int, w: int):
    if x.size(2) == h and x.size(3) == w:
        return x
    if h < x.size(2) or w < x.size(3):
        kernels = kernel.repeat([x.size(1), 1, 1, 1])
        x = torch.conv2d(x, kernels, None, [1, 1], [2, 2], [1, 1], x.size(1))
    return torch.upsample_bilinear2d(x, [h, w], False)
)";

constexpr char resize_flow_function[] = R"(
def resized_flow(self, flow, kernel, h: int, w: int):
    made = self.resized(flow, kernel, h, w)
    across = made[:, :1] * (w / flow.size(3))
    return torch.cat([across, made[:, 1:] * (h / flow.size(2))], 1)
)";

constexpr char warp_function[] = R"(
def moved_onto(self, x, flow):
    h, w = x.size(2), x.size(3)
    columns = (torch.arange(w, dtype=x.dtype, device=x.device) + 0.5) * (2.0 / w) - 1.0
    rows = (torch.arange(h, dtype=x.dtype, device=x.device) + 0.5) * (2.0 / h) - 1.0
    across = columns.reshape([1, 1, w]) + flow[:, 0] * (2.0 / w)
    down = rows.reshape([1, h, 1]) + flow[:, 1] * (2.0 / h)
    return torch.grid_sampler(x, torch.stack([across, down], 3), 0, 0, False)
)";

// All of it is made of pairs: the frame in the middle, and each other one.  The pairs of a batch
// follow one another, and so do the expressions below.
struct Pairs {
    Expression middle, other; // pictures
    Expression middle_features, other_features;
    Expression distance; // in time, from -1 to 1
};

struct Found {
    Expression flow, trust, hint;
};

class Builder
{
public:
    explicit Builder(const Weights &weights) : net_(weights, temporalfix.name) {}

    Blueprint build()
    {
        for (const char *function : {resize_function, resize_flow_function, warp_function})
            net_.function(function);
        kernel_ = net_.numbers({1, 1, 5, 5}, binomial());
        net_.report("features", net_.weights().size("aligner.blocks.0.out_conv.weight", 1));
        net_.report("frames", frames);
        net_.take_frames(-(frames / 2), frames / 2);
        net_.mark_nonlocal(); // a flow may lead anywhere
        net_.line(concat("h, w = ", Net::input, ".size(2), ", Net::input, ".size(3)"));
        const Pairs pairs = pairs_of_frames();
        const Found found = aligned(pairs);
        const Expression moved = warped(pairs.other, found.flow),
                         inside =
                             warped(net_.let(concat("torch.ones_like(", pairs.other, "[:, :1])")),
                                    found.flow);
        const Expression trust =
            net_.let(concat("torch.sigmoid(", trusted(pairs, found, moved), ") * ", inside));
        return net_.finish(averaged(moved, trust), 1, frames * 3, 3);
    }

private:
    static std::vector<float> binomial()
    {
        constexpr std::array<float, 5> row = {1, 4, 6, 4, 1};
        std::vector<float> numbers;
        for (const float down : row)
            for (const float across : row)
                numbers.push_back(down * across / 256);
        return numbers;
    }

    Expression layer(const Expression &x, const std::string &name, const ConvOptions &options = {})
    {
        return net_.leaky_relu(net_.conv(x, name, options), slope);
    }

    Expression resized(const Expression &x, const std::string &size)
    {
        return net_.let(concat("self.resized(", x, ", ", kernel_, ", ", size, ")"));
    }

    Expression resized_flow(const Expression &flow, const std::string &size)
    {
        return net_.let(concat("self.resized_flow(", flow, ", ", kernel_, ", ", size, ")"));
    }

    Expression warped(const Expression &x, const Expression &flow)
    {
        return net_.let(concat("self.moved_onto(", x, ", ", flow, ")"));
    }

    // For each of the other frames.
    Expression repeated(const Expression &x)
    {
        return net_.let(
            concat(x, ".unsqueeze(1).repeat([1, ", others, ", 1, 1, 1]).flatten(0, 1)"));
    }

    // Of [batch, frames, ...].
    Expression middle(const Expression &all)
    {
        return net_.let(concat(all, "[:, ", frames / 2, "]"));
    }
    Expression all_others(const Expression &all)
    {
        return net_.let(concat("torch.cat([", all, "[:, :", frames / 2, "], ", all, "[:, ",
                               frames / 2 + 1, ":]], 1).flatten(0, 1)"));
    }

    Pairs pairs_of_frames()
    {
        const Expression all =
            net_.let(concat(Net::input, ".reshape([-1, ", frames, ", 3, h, w])"));
        Expression x = net_.let(concat(all, ".flatten(0, 1)"));
        x = layer(x, "encode.cnn0", {.stride = 2, .padding = 1});
        x = net_.conv(layer(layer(x, "encode.cnn1"), "encode.cnn2"), "encode.proj");
        x = net_.let(concat("torch.upsample_bilinear2d(", x, ", [h, w], False)"));
        const Expression features =
            net_.let(concat(x, ".reshape([-1, ", frames, ", ", x, ".size(1), h, w])"));
        const Expression times =
            net_.numbers({others, 1, 1, 1}, {-1, -2.0F / 3, -1.0F / 3, 1.0F / 3, 2.0F / 3, 1});
        middle_ = middle(all);
        return {.middle = middle_,
                .other = all_others(all),
                .middle_features = middle(features),
                .other_features = all_others(features),
                .distance = net_.let(concat(times, ".repeat([", middle_, ".size(0), 1, 1, 1])"))};
    }

    Pairs resized_pairs(const Pairs &pairs, const std::string &size)
    {
        return {.middle = repeated(resized(pairs.middle, size)),
                .other = resized(pairs.other, size),
                .middle_features = repeated(resized(pairs.middle_features, size)),
                .other_features = resized(pairs.other_features, size),
                .distance = net_.let(concat(pairs.distance, ".expand([-1, -1, ", size, "])"))};
    }

    Expression residual(const Expression &x, const std::string &block)
    {
        const std::string deep = block + ".dw";
        const Weights &weights = net_.weights();
        Expression made;
        if (weights.has(deep + ".weight"))
            made = net_.conv(net_.conv(x, deep, {.groups = weights.size(deep + ".weight", 0)}),
                             block + ".pw");
        else
            made = net_.conv(x, block + ".conv");
        made = net_.let(concat(made, " * ", net_.weight(block + ".beta"), " + ", x));
        return net_.leaky_relu(made, slope);
    }

    // Adds to the flow that was found before.
    Found stage(const std::string &block, const std::vector<Expression> &given,
                const std::string &size, const Expression &flow)
    {
        Expression x = net_.cat(given);
        for (const char *half : {".conv0.0.0", ".conv0.1.0"})
            x = layer(x, block + half, {.stride = 2, .padding = 1});
        const int64_t count = net_.weights().count(block + ".convblock.");
        for (int64_t i = 0; i < count; i++)
            x = residual(x, concat(block, ".convblock.", i));
        x = net_.conv(x, block + ".out_conv");
        x = net_.let(concat("torch.upsample_bilinear2d(", x, ", [", size, "], False)"));
        const Expression step = net_.channels(x, 0, 2);
        return {.flow = flow.empty() ? step : net_.add(flow, step),
                .trust = net_.channels(x, 2, 3),
                .hint = net_.let(concat(x, "[:, 3:]"))};
    }

    Found aligned(const Pairs &pairs)
    {
        Found found;
        for (size_t i = 0; i < stages.size(); i++) {
            const int64_t by = stages[i];
            const std::string size =
                concat("(h + ", by - 1, ") // ", by, ", (w + ", by - 1, ") // ", by);
            const Pairs small = resized_pairs(pairs, size);
            std::vector<Expression> given = {small.middle, small.other, small.middle_features,
                                             small.other_features, small.distance};
            if (i > 0) {
                found = {.flow = resized_flow(found.flow, size),
                         .trust = resized(found.trust, size),
                         .hint = resized(found.hint, size)};
                given[1] = warped(small.other, found.flow);
                given[3] = warped(small.other_features, found.flow);
                given.insert(given.end(), {found.trust, found.hint, found.flow});
            }
            found = stage(concat("aligner.blocks.", i), given, size, found.flow);
        }
        found.flow = resized_flow(found.flow, "h, w");
        found.trust = resized(found.trust, "h, w");
        return found;
    }

    // How far the pixels of the moved frames are to be trusted, as logits.
    Expression trusted(const Pairs &pairs, const Found &found, const Expression &moved)
    {
        const std::string size = "(h + 1) // 2, (w + 1) // 2";
        const Pairs half = resized_pairs(pairs, size);
        const Expression other = resized(moved, size), flow = resized_flow(found.flow, size);
        const Expression features = warped(half.other_features, flow);
        const auto difference = [&](const Expression &a, const Expression &b) {
            return net_.let(concat("torch.abs(", a, " - ", b, ")"));
        };
        const Expression length =
            net_.let(concat("torch.sqrt(torch.sum(", flow, " * ", flow, ", [1], True))"));
        Expression x = net_.cat(
            {half.middle, other, difference(other, half.middle), half.middle_features, features,
             difference(features, half.middle_features), flow, length, half.distance});
        x = net_.conv(layer(layer(x, "conf_head.net.0.0"), "conf_head.net.1.0"), "conf_head.net.2");
        return resized(net_.add(resized(found.trust, size), x), "h, w");
    }

    // As its authors average: pixels below 0.6 hardly count, and a pixel needs about one other.
    Expression averaged(const Expression &moved, const Expression &trust)
    {
        const Expression gate = net_.let(concat("torch.sigmoid((", trust, " - 0.6) * 12.0)")),
                         weight = net_.multiply(trust, gate);
        const auto sum = [&](const Expression &x) {
            return net_.let(
                concat("torch.sum(", x, ".unflatten(0, [-1, ", others, "]), [1], False)"));
        };
        const Expression all = sum(net_.multiply(weight, moved)), weights = sum(weight),
                         count = sum(gate);
        const Expression ready = net_.let(concat("torch.sigmoid((", count, " - 0.5) * 4.0)"));
        return net_.let(concat(middle_, " + ", ready, " * ((", middle_, " + ", all, ") / (1.0 + ",
                               weights, ") - ", middle_, ")"));
    }

    Net net_;
    Expression kernel_, middle_;
};

Blueprint build(const Weights &weights)
{
    return Builder(weights).build();
}

} // namespace
} // namespace temporalfix_network

const Architecture temporalfix = {.name = "temporal fix",
                                  .recognises = temporalfix_network::recognises,
                                  .build = temporalfix_network::build};

} // namespace engine_torch
