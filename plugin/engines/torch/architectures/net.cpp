// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "net.h"

#include "base/compose.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>

namespace engine_torch
{
namespace
{

using dnn_torch::concat;
using dnn_torch::joined;

// Pads by reflection as far as possible, then by repeating the border.
constexpr char pad_function[] = R"(
def pad_to_multiple(self, x, multiple: int):
    down = (multiple - x.size(2) % multiple) % multiple
    right = (multiple - x.size(3) % multiple) % multiple
    reflected_down = min(down, x.size(2) - 1)
    reflected_right = min(right, x.size(3) - 1)
    x = torch.reflection_pad2d(x, [0, reflected_right, 0, reflected_down])
    return torch.replication_pad2d(x, [0, right - reflected_right, 0, down - reflected_down])
)";

// No published convolution is larger.
constexpr int64_t largest_kernel = 1024;
constexpr int64_t most_channels = 4;
// Three times as many as in the deepest published networks.  LibTorch's time grows quadratically.
constexpr size_t most_lines = 6000;

constexpr char channel_norm_function[] = R"(
def channel_norm(self, x, weight, bias, epsilon: float):
    centred = x - torch.mean(x, [1], True)
    variance = torch.mean(centred * centred, [1], True)
    normal = centred / torch.sqrt(variance + epsilon)
    return torch.reshape(weight, [-1, 1, 1]) * normal + torch.reshape(bias, [-1, 1, 1])
)";

std::string pair_of(int64_t number)
{
    return concat("[", number, ", ", number, "]");
}

} // namespace

std::string literal(double number)
{
    std::array<char, 32> text = {};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
    std::string digits(text.data(), end);
    if (digits.find_first_of(".en") == std::string::npos)
        digits += ".0";
    return digits;
}

Net::Net(const Weights &weights, std::string architecture) : weights_(weights)
{
    blueprint_.architecture = std::move(architecture);
    for (const auto &[name, weight] : weights.all())
        if (std::find(weight.shape.begin(), weight.shape.end(), 0) != weight.shape.end())
            contradict(concat(name, " has an extent of 0"));
    // PyTorch's counter of batches in training.
    ignore_ending(".num_batches_tracked");
}

void Net::report(const std::string &parameter, const std::string &value)
{
    blueprint_.parameters.emplace_back(parameter, value);
}

void Net::report(const std::string &parameter, int64_t value)
{
    report(parameter, std::to_string(value));
}

// ---- tensors ------------------------------------------------------------------------

Expression Net::attribute(NetTensor tensor)
{
    tensor.attribute = concat("w", blueprint_.tensors.size());
    blueprint_.tensors.push_back(std::move(tensor));
    return "self." + blueprint_.tensors.back().attribute;
}

Expression Net::weight(const std::string &name)
{
    static_cast<void>(weights_.at(name));
    used_.insert(name);
    std::string &known = attributes_[name];
    if (known.empty())
        known =
            attribute({.attribute = "", .weight = name, .shape = {}, .indices = {}, .numbers = {}});
    return known;
}

Expression Net::weight_or_none(const std::string &name)
{
    if (weights_.has(name))
        return weight(name);
    const bool is_optional =
        std::any_of(optional_.begin(), optional_.end(),
                    [&](const std::string &end) { return name.ends_with(end); });
    if (!is_optional && needs_biases_)
        throw WeightFault(concat("lacks ", name));
    if (needs_biases_)
        absent_.insert(name);
    return "None";
}

Expression Net::indices(std::vector<int64_t> shape, std::vector<int64_t> values)
{
    return attribute({.attribute = "",
                      .weight = "",
                      .shape = std::move(shape),
                      .indices = std::move(values),
                      .numbers = {}});
}

Expression Net::numbers(std::vector<int64_t> shape, std::vector<float> values)
{
    return attribute({.attribute = "",
                      .weight = "",
                      .shape = std::move(shape),
                      .indices = {},
                      .numbers = std::move(values)});
}

void Net::ignore_ending(std::string_view end)
{
    for (const auto &[name, weight] : weights_.all())
        if (name.ends_with(end))
            ignore(name);
}

// ---- code ---------------------------------------------------------------------------

Expression Net::new_name()
{
    return concat("x", ++variables_);
}

Expression Net::let(const std::string &expression)
{
    const std::string name = new_name();
    line(concat(name, " = ", expression));
    return name;
}

