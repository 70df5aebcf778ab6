// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "dysample.h"

#include "base/compose.h"

namespace engine_torch
{
namespace
{

using dnn_torch::concat;

// Offsets are in pixels of `x`: the first half is horizontal, the second vertical.  grid_sampler()
// has the borders at -1 and 1.
constexpr char sample_function[] = R"(
def sample_dynamically(self, x, offset, scope, start, scale: int, groups: int):
    n, height, width = x.size(0), x.size(2), x.size(3)
    moved = offset * torch.sigmoid(scope) * 0.5 + start
    moved = torch.reshape(moved, [n, 2, -1, height, width])
    across = torch.reshape(torch.arange(width, dtype=x.dtype, device=x.device), [1, 1, 1, -1])
    down = torch.reshape(torch.arange(height, dtype=x.dtype, device=x.device), [1, 1, -1, 1])
    across = (moved[:, 0] + across + 0.5) * (2.0 / width) - 1.0
    down = (moved[:, 1] + down + 0.5) * (2.0 / height) - 1.0
    across = torch.pixel_shuffle(across, scale)
    down = torch.pixel_shuffle(down, scale)
    grid = torch.flatten(torch.stack([across, down], 4), 0, 1)
    parts = torch.reshape(x, [n * groups, -1, height, width])
    sampled = torch.grid_sampler(parts, grid, 0, 1, False)
    return torch.reshape(sampled, [n, -1, height * scale, width * scale])
)";

constexpr int64_t largest = 16;

} // namespace

Expression dysample(Net &net, const Expression &x, const std::string &name, int64_t scale)
{
    const int64_t channels = net.weights().size(name + ".offset.weight", 0);
    const int64_t of_a_group = 2 * scale * scale;
    if (channels % of_a_group != 0 || channels < of_a_group || channels > largest * of_a_group)
        net.contradict(concat(name, ".offset returns ", dnn_torch::counted(channels, "channel"),
                              " for ", scale * scale, " samples"));
    net.function(sample_function);
    const Expression offset = net.conv(x, name + ".offset");
    const Expression scope = net.conv(x, name + ".scope");
    const Expression sampled = net.let(concat("self.sample_dynamically(", x, ", ", offset, ", ",
                                              scope, ", ", net.weight(name + ".init_pos"), ", ",
                                              scale, ", ", channels / of_a_group, ")"));
    return net.weights().has(name + ".end_conv.weight") ? net.conv(sampled, name + ".end_conv")
                                                        : sampled;
}

int64_t dysample_scale(const Net &net, const std::string &name, int64_t groups)
{
    return net.shuffle_factor(name + ".offset", 2 * groups);
}

} // namespace engine_torch
