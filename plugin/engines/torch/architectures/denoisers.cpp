// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// DnCNN, IRCNN, FDnCNN and FFDNet: a chain of convolutions, "model.N" or "dncnn.N".
//
// An index without weights is an activation.  The numbers of input and output channels identify the
// network.  DnCNN and IRCNN return the noise; the others return the picture.
#include "architecture.h"

#include "base/compose.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace engine_torch
{
namespace denoisers_network
{
namespace
{

using dnn_torch::concat;

// The value of the authors' tests, and the default of forward().
constexpr char noise_argument[] = "sigma: float = 0.058823529411764705"; // 15 / 255

enum class Kind { dncnn, ircnn, fdncnn, ffdnet };

const char *name_of(Kind kind)
{
    switch (kind) {
    case Kind::dncnn:
        return "DnCNN";
    case Kind::ircnn:
        return "IRCNN";
    case Kind::fdncnn:
        return "FDnCNN";
    case Kind::ffdnet:
        return "FFDNet";
    }
    return "";
}

std::string prefix_of(const Weights &weights)
{
    return weights.has("dncnn.0.weight") ? "dncnn." : "model.";
}

// Returns the N of "model.N.weight".
std::optional<int64_t> place_of(std::string_view name, std::string_view prefix)
{
    int64_t place = 0;
    if (name.substr(0, prefix.size()) != prefix)
        return std::nullopt;
    const char *begin = name.data() + prefix.size();
    const char *end = name.data() + name.size();
    const auto rest = std::from_chars(begin, end, place);
    const bool ends_well =
        rest.ec == std::errc() && rest.ptr != end && *rest.ptr == '.' &&
        std::string_view(rest.ptr + 1, end - rest.ptr - 1).find('.') == std::string_view::npos;
    return ends_well && place >= 0 ? std::optional(place) : std::nullopt;
}

bool is_convolution(const Weights &weights, const std::string &layer)
{
    return weights.has(layer + ".weight") && weights.at(layer + ".weight").shape.size() == 4;
}

bool recognises(const Weights &weights)
{
    const std::string prefix = prefix_of(weights);
    for (const auto &[name, weight] : weights.all())
        if (!place_of(name, prefix))
            return false;
    return is_convolution(weights, prefix + "0") && is_convolution(weights, prefix + "2") &&
           !weights.has(prefix + "1.weight");
}

struct Row {
    std::string prefix;
    int64_t last = 0;
    int64_t convolutions = 0;
    double norm_epsilon = 0;
};

Row row_of(const Weights &weights)
{
    Row row;
    row.prefix = prefix_of(weights);
    for (const auto &[name, weight] : weights.all())
        row.last = std::max(row.last, place_of(name, row.prefix).value_or(0));
    for (const auto &[name, weight] : weights.all())
        row.convolutions += weight.shape.size() == 4 ? 1 : 0;
    // The authors' epsilon.  Another implementation, without biases, has PyTorch's default.
    row.norm_epsilon = weights.has(row.prefix + "0.bias") ? 1e-4 : 1e-5;
    return row;
}

Kind kind_of(const Net &net, const Row &row, int64_t in_channels, int64_t out_channels)
{
    constexpr int64_t of_ircnn = 7; // convolutions; no other published network has so few
    if (in_channels == out_channels)
        return row.convolutions == of_ircnn && row.last == 12 ? Kind::ircnn : Kind::dncnn;
    if (in_channels != out_channels + 1)
        net.contradict(concat("takes ", dnn_torch::counted(in_channels, "channel"), " and returns ",
                              out_channels));
    return out_channels == 4 || out_channels == 12 ? Kind::ffdnet : Kind::fdncnn;
}

// The dilation grows up to the middle layer and shrinks after it.
int64_t dilation_of(Kind kind, int64_t place)
{
    constexpr int64_t dilations[] = {1, 2, 3, 4, 3, 2, 1};
    return kind == Kind::ircnn ? dilations[place / 2] : 1;
}

Expression layers(Net &net, Expression x, const Row &row, Kind kind)
{
    const Weights &weights = net.weights();
    bool was_activation = true;
    for (int64_t place = 0; place <= row.last; place++) {
        const std::string layer = concat(row.prefix, place);
        const bool is_activation = !weights.has(layer + ".weight");
        if (is_activation && was_activation)
            net.contradict(concat("lacks ", layer, ".weight"));
        if (is_activation)
            x = net.activate(x, "relu");
        else if (is_convolution(weights, layer))
            x = net.conv(x, layer, {.dilation = dilation_of(kind, place)});
        else
            x = net.batch_norm(x, layer, concat(row.prefix, place - 1), row.norm_epsilon);
        was_activation = is_activation;
    }
    return x;
}

Expression with_noise(Net &net, const Expression &x)
{
    return net.cat({x, net.let(concat("torch.full_like(", x, "[:, :1], sigma)"))});
}

Blueprint build(const Weights &weights)
{
    const Row row = row_of(weights);
    const int64_t in_channels = weights.size(row.prefix + "0.weight", 1);
    const int64_t out_channels = weights.size(concat(row.prefix, row.last, ".weight"), 0);
    const Kind kind = kind_of(Net(weights, denoisers.name), row, in_channels, out_channels);
    Net net(weights, name_of(kind));
    // A layer followed by a normalisation needs no bias.
    if (std::any_of(weights.all().begin(), weights.all().end(), [](const auto &named) {
            return named.first.find(".running_mean") != std::string::npos;
        }))
        net.allow_missing_biases();
    else
        net.allow_missing(".bias");
    net.report("features", weights.size(row.prefix + "0.weight", 0));
    net.report("convolutions", row.convolutions);
    const auto finish = [&](const Expression &x, int64_t channels) {
        return net.finish(x, 1, channels, channels);
    };
    if (kind == Kind::dncnn || kind == Kind::ircnn) {
        const Expression noise = layers(net, Net::input, row, kind);
        return finish(net.let(concat(Net::input, " - ", noise)), out_channels);
    }
    net.argument(noise_argument);
    if (kind == Kind::fdncnn)
        return finish(layers(net, with_noise(net, Net::input), row, kind), out_channels);
    Expression x = net.let("torch.replication_pad2d(x, [0, x.size(3) % 2, 0, x.size(2) % 2])");
    net.align(2);
    x = layers(net, with_noise(net, net.pixel_unshuffle(x, 2)), row, kind);
    return finish(net.crop(net.pixel_shuffle(x, 2), Net::input, 1), out_channels / 4);
}

} // namespace
} // namespace denoisers_network

const Architecture denoisers = {.name = "DnCNN",
                                .recognises = denoisers_network::recognises,
                                .build = denoisers_network::build};

} // namespace engine_torch