void Net::line(const std::string &text)
{
    if (++line_count_ > most_lines)
        throw WeightFault(concat("is a network (", blueprint_.architecture,
                                 ") of more layers than anybody "
                                 "published; it takes too long to build"));
    lines_ += concat(margin_, text, "\n");
}

void Net::begin_block(const std::string &head)
{
    line(concat(head, ":"));
    margin_ += "    ";
}

void Net::begin(const std::string &condition)
{
    begin_block(concat("if ", condition));
}

void Net::otherwise()
{
    end();
    begin_block("else");
}

void Net::begin_for(const std::string &rounds)
{
    begin_block(concat("for ", rounds));
}

void Net::end()
{
    margin_.resize(margin_.size() - 4);
}

void Net::function(const std::string &text)
{
    if (functions_.insert(text).second)
        function_texts_ += text;
}

// ---- layers -------------------------------------------------------------------------

Expression Net::conv(const Expression &x, const std::string &name, const ConvOptions &options)
{
    const std::string weight_name = name + ".weight";
    expect_shape(name, 4, "a 2D convolution");
    const auto padding = [&](size_t dimension) {
        if (weights_.size(weight_name, dimension) > largest_kernel)
            contradict(concat(weight_name, " is larger than any convolution's"));
        return options.padding >= 0
                   ? options.padding
                   : options.dilation * (weights_.size(weight_name, dimension) - 1) / 2;
    };
    return let(concat("torch.conv2d(", x, ", ", weight(weight_name), ", ",
                      options.has_bias ? weight_or_none(name + ".bias") : "None", ", ",
                      pair_of(options.stride), ", [", padding(2), ", ", padding(3), "], ",
                      pair_of(options.dilation), ", ", options.groups, ")"));
}

Expression Net::conv_transpose(const Expression &x, const std::string &name, int64_t stride,
                               int64_t padding, int64_t output_padding)
{
    expect_bias(name, weights_.size(name + ".weight", 1));
    return let(concat("torch.conv_transpose2d(", x, ", ", weight(name + ".weight"), ", ",
                      weight_or_none(name + ".bias"), ", ", pair_of(stride), ", ", pair_of(padding),
                      ", ", pair_of(output_padding), ", 1, [1, 1])"));
}

void Net::expect_shape(const std::string &name, size_t dimensions, const char *layer) const
{
    const Weight &weight = weights_.at(name + ".weight");
    if (weight.shape.size() != dimensions)
        contradict(concat(name, ".weight has ",
                          dnn_torch::counted(weight.shape.size(), "dimension"), ", and that of ",
                          layer, " has ", dimensions));
    expect_bias(name, weight.shape[0]);
}

void Net::expect_bias(const std::string &name, int64_t channels) const
{
    expect_one_for_each(name + ".bias", channels, name);
}

void Net::expect_one_for_each(const std::string &name, int64_t channels,
                              const std::string &layer) const
{
    if (weights_.has(name) && weights_.at(name).shape != std::vector<int64_t>{channels})
        contradict(concat(name, " does not have one number for each of the ", channels,
                          " channels of ", layer, ".weight"));
}

Expression Net::linear(const Expression &x, const std::string &name)
{
    expect_shape(name, 2, "a linear layer");
    return let(concat("torch.linear(", x, ", ", weight(name + ".weight"), ", ",
                      weight_or_none(name + ".bias"), ")"));
}

Expression Net::prelu(const Expression &x, const std::string &name)
{
    return let(concat("torch.prelu(", x, ", ", weight(name + ".weight"), ")"));
}

// Its weight and bias come together.
Expression Net::batch_norm(const Expression &x, const std::string &name, const std::string &conv,
                           double epsilon)
{
    const bool has_both = weights_.has(name + ".weight") || weights_.has(name + ".bias");
    const auto part = [&](const char *end) {
        return has_both ? weight(name + end) : weight_or_none(name + end);
    };
    for (const char *end : {".weight", ".bias", ".running_mean", ".running_var"})
        expect_one_for_each(name + end, weights_.size(conv + ".weight", 0), conv);
    const Expression factor = part(".weight"), offset = part(".bias");
    return let(concat("torch.batch_norm(", x, ", ", factor, ", ", offset, ", ",
                      weight(name + ".running_mean"), ", ", weight(name + ".running_var"),
                      ", False, 0.0, ", literal(epsilon), ", False)"));
}

Expression Net::layer_norm(const Expression &x, const std::string &name, double epsilon)
{
    expect_shape(name, 1, "a norm");
    return let(concat("torch.layer_norm(", x, ", [", weights_.size(name + ".weight", 0), "], ",
                      weight(name + ".weight"), ", ", weight_or_none(name + ".bias"), ", ",
                      literal(epsilon), ")"));
}

