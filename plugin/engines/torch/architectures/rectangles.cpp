// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "rectangles.h"

#include "reconstruction.h"

#include "base/compose.h"

#include <algorithm>
#include <cstring>

namespace engine_torch::attention
{
namespace
{

using dnn_torch::concat;

constexpr char rectangle_padding_function[] = R"(
def pad_tokens(self, x, multiple: int):
    down = (multiple - x.size(1) % multiple) % multiple
    right = (multiple - x.size(2) % multiple) % multiple
    return torch.constant_pad_nd(x, [0, 0, 0, right, 0, down])
)";

// Each branch gets half of the channels of queries, keys and values.
constexpr char rectangle_function[] = R"(
def rectangle_attention(self, qkv, bias_0, bias_1, mask_0: Optional[Tensor],
                        mask_1: Optional[Tensor], h: int, w: int):
    height, width = qkv.size(1), qkv.size(2)
    half = qkv.size(3) // 6
    padded = self.pad_tokens(qkv, max(h, w))
    parts = padded.view(padded.size(0), padded.size(1), padded.size(2), 3, 2, half)
    parts = parts.permute(4, 3, 0, 1, 2, 5).contiguous()
    lying = self.window_attention(parts[0], bias_0, mask_0, h, w)
    standing = self.window_attention(parts[1], bias_1, mask_1, w, h)
    return torch.cat([lying, standing], 3)[:, :height, :width]
)";

// Generates all offsets between positions in a window, row by row: the networks' rpe_biases.
Expression differences(Net &net, const Window &window)
{
    std::vector<float> values;
    for (int64_t y = 1 - window.height; y < window.height; y++)
        for (int64_t x = 1 - window.width; x < window.width; x++) {
            values.push_back(static_cast<float>(y));
            values.push_back(static_cast<float>(x));
        }
    const auto rows = static_cast<int64_t>(values.size() / 2);
    return net.numbers({rows, 2}, std::move(values));
}

// Returns two numbers with that product and sum, the smaller one first; 0 if there are none.
Window sides_of(int64_t product, int64_t sum)
{
    for (int64_t first = 1; first * first <= product; first++)
        if (product % first == 0 && first + product / first == sum)
            return {.height = first, .width = product / first};
    return {};
}

// Whether the first number of a table of offsets, 1 - h, is larger in size than the second, 1 - w.
// Negative floats of any width sort like their bits.
bool is_tall(const Weight &table)
{
    const size_t width = bytes_of(table.type);
    const auto bits = [&](int64_t element) {
        uint64_t number = 0;
        std::memcpy(&number, table.bytes.data() + static_cast<size_t>(element) * width, width);
        return number;
    };
    return bits(0) > bits(table.strides[1]);
}

// The small network that computes a branch's position table.
Expression position_table(Net &net, const Expression &positions, const std::string &prefix)
{
    Expression x = net.linear(positions, prefix + "pos_proj");
    for (const char *layer : {"pos1", "pos2", "pos3"}) {
        x = net.layer_norm(x, concat(prefix, layer, ".0"));
        x = net.linear(net.activate(x, "relu"), concat(prefix, layer, ".2"));
    }
    return x;
}

// The tables' sizes are h * w and (2h - 1) * (2w - 1), from which h and w follow, but not which is
// which.
Window window_of(const Net &net, const std::string &prefix)
{
    const std::string index = prefix + "attns.0.relative_position_index";
    const std::string biases = prefix + "attns.0.rpe_biases";
    const int64_t size = net.weights().size(index, 0);
    const int64_t rows = net.weights().size(biases, 0);
    // A table of size * size numbers is generated; the file must have as many.
    constexpr int64_t largest = 4096;
    Window window;
    const Weight &table = net.weights().at(biases);
    if (size == net.weights().size(index, 1) && table.shape == std::vector<int64_t>{rows, 2} &&
        size <= largest && rows <= 4 * largest)
        window = sides_of(size, (4 * size + 1 - rows) / 2);
    if (window.size() == 0 || (2 * window.height - 1) * (2 * window.width - 1) != rows)
        throw WeightFault(concat("looks like ", net.architecture(), ", but ", index,
                                 " and rpe_biases do not fit any window"));
    return is_tall(table) ? window.turned() : window;
}

