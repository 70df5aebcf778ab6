// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "residual_shell.h"

#include "base/compose.h"

#include <cmath>
#include <vector>

namespace engine_torch
{
namespace
{

using dnn_torch::concat;

// The mean of DIV2K's pictures, with which all published models were trained.
const std::vector<float> mean = {0.4488F, 0.4371F, 0.4040F};

// Normalises the input, and turns the network's result back into a picture.
class Normalisation
{
public:
    Normalisation(Net &net, bool is_of_authors, int64_t channels) : net_(net)
    {
        if (is_of_authors && net.weights().has("sub_mean.weight")) {
            has_layers_ = true;
            // The bias is the mean of the first channel, in the range used in training.
            range_ = std::abs(net.weights().first_number("sub_mean.bias")) > 2 ? 255 : 1;
        } else if (!is_of_authors) {
            range_ = 255;
            if (channels != static_cast<int64_t>(mean.size()))
                net.contradict(concat("takes ", dnn_torch::counted(channels, "channel"),
                                      " and not the 3 of its mean"));
            mean_ = net.numbers({1, channels, 1, 1}, mean);
        }
        net.report("range", range_);
    }

    Expression normalised(const Expression &x) const
    {
        if (has_layers_)
            return net_.conv(range_ == 1 ? x : net_.let(concat(x, " * ", range_)), "sub_mean");
        return mean_.empty() ? x : net_.let(concat("(", x, " - ", mean_, ") * ", range_));
    }

    Expression picture(const Expression &x) const
    {
        if (has_layers_) {
            const Expression added = net_.conv(x, "add_mean");
            return range_ == 1 ? added : net_.let(concat(added, " / ", range_));
        }
        return mean_.empty() ? x : net_.let(concat(x, " / ", range_, " + ", mean_));
    }

private:
    Net &net_;
    bool has_layers_ = false;
    Expression mean_;
    int64_t range_ = 1;
};

// Networks of small scales may turn each square of pixels into channels.
int64_t unshuffle_of(const Net &net, const ResidualShell &shell, int64_t out_channels)
{
    const int64_t channels = net.weights().size(shell.first + ".weight", 1);
    for (const int64_t factor : {1, 2, 4})
        if (channels == out_channels * factor * factor)
            return factor;
    net.contradict(concat(shell.first, " takes ", dnn_torch::counted(channels, "channel"), ", and ",
                          shell.last, " returns ", out_channels));
}

} // namespace

ResidualShell residual_shell_of(const Weights &weights)
{
    if (weights.has("conv_first.weight"))
        return {.is_of_authors = false,
                .first = "conv_first",
                .after_blocks = "conv_after_body",
                .steps = "upsample.",
                .last = "conv_last",
                .block_count = weights.count("body.")};
    const int64_t count = weights.count("body.") - 1;
    return {.is_of_authors = true,
            .first = weights.has("head.1.weight") ? "head.1" : "head.0",
            .after_blocks = concat("body.", count),
            .steps = "tail.0.",
            .last = "tail.1",
            .block_count = count};
}

Blueprint finish_residual(Net &net, const ResidualShell &shell,
                          const std::function<Expression(const Expression &, int64_t)> &block)
{
    const int64_t out_channels = net.weights().size(shell.last + ".weight", 0);
    if (out_channels < 1 || out_channels > 4)
        net.contradict(concat("returns ", out_channels, " channels"));
    const int64_t unshuffle = unshuffle_of(net, shell, out_channels);
    const Normalisation normalisation(net, shell.is_of_authors, out_channels);
    if (unshuffle > 1)
        net.report("unshuffle", unshuffle);

    Expression x = normalisation.normalised(net.pad_to_multiple(Net::input, unshuffle));
    if (unshuffle > 1)
        x = net.pixel_unshuffle(x, unshuffle);
    const Expression first = net.conv(x, shell.first);
    x = first;
    for (int64_t i = 0; i < shell.block_count; i++)
        x = block(x, i);
    x = net.add(net.conv(x, shell.after_blocks), first);
    int64_t scale = 1;
    x = net.shuffled_steps(x, shell.steps, 2, scale);
    x = normalisation.picture(net.conv(x, shell.last));
    if (scale % unshuffle != 0)
        net.contradict(concat("its enlargement by ", scale,
                              " is not a multiple of its unshuffle by ", unshuffle));
    scale /= unshuffle;
    if (unshuffle > 1)
        x = net.crop(x, Net::input, scale);
    return net.finish(x, scale, out_channels, out_channels);
}

} // namespace engine_torch
