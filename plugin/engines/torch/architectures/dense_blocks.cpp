// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "dense_blocks.h"

#include "base/compose.h"

#include <vector>

namespace engine_torch
{
namespace
{

using dnn_torch::concat;

constexpr double dense_slope = 0.2, dense_residual = 0.2;

Expression dense_block(Net &net, const Expression &input, const std::string &prefix,
                       const std::string &end)
{
    std::vector<Expression> parts = {input};
    const bool is_plus = net.weights().has(prefix + ".conv1x1.weight");
    for (int64_t i = 1; i <= 5; i++) {
        const Expression all = parts.size() > 1 ? net.cat(parts) : input;
        Expression x = net.conv(all, concat(prefix, ".conv", i, end));
        if (i < 5)
            x = net.leaky_relu(x, dense_slope);
        if (is_plus && i == 2)
            x = net.add(x, net.conv(input, prefix + ".conv1x1"));
        if (is_plus && i == 4)
            x = net.add(x, parts[2]);
        parts.push_back(x);
    }
    return net.add_scaled(input, parts.back(), dense_residual);
}

} // namespace

Expression residual_dense_blocks(Net &net, const Expression &input, const std::string &prefix,
                                 const std::string &end)
{
    Expression x = input;
    for (int64_t i = 1; i <= 3; i++)
        x = dense_block(net, x, concat(prefix, i), end);
    return net.add_scaled(input, x, dense_residual);
}

} // namespace engine_torch