// ---- layers without weights -----------------------------------------------------------

Expression Net::activate(const Expression &x, const std::string &function)
{
    return let(concat("torch.", function, "(", x, ")"));
}

Expression Net::leaky_relu(const Expression &x, double slope)
{
    return let(concat("torch.leaky_relu(", x, ", ", literal(slope), ")"));
}

Expression Net::add(const Expression &a, const Expression &b)
{
    return let(concat(a, " + ", b));
}

Expression Net::scaled(const Expression &x, double factor)
{
    return let(concat(x, " * ", literal(factor)));
}

Expression Net::add_scaled(const Expression &a, const Expression &b, double factor)
{
    return let(concat("torch.add(", a, ", ", b, ", alpha=", literal(factor), ")"));
}

Expression Net::cat(const std::vector<Expression> &parts, int64_t dimension)
{
    return let(concat("torch.cat([", joined(parts), "], ", dimension, ")"));
}

Expression Net::pixel_shuffle(const Expression &x, int64_t factor)
{
    return let(concat("torch.pixel_shuffle(", x, ", ", factor, ")"));
}

Expression Net::pixel_unshuffle(const Expression &x, int64_t factor)
{
    return let(concat("torch.pixel_unshuffle(", x, ", ", factor, ")"));
}

Expression Net::enlarge_nearest(const Expression &x, int64_t factor)
{
    return let(concat("torch.upsample_nearest2d(", x, ", [", x, ".size(2) * ", factor, ", ", x,
                      ".size(3) * ", factor, "])"));
}

Expression Net::pad_to_multiple(const Expression &x, int64_t multiple)
{
    if (multiple <= 1)
        return x;
    align(multiple);
    function(pad_function);
    return let(concat("self.pad_to_multiple(", x, ", ", multiple, ")"));
}

Expression Net::crop(const Expression &x, const Expression &original, int64_t scale)
{
    return let(concat(x, "[:, :, :", original, ".size(2) * ", scale, ", :", original, ".size(3) * ",
                      scale, "]"));
}

// ---- used by several architectures ----------------------------------------------------

int64_t Net::shuffle_factor(const std::string &layer, int64_t to) const
{
    const int64_t channels = weights_.size(layer + ".weight", 0);
    for (int64_t factor = 1; factor <= 16; factor++)
        if (to > 0 && channels % (factor * factor) == 0 && channels / (factor * factor) == to)
            return factor;
    contradict(concat(layer, " returns ", dnn_torch::counted(channels, "channel"),
                      ", not an integer enlargement of ", to));
}

Expression Net::channel_norm(const Expression &x, const std::string &name, double epsilon)
{
    function(channel_norm_function);
    return let(concat("self.channel_norm(", x, ", ", weight(name + ".weight"), ", ",
                      weight(name + ".bias"), ", ", literal(epsilon), ")"));
}

Expression Net::shuffled_steps(Expression x, const std::string &prefix, int64_t step,
                               int64_t &scale)
{
    for (int64_t i = 0;; i++) {
        const std::string layer = concat(prefix, i * step);
        if (!weights_.has(layer + ".weight"))
            return x;
        const int64_t factor = shuffle_factor(layer, weights_.size(layer + ".weight", 1));
        if (scale * factor > 64)
            contradict("enlarges more than 64 times");
        scale *= factor;
        x = pixel_shuffle(conv(x, layer), factor);
    }
}

void Net::align(int64_t multiple)
{
    // No published network has windows of this size.
    constexpr int64_t largest = 4096;
    const int64_t both = std::lcm(blueprint_.alignment, std::clamp<int64_t>(multiple, 1, largest));
    blueprint_.alignment = std::min(both, largest * largest);
}

void Net::take_frames(int64_t first, int64_t last, const std::string &border)
{
    blueprint_.first_frame = first;
    blueprint_.last_frame = last;
    blueprint_.border = border;
}

// A window that follows has all but its last three from the window before.
constexpr char windows_functions[] = R"(
def followers(self, x, channels: int):
    same = torch.eq(x[1:, :-channels], x[:-1, channels:]).flatten(1).all(1)
    return torch.cat([torch.zeros([1], dtype=same.dtype, device=x.device), same])

