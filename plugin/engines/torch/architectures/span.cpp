// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// SPAN: six blocks with attention without weights.
//
// Each of its convolutions was trained as four: "conv.0", "conv.1" and "conv.2" in sequence,
// parallel to "sk".  The published network folds them into one before it runs, which changes the
// result at the border, so this one does, too.  "eval_conv" may be the result of an earlier
// folding, from during the training.
#include "architecture.h"

#include "base/compose.h"

namespace engine_torch
{
namespace span_network
{
namespace
{

using dnn_torch::concat;

constexpr int64_t blocks = 6;
// Constants of the published models.
constexpr double range = 255;
const std::vector<float> mean = {0.4488F, 0.4371F, 0.4040F};

// Kernels are [height, width, to, from] here, so that two in sequence are a matrix product.
constexpr char folded_function[] = R"(
def folded(self, x, w0, b0, w1, b1, w2, b2, side, side_bias):
    squeezed = torch.flatten(w0, 1)
    spread = torch.flatten(w2, 1)
    kernel = torch.matmul(torch.permute(w1, [2, 3, 0, 1]), squeezed)
    kernel = torch.permute(torch.matmul(spread, kernel), [2, 3, 0, 1])
    kernel = kernel + torch.constant_pad_nd(side, [1, 1, 1, 1])
    bias = torch.matmul(torch.sum(w1, [2, 3]), b0) + b1
    bias = torch.matmul(spread, bias) + b2 + side_bias
    return torch.conv2d(x, kernel, bias, [1, 1], [1, 1])
)";

constexpr char attended_function[] = R"(
def attended(self, x, before):
    return (x + before) * (torch.sigmoid(x) - 0.5)
)";

Expression convolution(Net &net, const Expression &x, const std::string &name)
{
    if (!net.weights().has(name + ".conv.1.weight"))
        return net.conv(x, name + ".eval_conv");
    net.ignore(name + ".eval_conv.weight");
    net.ignore(name + ".eval_conv.bias");
    net.function(folded_function);
    std::string arguments = x;
    for (const char *layer : {".conv.0", ".conv.1", ".conv.2", ".sk"})
        for (const char *part : {".weight", ".bias"})
            dnn_torch::add_to_list(arguments, net.weight(concat(name, layer, part)));
    return net.let(concat("self.folded(", arguments, ")"));
}

struct Result {
    Expression whole, first; // the block's result, and that of its first convolution
};

// The published activation works in place, so only its result is left of the first convolution.
Result block(Net &net, const Expression &before, const std::string &name)
{
    net.function(attended_function);
    const Expression first = net.activate(convolution(net, before, name + ".c1_r"), "silu");
    Expression x = convolution(net, first, name + ".c2_r");
    x = convolution(net, net.activate(x, "silu"), name + ".c3_r");
    return {.whole = net.let(concat("self.attended(", x, ", ", before, ")")), .first = first};
}

bool recognises(const Weights &weights)
{
    return weights.has_all({"conv_cat.weight", "upsampler.0.weight", "conv_cat.bias"}) &&
           (weights.has("conv_1.sk.weight") || weights.has("conv_1.eval_conv.weight")) &&
           weights.has_any("block_6.c3_r.");
}

Expression body(Net &net, const Expression &x)
{
    const Expression first = convolution(net, x, "conv_1");
    Result last = {.whole = first, .first = ""};
    Expression after_first;
    for (int64_t i = 1; i <= blocks; i++) {
        last = block(net, last.whole, concat("block_", i));
        if (i == 1)
            after_first = last.whole;
    }
    const Expression end = convolution(net, last.whole, "conv_2");
    return net.conv(net.cat({first, end, after_first, last.first}), "conv_cat");
}

Expression normalised(Net &net, int64_t channels)
{
    if (channels != static_cast<int64_t>(mean.size()))
        net.contradict(concat("takes ", dnn_torch::counted(channels, "channel"),
                              " and not the 3 of its mean"));
    return net.scaled(net.let(concat("x - ", net.numbers({1, channels, 1, 1}, mean))), range);
}

Blueprint build(const Weights &weights)
{
    Net net(weights, span.name);
    const std::string first = weights.has("conv_1.sk.weight") ? "conv_1.sk" : "conv_1.eval_conv";
    const int64_t channels = weights.size(first + ".weight", 1);
    const int64_t scale = net.shuffle_factor("upsampler.0", channels);
    const bool is_normalised = !weights.has("no_norm");
    net.ignore("no_norm");
    net.report("features", weights.size(first + ".weight", 0));
    net.report("norm", is_normalised ? "yes" : "no");
    const Expression x = is_normalised ? normalised(net, channels) : Net::input;
    const Expression result = net.pixel_shuffle(net.conv(body(net, x), "upsampler.0"), scale);
    return net.finish(result, scale, channels, channels);
}

} // namespace
} // namespace span_network

const Architecture span = {
    .name = "SPAN", .recognises = span_network::recognises, .build = span_network::build};

} // namespace engine_torch