Rectangles rectangles(Net &net, const Expression &tokens, const Window &window)
{
    net.function(rectangle_padding_function);
    const Expression padded = net.let(
        concat("self.pad_tokens(", tokens, ", ", std::max(window.height, window.width), ")"));
    Rectangles result = {.window = window, .masks = {}, .indices = {}, .positions = {}};
    for (size_t i = 0; i < 2; i++) {
        const Window each = i == 0 ? window : window.turned();
        result.masks[i] = shift_mask(net, padded, each);
        result.indices[i] = relative_indices(net, each);
        result.positions[i] = differences(net, each);
    }
    return result;
}

Expression groups(Net &net, const Expression &picture, const WriteBlock &write_block)
{
    const Weights &weights = net.weights();
    const Window window = window_of(net, "layers.0.blocks.0.attn.");
    net.report("window", concat(window.height, "x", window.width));
    Expression x = net.layer_norm(to_tokens(net, picture), "before_RG.1");
    const Rectangles shared = rectangles(net, x, window);
    std::string depths;
    const int64_t count = weights.count("layers.");
    for (int64_t group = 0; group < count; group++) {
        const Expression before = x;
        const int64_t blocks = weights.count(concat("layers.", group, ".blocks."));
        for (int64_t i = 0; i < blocks; i++)
            x = write_block(x, shared, group, i);
        x = reconstruction::residual_convolution(net, to_picture(net, x),
                                                 concat("layers.", group, ".conv"));
        x = net.add(before, to_tokens(net, x));
        dnn_torch::add_to_list(depths, std::to_string(blocks), "+");
    }
    net.report("blocks", depths);
    return to_picture(net, net.layer_norm(x, "norm"));
}

} // namespace

Expression rectangle_attention(Net &net, const Expression &qkv, const std::string &prefix,
                               const Rectangles &shared, bool is_shifted)
{
    use_window_attention(net);
    net.function(rectangle_function);
    std::string biases, masks;
    for (size_t i = 0; i < 2; i++) {
        const std::string branch = concat(prefix, "attns.", i, ".");
        const int64_t channels = net.weights().size(prefix + "proj.weight", 1);
        expect_heads(net, channels, 2 * net.weights().size(branch + "pos.pos3.2.weight", 0));
        const Expression table = position_table(net, shared.positions[i], branch + "pos.");
        const Window window = i == 0 ? shared.window : shared.window.turned();
        biases += concat(", ", position_bias(net, table, shared.indices[i], window));
        masks += concat(", ", is_shifted ? shared.masks[i] : no_mask);
        net.ignore(branch + "relative_position_index");
        net.ignore(branch + "rpe_biases");
    }
    // The published networks store the masks for one picture size.
    net.ignore(prefix + "attn_mask_0");
    net.ignore(prefix + "attn_mask_1");
    return net.let(concat("self.rectangle_attention(", qkv, biases, masks, ", ",
                          shared.window.height, ", ", shared.window.width, ")"));
}

bool is_shifted(int64_t group, int64_t block)
{
    return group % 2 == 0 ? block % 4 == 2 : block % 4 == 0;
}

Expression gated_feed_forward(Net &net, const Expression &tokens, const std::string &prefix)
{
    const Expression x = net.activate(net.linear(tokens, prefix + "fc1"), "gelu");
    const int64_t half = net.weights().size(prefix + "sg.norm.weight", 0);
    const Expression kept = net.let(concat(x, ".narrow(3, 0, ", half, ")"));
    Expression gate = net.let(concat(x, ".narrow(3, ", half, ", ", half, ")"));
    gate = to_picture(net, net.layer_norm(gate, prefix + "sg.norm"));
    gate = to_tokens(net, net.conv(gate, prefix + "sg.conv", {.groups = half}));
    return net.linear(net.let(concat(kept, " * ", gate)), prefix + "fc2");
}

Blueprint network_of_rectangles(Net &net, const WriteBlock &write_block)
{
    const Weights &weights = net.weights();
    const int64_t channels = weights.size("conv_first.weight", 1);
    net.report("features", weights.size("conv_first.weight", 0));
    const Expression first =
        net.conv(reconstruction::without_mean(net, Net::input, channels), "conv_first");
    Expression x = groups(net, first, write_block);
    x = net.add(reconstruction::residual_convolution(net, x, "conv_after_body"), first);
    const bool has_steps = weights.has("conv_last.weight");
    const auto enlarged = has_steps ? reconstruction::enlarge_in_steps(net, x)
                                    : reconstruction::enlarge_at_once(net, x, channels);
    net.report("upsampler", has_steps ? "pixelshuffle" : "pixelshuffledirect");
    return net.finish(reconstruction::with_mean(net, enlarged.x, channels), enlarged.scale,
                      channels, channels);
}

} // namespace engine_torch::attention