def distinct_threes(self, x, follows, count: int):
    is_last = torch.arange(count - 2, device=x.device) == count - 3
    rows = torch.nonzero(torch.logical_or(torch.logical_not(follows).unsqueeze(1), is_last))
    first = (rows[:, 0] * count + rows[:, 1]).unsqueeze(1)
    places = (first + torch.arange(3, device=x.device)).flatten()
    return x.index_select(0, places).reshape([-1, 3 * x.size(1), x.size(2), x.size(3)])

def of_each_window(self, x, follows, count: int):
    last = torch.cumsum(torch.logical_not(follows) * (count - 1) + 1, 0) - 1
    places = last.unsqueeze(1) + torch.arange(1 - count, 1, device=x.device)
    return x.index_select(0, places.flatten())
)";

Expression Net::followers(const Expression &windows, int64_t channels)
{
    function(windows_functions);
    blueprint_.shares_windows = true;
    return let(concat("self.followers(", windows, ", ", channels, ")"));
}

constexpr char repeats_function[] = R"(
def repeats(self, x):
    same = torch.eq(x[1:], x[:-1]).flatten(1).all(1)
    return torch.cat([torch.zeros([1], dtype=same.dtype, device=x.device), same])
)";

Expression Net::repeats(const Expression &pictures)
{
    function(repeats_function);
    blueprint_.shares_windows = true;
    return let(concat("self.repeats(", pictures, ")"));
}

Expression Net::distinct_threes(const Expression &pictures, const Expression &followers,
                                int64_t count)
{
    return let(concat("self.distinct_threes(", pictures, ", ", followers, ", ", count, ")"));
}

Expression Net::of_each_window(const Expression &pictures, const Expression &followers,
                               int64_t count)
{
    return let(concat("self.of_each_window(", pictures, ", ", followers, ", ", count, ")"));
}

Expression Net::state(const std::string &name, int64_t output, const Expression &first)
{
    argument(concat(name, ": Optional[Tensor] = None"));
    blueprint_.states.emplace_back(name, output);
    return let(concat(first, " if ", name, " is None else ", name));
}

Expression Net::take_time(const std::string &name)
{
    argument(concat(name, ": Optional[Tensor] = None"));
    make_between();
    blueprint_.between = name;
    return let(
        concat("torch.full_like(", input, "[:, :1], 0.5) if ", name, " is None else ", name));
}

constexpr char warp_function[] = R"(
def moved_by_flow(self, x, flow):
    h, w = x.size(2), x.size(3)
    columns = torch.arange(w, dtype=flow.dtype, device=x.device) * 2.0 / (w - 1.0) - 1.0
    rows = torch.arange(h, dtype=flow.dtype, device=x.device) * 2.0 / (h - 1.0) - 1.0
    across = columns.reshape([1, 1, w]) + flow[:, 0] * 2.0 / (w - 1.0)
    down = rows.reshape([1, h, 1]) + flow[:, 1] * 2.0 / (h - 1.0)
    moved = torch.grid_sampler(x.to(flow.dtype), torch.stack([across, down], 3), 0, 1, True)
    return moved.to(x.dtype)
)";

Expression Net::moved_by_flow(const Expression &x, const Expression &flow)
{
    function(warp_function);
    return let(concat("self.moved_by_flow(", x, ", ", flow, ")"));
}

// LibTorch 1.13 does not repeat the border in bf16.
constexpr char around_functions[] = R"(
def border_around(self, x, multiple: int):
    right = (multiple - x.size(3) % multiple) % multiple
    down = (multiple - x.size(2) % multiple) % multiple
    return [right // 2, right - right // 2, down // 2, down - down // 2]

def pad_around(self, x, border: List[int], reflects: bool):
    across = x.size(3) - 1 if reflects else 0
    down = x.size(2) - 1 if reflects else 0
    near = [min(border[0], across), min(border[1], across), min(border[2], down), min(border[3], down)]
    far = [border[0] - near[0], border[1] - near[1], border[2] - near[2], border[3] - near[3]]
    return torch.replication_pad2d(torch.reflection_pad2d(x.float(), near), far).to(x.dtype)
)";

Expression Net::border_around(const Expression &x, const Expression &multiple)
{
    function(around_functions);
    return let(concat("self.border_around(", x, ", ", multiple, ")"));
}

Expression Net::pad_around(const Expression &x, const Expression &border, const std::string &mode)
{
    return let(concat("self.pad_around(", x, ", ", border, ", ",
                      mode == "reflect" ? "True" : "False", ")"));
}

Expression Net::crop_around(const Expression &x, const Expression &original,
                            const Expression &border)
{
    return let(concat(x, "[:, :, ", border, "[2]:", border, "[2] + ", original, ".size(2), ",
                      border, "[0]:", border, "[0] + ", original, ".size(3)]"));
}

void Net::make_alpha()
{
    blueprint_.task = "matte";
    blueprint_.as = "alpha";
}

Expression Net::enlarge_bilinear(const Expression &x, int64_t factor)
{
    return let(concat("torch.upsample_bilinear2d(", x, ", [", x, ".size(2) * ", factor, ", ", x,
                      ".size(3) * ", factor, "], False)"));
}

Expression Net::channels(const Expression &x, int64_t first, int64_t last)
{
    return let(concat(x, "[:, ", first, ":", last, "]"));
}

Expression Net::picture_mean(const Expression &x)
{
    mark_nonlocal();
    return let(concat("torch.mean(", x, ", [2, 3], True)"));
}

Expression Net::multiply(const Expression &a, const Expression &b)
{
    return let(concat(a, " * ", b));
}

void Net::contradict(const std::string &words) const
{
    throw WeightFault(concat("looks like ", blueprint_.architecture, ", but ", words));
}

// ---- the whole network --------------------------------------------------------------

// Returns "body.#.conv#.bias" for "body.3.conv1.bias", the same in all blocks.
std::string Net::place_of(std::string_view name)
{
    std::string place;
    for (const char each : name)
        if (each < '0' || each > '9')
            place += each;
        else if (place.empty() || place.back() != '#')
            place += '#';
    return place;
}

void Net::expect_none_missing() const
{
    std::set<std::string> places;
    for (const std::string &name : used_)
        places.insert(place_of(name));
    for (const std::string &name : absent_)
        if (places.count(place_of(name)) != 0)
            throw WeightFault(concat("lacks ", name));
}

// A network with unused weights is not the network that was trained.
void Net::expect_all_used() const
{
    constexpr size_t most = 3;
    std::vector<std::string> left;
    size_t count = 0;
    for (const auto &[name, weight] : weights_.all())
        if (used_.count(name) == 0 && count++ < most)
            left.push_back(name);
    if (count == 0)
        return;
    std::string names = joined(left);
    if (count > most)
        names += concat(" and ", count - most, " more");
    contradict(concat("has weights that are not known there: ", names));
}

Blueprint Net::finish(const Expression &result, int64_t scale, int64_t in_channels,
                      int64_t out_channels)
{
    expect_none_missing();
    expect_all_used();
    const int64_t frames = blueprint_.last_frame - blueprint_.first_frame + 1;
    if (const int64_t most = std::max(in_channels / frames, out_channels); most > most_channels)
        throw WeightFault(concat("is a ", blueprint_.architecture, " for pictures of ", most,
                                 " channels; a picture has 1, 3 or 4"));
    blueprint_.scale = scale;
    blueprint_.in_channels = in_channels;
    blueprint_.out_channels = out_channels;
    return finish_as(concat(", ", input, arguments_), result);
}

Blueprint Net::finish_as(const std::string &arguments, const Expression &result)
{
    blueprint_.source = concat(function_texts_, "\ndef forward(self", arguments, "):\n", lines_,
                               "    return ", result, "\n");
    return std::move(blueprint_);
}

std::string contract_of(const Blueprint &network)
{
    const int64_t first = network.first_frame, last = network.last_frame;
    std::string frames, states, minimum;
    if (network.minimum > 1)
        minimum = concat(R"(, "minimum": )", network.minimum);
    if (first != last)
        frames = concat(R"(, "frames": [)", first, ", ", last, R"(], "border": ")", network.border,
                        R"(")");
    for (const auto &[name, output] : network.states)
        dnn_torch::add_to_list(states, concat("\"", name, R"(": "state=)", output, "\""));
    if (!network.between.empty())
        dnn_torch::add_to_list(states, concat("\"", network.between, R"(": "between")"));
    const std::string made = network.as.empty() ? concat(R"("channels": )", network.out_channels)
                                                : concat(R"("as": ")", network.as, "\"");
    return concat(R"({"scale": )", network.scale, R"(, "task": ")", network.task,
                  R"(", "tiling": ")", network.is_local ? "local" : "global", R"(", "alignment": )",
                  network.alignment, R"(, "input": {"channels": )",
                  network.in_channels / (last - first + 1), R"(, "order": "rgb", "range": [0, 1])",
                  frames, minimum, "}",
                  states.empty() ? "" : concat(R"(, "inputs": {)", states, "}"), R"(, "output": {)",
                  made, "}}");
}

} // namespace engine_torch
