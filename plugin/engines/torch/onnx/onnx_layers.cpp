// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// ONNX's layers: convolutions, pools, norms, and those that resize.
#include "onnx_import.h"

#include "base/compose.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>

namespace engine_torch
{
namespace
{

using dnn_torch::concat;

// ---- windows: kernels, their steps and the padding

struct Windows {
    std::vector<int64_t> kernel, strides, dilations;
    std::vector<int64_t> before, after; // padding
    std::string same = "";              // "SAME_UPPER": padding that depends on the size
    size_t count() const { return kernel.size(); }
};

std::vector<int64_t> expected(OnnxImport &graph, std::vector<int64_t> given, size_t count,
                              const char *name, int64_t least = 1)
{
    constexpr int64_t most = 4096; // no published layer has more
    if (given.size() != count)
        graph.refuse(concat("has another number of ", name, " than of dimensions"));
    for (const int64_t each : given)
        if (each < least || each > most)
            graph.refuse(concat("has ", name, " beyond ", least, " to 4096"));
    return given;
}

// Padding for stride 1 that keeps the size.
void pad_to_same(Windows &windows, bool more_before)
{
    for (size_t i = 0; i < windows.count(); i++) {
        const int64_t all = (windows.kernel[i] - 1) * windows.dilations[i], half = all / 2;
        windows.before[i] = more_before ? all - half : half;
        windows.after[i] = all - windows.before[i];
    }
}

Windows windows_of(OnnxImport &graph, const std::vector<int64_t> &kernel)
{
    const size_t count = kernel.size();
    if (count < 1 || count > 3)
        graph.refuse("has no kernel_shape of one to three dimensions");
    const std::vector<int64_t> ones(count, 1);
    Windows windows = {.kernel = expected(graph, kernel, count, "kernel_shape"),
                       .strides = expected(graph, graph.wholes("strides", ones), count, "strides"),
                       .dilations =
                           expected(graph, graph.wholes("dilations", ones), count, "dilations")};
    const auto pads = expected(graph, graph.wholes("pads", std::vector<int64_t>(2 * count, 0)),
                               2 * count, "pads", -4096);
    windows.before.assign(pads.begin(), pads.begin() + static_cast<ptrdiff_t>(count));
    windows.after.assign(pads.begin() + static_cast<ptrdiff_t>(count), pads.end());
    const std::string automatic = graph.text("auto_pad", "NOTSET");
    if (automatic.starts_with("SAME") && windows.strides != ones)
        windows.same = automatic;
    else if (automatic.starts_with("SAME"))
        pad_to_same(windows, automatic == "SAME_LOWER");
    return windows;
}

// The padding of one dimension, before and after, where the stride is not 1.
constexpr char same_function[] = R"(
def same_padding(self, size: int, kernel: int, stride: int, lower: bool) -> List[int]:
    all = max(((size + stride - 1) // stride - 1) * stride + kernel - size, 0)
    half = all // 2
    return [all - half, half] if lower else [half, all - half]
)";

// constant_pad_nd() takes the last dimension first.
std::string padding_list(OnnxImport &graph, const Windows &windows, const Expression &x)
{
    std::string list;
    if (!windows.same.empty()) {
        graph.net().function(same_function);
        for (size_t i = windows.count(); i-- > 0;)
            dnn_torch::add_to_list(list,
                                   concat("self.same_padding(", x, ".size(", i + 2, "), ",
                                          (windows.kernel[i] - 1) * windows.dilations[i] + 1, ", ",
                                          windows.strides[i], ", ",
                                          windows.same == "SAME_LOWER" ? "True" : "False", ")"),
                                   " + ");
        return list;
    }
    for (size_t i = windows.count(); i-- > 0;)
        dnn_torch::add_to_list(list, concat(windows.before[i], ", ", windows.after[i]));
    return concat("[", list, "]");
}

bool is_even(const Windows &windows)
{
    return windows.same.empty() && windows.before == windows.after &&
           std::all_of(windows.before.begin(), windows.before.end(),
                       [](int64_t each) { return each >= 0; });
}

// Pads where the layer itself cannot, and removes that from `windows`.
Expression padded(OnnxImport &graph, Windows &windows, const Expression &x, const char *with)
{
    const std::string list = padding_list(graph, windows, x);
    windows.before.assign(windows.count(), 0);
    windows.after = windows.before;
    windows.same.clear();
    return graph.net().let(concat("torch.constant_pad_nd(", x, ", ", list, ", ", with, ")"));
}

// ---- convolutions

// Of the weights, that input: their shape without the channels.
std::vector<int64_t> kernel_of(OnnxImport &graph, size_t weights = 1)
{
    const auto &shape = graph.value(weights).shape;
    if (shape && shape->size() >= 3 && shape->size() <= 5)
        return {shape->begin() + 2, shape->end()};
    const std::vector<int64_t> kernel = graph.wholes("kernel_shape");
    if (kernel.empty() || kernel.size() > 3)
        graph.refuse("has weights that are no kernel of one to three dimensions");
    return kernel;
}

std::string convolved(OnnxImport &graph, const std::vector<int64_t> &kernel, Expression x,
                      const Expression &weights, const Expression &offsets)
{
    Windows windows = windows_of(graph, kernel);
    if (!is_even(windows))
        x = padded(graph, windows, x, "0.0");
    return concat("torch.conv", windows.count(), "d(", x, ", ", weights, ", ", offsets, ", ",
                  list_of(windows.strides), ", ", list_of(windows.before), ", ",
                  list_of(windows.dilations), ", ", graph.positive("group", 1), ")");
}

void convolution(OnnxImport &graph)
{
    const std::vector<int64_t> kernel = kernel_of(graph);
    graph.give(convolved(graph, kernel, graph.tensor(0), graph.tensor(1), graph.tensor_or_none(2)),
               static_cast<int>(kernel.size()) + 2);
}

double activation_number(OnnxImport &graph, size_t index)
{
    const OnnxAttribute *const numbers = graph.attribute("activation_params");
    if (!numbers || numbers->reals.size() <= index || !std::isfinite(numbers->reals[index]))
        graph.refuse("has an activation without its numbers");
    return double{numbers->reals[index]};
}

std::string activated(OnnxImport &graph, const Expression &x)
{
    const std::string name = graph.text("activation", "Relu");
    if (name == "Relu" || name == "Sigmoid" || name == "Tanh")
        return concat("torch.",
                      name == "Relu"   ? "relu"
                      : name == "Tanh" ? "tanh"
                                       : "sigmoid",
                      "(", x, ")");
    if (name == "LeakyRelu")
        return concat("torch.leaky_relu(", x, ", ", literal(activation_number(graph, 0)), ")");
    if (name == "Clip")
        return concat("torch.clamp(", x, ", ", literal(activation_number(graph, 0)), ", ",
                      literal(activation_number(graph, 1)), ")");
    if (name == "HardSigmoid")
        return concat("torch.clamp(", x, " * ", literal(activation_number(graph, 0)), " + ",
                      literal(activation_number(graph, 1)), ", 0, 1)");
    graph.refuse(concat("has activation ", name, ", which is not read here"));
}

// ONNX Runtime's, with a tensor that is added and the activation.
void activated_convolution(OnnxImport &graph)
{
    const std::vector<int64_t> kernel = kernel_of(graph);
    Expression x = graph.net().let(
        convolved(graph, kernel, graph.tensor(0), graph.tensor(1), graph.tensor_or_none(2)));
    if (graph.has(3))
        x = graph.net().add(x, graph.tensor(3));
    graph.give(graph.attribute("activation") ? activated(graph, x) : x,
               static_cast<int>(kernel.size()) + 2);
}

// ---- quantised numbers, which are floats here: those hold all whole numbers to 2^24

// One number for all, or one for each place along `axis` of a tensor of that rank.
Expression spread(OnnxImport &graph, size_t input, int rank, int axis)
{
    const Expression numbers = graph.floats(input);
    if (graph.rank(input) != 1 || rank < 2)
        return numbers;
    std::vector<int64_t> shape(static_cast<size_t>(rank), 1);
    shape.at(static_cast<size_t>(axis < 0 ? axis + rank : axis)) = -1;
    return graph.net().let(concat("torch.reshape(", numbers, ", ", list_of(shape), ")"));
}

// An input less its zero point.
Expression centred(OnnxImport &graph, size_t input, size_t zero, int axis)
{
    const Expression x = graph.floats(input);
    const auto numbers = graph.numbers(zero);
    const bool is_zero = !graph.has(zero) ||
                         (numbers && std::all_of(numbers->begin(), numbers->end(),
                                                 [](const Number &each) { return each == "0"; }));
    return is_zero
               ? x
               : graph.net().let(concat(x, " - ", spread(graph, zero, graph.rank(input), axis)));
}

// A quantised input, its scale and its zero point.
Expression dequantised(OnnxImport &graph, size_t input, int axis = 1)
{
    return graph.net().let(concat("(", centred(graph, input, input + 2, axis), ") * ",
                                  spread(graph, input + 1, graph.rank(input), axis)));
}

// `x` is divided by its scale already.
void give_quantised(OnnxImport &graph, const std::string &x, size_t zero, int rank)
{
    const bool has_zero = graph.has(zero);
    graph.give(concat("torch.clamp(torch.round(", x, ") + ", has_zero ? graph.floats(zero) : "0",
                      ", ", graph.limits(has_zero ? graph.type_in_file(zero) : ElementType::uint8),
                      ")"),
               rank);
}

void integer_convolution(OnnxImport &graph)
{
    const std::vector<int64_t> kernel = kernel_of(graph);
    graph.give(convolved(graph, kernel, centred(graph, 0, 2, 1), centred(graph, 1, 3, 0), "None"),
               static_cast<int>(kernel.size()) + 2);
}

void quantised_convolution(OnnxImport &graph)
{
    const std::vector<int64_t> kernel = kernel_of(graph, 3);
    const int rank = static_cast<int>(kernel.size()) + 2;
    const Expression sums =
        graph.net().let(convolved(graph, kernel, centred(graph, 0, 2, 1), centred(graph, 3, 5, 0),
                                  graph.has(8) ? graph.floats(8) : "None"));
    give_quantised(graph,
                   concat(sums, " * (", graph.tensor(1), " * ", spread(graph, 4, rank, 1), " / ",
                          graph.tensor(6), ")"),
                   7, rank);
}

void integer_product(OnnxImport &graph)
{
    graph.give(
        concat("torch.matmul(", centred(graph, 0, 2, -2), ", ", centred(graph, 1, 3, -1), ")"),
        std::max(graph.rank(0), graph.rank(1)));
}

void quantised_product(OnnxImport &graph)
{
    const int rank = std::max(graph.rank(0), graph.rank(3));
    const Expression sums = graph.net().let(
        concat("torch.matmul(", centred(graph, 0, 2, -2), ", ", centred(graph, 3, 5, -1), ")"));
    give_quantised(graph,
                   concat(sums, " * (", spread(graph, 1, rank, -2), " * ",
                          spread(graph, 4, rank, -1), " / ", graph.tensor(6), ")"),
                   7, rank);
}

// ONNX Runtime's: dequantises, computes, and quantises again.
template <char sign> void quantised_sum(OnnxImport &graph)
{
    const Expression a = dequantised(graph, 0), b = dequantised(graph, 3);
    give_quantised(graph,
                   concat("(", a, " ", std::string(1, sign), " ", b, ") / ", graph.tensor(6)), 7,
                   std::max(graph.rank(0), graph.rank(3)));
}

void quantised_sigmoid(OnnxImport &graph)
{
    give_quantised(graph, concat("torch.sigmoid(", dequantised(graph, 0), ") / ", graph.tensor(3)),
                   4, graph.rank(0));
}

void quantised_leaky_relu(OnnxImport &graph)
{
    give_quantised(graph,
                   concat("torch.leaky_relu(", dequantised(graph, 0), ", ",
                          literal(graph.real("alpha", 0.01F)), ") / ", graph.tensor(3)),
                   4, graph.rank(0));
}

void quantised_global_average(OnnxImport &graph)
{
    if (graph.whole("channels_last", 0) != 0)
        graph.refuse("has channels that come last, which is not read here");
    give_quantised(
        graph, concat("torch.mean(", dequantised(graph, 0), ", [2, 3], True) / ", graph.tensor(3)),
        4, graph.rank(0));
}

void quantised_concatenation(OnnxImport &graph)
{
    std::string tensors;
    for (size_t i = 2; i + 2 < graph.input_count(); i += 3)
        dnn_torch::add_to_list(tensors, dequantised(graph, i));
    give_quantised(
        graph,
        concat("torch.cat([", tensors, "], ", graph.whole("axis", 0), ") / ", graph.tensor(0)), 1,
        graph.rank(2));
}

// What is cut off: the padding of a transposed convolution.
void set_cut(OnnxImport &graph, Windows &windows, const std::vector<int64_t> &extra)
{
    const std::string automatic = graph.text("auto_pad", "NOTSET");
    if (graph.attribute("output_shape"))
        graph.refuse("has an output_shape, which is not read here");
    windows.same.clear();
    if (!automatic.starts_with("SAME"))
        return;
    for (size_t i = 0; i < windows.count(); i++) {
        const int64_t all = std::max<int64_t>(
            (windows.kernel[i] - 1) * windows.dilations[i] + 1 + extra[i] - windows.strides[i], 0);
        windows.before[i] = automatic == "SAME_UPPER" ? all / 2 : all - all / 2;
        windows.after[i] = all - windows.before[i];
    }
}

void transposed_convolution(OnnxImport &graph)
{
    Windows windows = windows_of(graph, kernel_of(graph));
    const auto extra =
        expected(graph, graph.wholes("output_padding", std::vector<int64_t>(windows.count(), 0)),
                 windows.count(), "output_padding", 0);
    set_cut(graph, windows, extra);
    std::vector<int64_t> both;
    for (size_t i = 0; i < windows.count(); i++)
        both.push_back(std::min(windows.before[i], windows.after[i]));
    Expression x = graph.net().let(concat(
        "torch.conv_transpose", windows.count(), "d(", graph.tensor(0), ", ", graph.tensor(1), ", ",
        graph.tensor_or_none(2), ", ", list_of(windows.strides), ", ", list_of(both), ", ",
        list_of(extra), ", ", graph.positive("group", 1), ", ", list_of(windows.dilations), ")"));
    for (size_t i = 0; i < windows.count(); i++)
        if (windows.before[i] != windows.after[i])
            x = graph.net().let(concat("torch.slice(", x, ", ", i + 2, ", ",
                                       windows.before[i] - both[i], ", ", x, ".size(", i + 2,
                                       ") - ", windows.after[i] - both[i], ", 1)"));
    graph.give(x, static_cast<int>(windows.count()) + 2);
}

// ---- pools

bool fits_pool(const Windows &windows)
{
    for (size_t i = 0; i < windows.count(); i++)
        if (windows.before[i] > windows.kernel[i] / 2)
            return false;
    return is_even(windows);
}

std::string pool_call(const char *name, const Windows &windows, const Expression &x)
{
    return concat("torch.", name, windows.count(), "d(", x, ", ", list_of(windows.kernel), ", ",
                  list_of(windows.strides), ", ", list_of(windows.before));
}

std::string ceil_of(OnnxImport &graph)
{
    return graph.whole("ceil_mode", 0) != 0 ? "True" : "False";
}

void max_pool(OnnxImport &graph)
{
    if (graph.wants(1))
        graph.refuse("returns places, too, which are not made here");
    Windows windows = windows_of(graph, graph.wholes("kernel_shape"));
    Expression x = graph.tensor(0);
    if (!fits_pool(windows))
        x = padded(graph, windows, x, R"(float("-inf"))");
    graph.give(concat(pool_call("max_pool", windows, x), ", ", list_of(windows.dilations), ", ",
                      ceil_of(graph), ")"),
               graph.rank(0));
}

void average_pool(OnnxImport &graph)
{
    Windows windows = windows_of(graph, graph.wholes("kernel_shape"));
    const auto is_wider = [](int64_t dilation) { return dilation != 1; };
    if (std::any_of(windows.dilations.begin(), windows.dilations.end(), is_wider))
        graph.refuse("has dilations, which are not read here");
    const bool counts_padding = graph.whole("count_include_pad", 0) != 0;
    const Expression x = graph.tensor(0);
    const auto pooled = [&](const Expression &of, const Windows &how, bool counts) {
        return concat(pool_call("avg_pool", how, of), ", ", ceil_of(graph), ", ",
                      counts ? "True" : "False", ")");
    };
    if (fits_pool(windows))
        return graph.give(pooled(x, windows, counts_padding), graph.rank(0));
    Windows rest = windows;
    const Expression wide = padded(graph, rest, x, "0.0");
    if (counts_padding)
        return graph.give(pooled(wide, rest, true), graph.rank(0));
    Windows same = windows;
    const Expression ones =
        padded(graph, same, graph.net().let(concat("torch.ones_like(", x, ")")), "0.0");
    graph.give(concat(pooled(wide, rest, true), " / ", pooled(ones, rest, true)), graph.rank(0));
}

std::string places_of(OnnxImport &graph)
{
    std::vector<int64_t> axes;
    for (int64_t i = 2; i < graph.known_rank(0); i++)
        axes.push_back(i);
    return list_of(axes);
}

void global_average(OnnxImport &graph)
{
    graph.give(concat("torch.mean(", graph.tensor(0), ", ", places_of(graph), ", True)"),
               graph.rank(0));
}

void global_maximum(OnnxImport &graph)
{
    graph.give(concat("torch.amax(", graph.tensor(0), ", ", places_of(graph), ", True)"),
               graph.rank(0));
}

// ---- norms

std::string epsilon(OnnxImport &graph)
{
    return literal(graph.real("epsilon", 1e-5F));
}

void batch_norm(OnnxImport &graph)
{
    if (graph.whole("training_mode", 0) != 0)
        graph.refuse("is in training mode; export the model after eval()");
    graph.give(concat("torch.batch_norm(", graph.tensor(0), ", ", graph.tensor(1), ", ",
                      graph.tensor(2), ", ", graph.tensor(3), ", ", graph.tensor(4),
                      ", False, 0.0, ", epsilon(graph), ", False)"),
               graph.rank(0));
}

void instance_norm(OnnxImport &graph)
{
    graph.give(concat("torch.instance_norm(", graph.tensor(0), ", ", graph.tensor(1), ", ",
                      graph.tensor(2), ", None, None, True, 0.0, ", epsilon(graph), ", False)"),
               graph.rank(0));
}

// Its mean, and the inverse of its deviation.
void give_statistics(OnnxImport &graph, size_t dimensions)
{
    const Expression x = graph.tensor(0);
    std::vector<int64_t> axes;
    for (size_t i = 0; i < dimensions; i++)
        axes.push_back(-1 - static_cast<int64_t>(i));
    const std::string over = list_of(axes);
    graph.give(concat("torch.mean(", x, ", ", over, ", True)"), graph.rank(0), NumberKind::real, 1);
    graph.give(
        concat("torch.rsqrt(torch.var(", x, ", ", over, ", False, True) + ", epsilon(graph), ")"),
        graph.rank(0), NumberKind::real, 2);
}

void layer_norm(OnnxImport &graph)
{
    const int rank = graph.known_rank(0);
    const Expression x = graph.tensor(0);
    const auto dimensions = static_cast<size_t>(rank - graph.axis(graph.whole("axis", -1), rank));
    std::string shape;
    for (size_t i = dimensions; i > 0; i--)
        dnn_torch::add_to_list(shape, concat(x, ".size(-", i, ")"));
    const auto spread = [&](size_t input) {
        const auto &known = graph.value(input).shape;
        return known && known->size() == dimensions
                   ? graph.tensor(input)
                   : concat(graph.tensor(input), ".expand([", shape, "])");
    };
    const Expression factor = spread(1), offset = graph.has(2) ? spread(2) : "None";
    graph.give(concat("torch.layer_norm(", x, ", [", shape, "], ", factor, ", ", offset, ", ",
                      epsilon(graph), ")"),
               rank);
    if (graph.wants(1) || graph.wants(2))
        give_statistics(graph, dimensions);
}

// Before version 21 there is one number for each group, and since then for each channel.
void group_norm(OnnxImport &graph)
{
    constexpr int64_t per_channel = 21;
    const int64_t groups = graph.positive("num_groups", 1);
    const Expression x = graph.tensor(0);
    const auto given = [&](size_t input) {
        return graph.version() >= per_channel
                   ? graph.tensor(input)
                   : graph.net().let(concat("torch.repeat_interleave(", graph.tensor(input), ", ",
                                            x, ".size(1) // ", groups, ")"));
    };
    const Expression factor = given(1), offset = given(2);
    graph.give(concat("torch.group_norm(", x, ", ", groups, ", ", factor, ", ", offset, ", ",
                      epsilon(graph), ", False)"),
               graph.rank(0));
}

// ONNX Runtime's: of a sum.
void sum_norm(OnnxImport &graph)
{
    const Expression x = graph.net().add(graph.tensor(0), graph.tensor(1));
    const Expression sum = graph.has(4) ? graph.net().add(x, graph.tensor(4)) : x;
    graph.give(concat("torch.layer_norm(", sum, ", [", sum, ".size(-1)], ", graph.tensor(2), ", ",
                      graph.tensor_or_none(3), ", ", literal(graph.real("epsilon", 1e-12F)), ")"),
               graph.rank(0));
    if (graph.wants(1) || graph.wants(2))
        graph.refuse("returns its mean, which is not made here");
    graph.give(sum, graph.rank(0), NumberKind::real, 3);
}

void lp_norm(OnnxImport &graph)
{
    const Expression x = graph.tensor(0);
    const int64_t axis = graph.whole("axis", -1);
    const std::string size =
        graph.whole("p", 2) == 1
            ? concat("torch.sum(torch.abs(", x, "), [", axis, "], True)")
            : concat("torch.sqrt(torch.sum(", x, " * ", x, ", [", axis, "], True))");
    graph.give(concat(x, " / ", size), graph.rank(0));
}

void response_norm(OnnxImport &graph)
{
    const int64_t size = graph.positive("size", 1);
    const Expression x = graph.tensor(0);
    graph.give(concat(x, " / torch.pow(torch.avg_pool3d(torch.constant_pad_nd((", x, " * ", x,
                      ").unsqueeze(1), [0, 0, 0, 0, ", (size - 1) / 2, ", ", size / 2, "], 0.0), [",
                      size, ", 1, 1], [1, 1, 1], [0, 0, 0], False, True).squeeze(1) * ",
                      literal(graph.real("alpha", 1e-4F)), " + ", literal(graph.real("bias", 1)),
                      ", ", literal(graph.real("beta", 0.75)), ")"),
               graph.rank(0));
}

// ---- products

void matrix_product(OnnxImport &graph)
{
    const int a = graph.rank(0), b = graph.rank(1);
    graph.give(concat("torch.matmul(", graph.tensor(0), ", ", graph.tensor(1), ")"),
               a < 2 || b < 2 ? -1 : std::max(a, b));
}

// ONNX Runtime's, with matrices that are turned and a factor.
void scaled_product(OnnxImport &graph)
{
    if (graph.whole("transBatchA", 0) != 0 || graph.whole("transBatchB", 0) != 0)
        graph.refuse("turns other dimensions than the last two");
    const auto given = [&](size_t input, const char *turns) {
        return concat(graph.tensor(input), graph.whole(turns, 0) != 0 ? ".transpose(-2, -1)" : "");
    };
    const double factor = graph.real("alpha", 1);
    graph.give(concat("torch.matmul(", given(0, "transA"), ", ", given(1, "transB"), ")",
                      factor == 1 ? "" : concat(" * ", literal(factor))),
               std::max(graph.rank(0), graph.rank(1)));
}

void gemm(OnnxImport &graph)
{
    const double alpha = graph.real("alpha", 1), beta = graph.real("beta", 1);
    const bool turns_a = graph.whole("transA", 0) != 0, turns_b = graph.whole("transB", 0) != 0;
    const Expression a = turns_a ? concat(graph.tensor(0), ".t()") : graph.tensor(0);
    const bool has_offset = graph.has(2);
    if (turns_b && alpha == 1 && beta == 1 && (!has_offset || graph.rank(2) == 1))
        return graph.give(
            concat("torch.linear(", a, ", ", graph.tensor(1), ", ", graph.tensor_or_none(2), ")"),
            2);
    const Expression b = turns_b ? concat(graph.tensor(1), ".t()") : graph.tensor(1);
    graph.give(concat("torch.matmul(", a, ", ", b, ") * ", literal(alpha),
                      has_offset ? concat(" + ", graph.tensor(2), " * ", literal(beta)) : ""),
               2);
}

void einsum(OnnxImport &graph)
{
    std::string tensors;
    for (size_t i = 0; i < graph.input_count(); i++)
        dnn_torch::add_to_list(tensors, graph.tensor(i));
    std::string equation = graph.text("equation", "");
    for (const char c : equation)
        if (!std::isalpha(static_cast<unsigned char>(c)) && (c == 0 || !strchr(" ,.->", c)))
            graph.refuse("has an equation that makes no sense");
    const size_t arrow = equation.find("->");
    const bool is_known = arrow != equation.npos && equation.find('.') == equation.npos;
    const auto rank =
        std::count_if(equation.begin() + static_cast<ptrdiff_t>(arrow + 2) * (is_known ? 1 : 0),
                      equation.end(), [](unsigned char c) { return std::isalpha(c); });
    graph.give(concat("torch.einsum(\"", equation, "\", [", tensors, "])"),
               is_known ? static_cast<int>(rank) : -1);
}

// ---- softmax

template <bool is_log> void softmax(OnnxImport &graph)
{
    constexpr int64_t along_one = 13; // before that, along all dimensions from the axis on
    const bool is_old = graph.version() < along_one;
    const int rank = graph.rank(0);
    const int64_t axis = graph.whole("axis", is_old ? 1 : -1);
    const char *const name = is_log ? "log_softmax" : "softmax";
    const Expression x = graph.tensor(0);
    if (!is_old || axis == -1 || graph.axis(axis, graph.known_rank(0)) == rank - 1)
        return graph.give(concat("torch.", name, "(", x, ", ", axis, ")"), rank);
    graph.give(concat("torch.reshape(torch.", name, "(torch.flatten(", x, ", ",
                      graph.axis(axis, rank), "), -1), ", x, ".size())"),
               rank);
}

// ---- blocks of pixels

constexpr char depth_function[] = R"(
def depth_to_space(self, x, block: int):
    n, c, h, w = x.size()
    x = torch.reshape(x, [n, block, block, c // (block * block), h, w])
    return torch.reshape(x.permute([0, 3, 4, 1, 5, 2]), [n, -1, h * block, w * block])
)";

constexpr char space_function[] = R"(
def space_to_depth(self, x, block: int):
    n, c, h, w = x.size()
    x = torch.reshape(x, [n, c, h // block, block, w // block, block])
    return torch.reshape(x.permute([0, 3, 5, 1, 2, 4]), [n, -1, h // block, w // block])
)";

void depth_to_space(OnnxImport &graph)
{
    const int64_t block = graph.positive("blocksize", 1);
    if (graph.text("mode", "DCR") == "CRD")
        return graph.give(concat("torch.pixel_shuffle(", graph.tensor(0), ", ", block, ")"), 4);
    graph.net().function(depth_function);
    graph.give(concat("self.depth_to_space(", graph.tensor(0), ", ", block, ")"), 4);
}

void space_to_depth(OnnxImport &graph)
{
    graph.net().function(space_function);
    graph.give(
        concat("self.space_to_depth(", graph.tensor(0), ", ", graph.positive("blocksize", 1), ")"),
        4);
}

// ---- resizing

constexpr char places_function[] = R"(
def places(self, x, dim: int, size: int, scale: float, how: str):
    i = torch.arange(size, dtype=7, device=x.device)
    if how == "asymmetric":
        return i / scale
    if how == "align_corners":
        return i * (float(x.size(dim) - 1) / float(max(size - 1, 1)))
    return (i + 0.5) / scale - 0.5
)";

constexpr char nearest_function[] = R"(
def nearest(self, x, dim: int, places, rounding: str):
    i = torch.floor(places)
    if rounding == "ceil":
        i = torch.ceil(places)
    if rounding == "round_prefer_floor":
        i = torch.ceil(places - 0.5)
    if rounding == "round_prefer_ceil":
        i = torch.floor(places + 0.5)
    return torch.index_select(x, dim, torch.clamp(i, 0, x.size(dim) - 1).to(4))
)";

constexpr char linear_function[] = R"(
def linear(self, x, dim: int, places):
    p = torch.clamp(places, 0, x.size(dim) - 1)
    low = torch.floor(p).to(4)
    high = torch.clamp(low + 1, 0, x.size(dim) - 1)
    shape = [1] * x.dim()
    shape[dim] = -1
    share = torch.reshape((p - low).to(x.dtype), shape)
    a = torch.index_select(x, dim, low)
    return a + (torch.index_select(x, dim, high) - a) * share
)";

struct Resizing {
    std::string mode, how, rounding;
    Numbers scales, sizes; // of height and width; `scales` may be empty
    bool are_scales_known = false;
    std::vector<double> factors; // if they are known
};

// Numbers for all dimensions; or for those of the attribute `axes`, since version 18.
std::optional<Numbers> of_places(OnnxImport &graph, std::optional<Numbers> all)
{
    if (!all || all->empty())
        return std::nullopt;
    const int rank = graph.known_rank(0);
    if (rank != 4)
        graph.refuse("resizes a tensor that is not [batch, channels, height, width]");
    if (std::vector<int64_t> axes = graph.wholes("axes"); !axes.empty()) {
        for (int64_t &axis : axes)
            axis = graph.axis(axis, rank);
        if (axes != std::vector<int64_t>{2, 3})
            graph.refuse("resizes other dimensions than height and width");
        return all;
    }
    if (all->size() != 4)
        graph.refuse("has another number of scales than of dimensions");
    return Numbers{(*all)[2], (*all)[3]};
}

void expect_kept(OnnxImport &graph, const std::optional<Numbers> &scales)
{
    if (scales && scales->size() == 4)
        for (size_t i = 0; i < 2; i++)
            if (known_real((*scales)[i]) != 1.0)
                graph.refuse("resizes other dimensions than height and width");
}

Number size_of(const Expression &x, size_t dimension, const Number &scale)
{
    const Number size = concat(x, ".size(", dimension, ")");
    const std::optional<double> known = known_real(scale);
    if (known && *known == std::floor(*known) && std::abs(*known) < 1e6)
        return concat(size, " * ", static_cast<int64_t>(*known));
    return concat("torch.floor(float(", size, ") * ", scale, ")");
}

Resizing resizing_of(OnnxImport &graph, const Expression &x)
{
    constexpr int64_t with_modes = 11; // before that, and in Upsample, all is "asymmetric"
    const bool is_old = graph.version() < with_modes || graph.node().type == "Upsample";
    Resizing made = {
        .mode = graph.text("mode", "nearest"),
        .how = is_old ? "asymmetric" : graph.text("coordinate_transformation_mode", "half_pixel"),
        .rounding = is_old ? "floor" : graph.text("nearest_mode", "round_prefer_floor")};
    std::optional<Numbers> scales, sizes;
    if (graph.attribute("scales")) {
        scales.emplace();
        for (const float each : graph.attribute("scales")->reals)
            scales->push_back(literal_of(each));
    } else {
        scales = graph.numbers(is_old ? 1 : 2);
        sizes = is_old ? std::nullopt : graph.numbers(3);
    }
    expect_kept(graph, scales);
    scales = of_places(graph, scales);
    sizes = of_places(graph, sizes);
    if (!scales && !sizes)
        graph.refuse("computes its sizes from samples");
    for (size_t i = 0; i < 2; i++) {
        made.sizes.push_back(sizes ? (*sizes)[i] : size_of(x, i + 2, (*scales)[i]));
        made.scales.push_back(
            scales ? (*scales)[i]
                   : concat("(float(", (*sizes)[i], ") / float(", x, ".size(", i + 2, ")))"));
        if (const auto known = known_real(made.scales.back()))
            made.factors.push_back(*known);
        if (known_real(made.scales.back()).value_or(1) <= 0 ||
            known_whole(made.sizes.back()).value_or(1) <= 0)
            graph.refuse("makes a picture of no size");
    }
    made.are_scales_known = scales.has_value();
    return made;
}

// Whether PyTorch's own operator, which rounds i / scale down, does the same.
bool is_plain_nearest(const Resizing &how)
{
    if (how.how == "asymmetric" && how.rounding == "floor")
        return true;
    const bool are_whole = how.factors.size() == 2 &&
                           std::all_of(how.factors.begin(), how.factors.end(), [](double factor) {
                               return factor >= 1 && factor == std::floor(factor);
                           });
    const bool are_two = are_whole && how.factors[0] <= 2 && how.factors[1] <= 2;
    if (how.how == "asymmetric")
        return are_two && how.rounding == "round_prefer_floor";
    return are_whole && how.how != "align_corners" && how.rounding.starts_with("round");
}

Expression step_by_step(OnnxImport &graph, Expression x, const Resizing &how)
{
    Net &net = graph.net();
    net.function(places_function);
    net.function(how.mode == "nearest" ? nearest_function : linear_function);
    for (size_t i = 0; i < 2; i++) {
        const Expression places = net.let(concat("self.places(", x, ", ", i + 2, ", ", how.sizes[i],
                                                 ", ", how.scales[i], ", \"", how.how, "\")"));
        x = net.let(
            how.mode == "nearest"
                ? concat("self.nearest(", x, ", ", i + 2, ", ", places, ", \"", how.rounding, "\")")
                : concat("self.linear(", x, ", ", i + 2, ", ", places, ")"));
    }
    return x;
}

void expect_readable(OnnxImport &graph, const Resizing &how)
{
    if (how.how != "asymmetric" && how.how != "align_corners" && how.how != "half_pixel" &&
        how.how != "pytorch_half_pixel")
        graph.refuse(
            concat("has coordinate_transformation_mode ", how.how, ", which is not read here"));
    if (how.mode != "nearest" && how.mode != "linear" && how.mode != "cubic")
        graph.refuse(concat("has mode ", how.mode, ", which is not read here"));
    if (how.rounding != "floor" && how.rounding != "ceil" && how.rounding != "round_prefer_floor" &&
        how.rounding != "round_prefer_ceil")
        graph.refuse(concat("has nearest_mode ", how.rounding, ", which is not read here"));
    // PyTorch's.
    const double cubic = graph.whole("antialias", 0) != 0 ? -0.5 : -0.75;
    const bool is_other_cubic =
        how.mode == "cubic" && (graph.real("cubic_coeff_a", -0.75) != cubic ||
                                how.how == "asymmetric" || graph.whole("exclude_outside", 0) != 0);
    if (is_other_cubic || graph.text("keep_aspect_ratio_policy", "stretch") != "stretch")
        graph.refuse("resizes in a way that is not read here (exclude_outside, cubic_coeff_a or "
                     "keep_aspect_ratio_policy)");
}

void resize(OnnxImport &graph)
{
    const Expression x = graph.tensor(0);
    const Resizing how = resizing_of(graph, x);
    expect_readable(graph, how);
    const bool are_whole = std::all_of(how.factors.begin(), how.factors.end(),
                                       [](double factor) { return factor == std::floor(factor); });
    // The size is rounded, so that a broken factor does not follow from it.
    const std::string sizes = how.are_scales_known && !are_whole
                                  ? concat("None, ", list_of(how.scales))
                                  : list_of(how.sizes);
    if (how.mode == "nearest" && is_plain_nearest(how))
        return graph.give(concat("torch.upsample_nearest2d(", x, ", ", sizes, ")"), 4);
    if (how.mode == "nearest" || how.how == "asymmetric")
        return graph.give(step_by_step(graph, x, how), 4);
    const char *const name = how.mode == "cubic" ? "bicubic2d" : "bilinear2d";
    if (graph.whole("antialias", 0) != 0)
        return graph.give(concat("torch._upsample_", name, "_aa(", x, ", ", list_of(how.sizes),
                                 ", ", how.how == "align_corners" ? "True" : "False", ")"),
                          4);
    if (how.how == "align_corners")
        return graph.give(
            concat("torch.upsample_", name, "(", x, ", ", list_of(how.sizes), ", True)"), 4);
    if (how.are_scales_known && how.factors.size() == 2)
        return graph.give(
            concat("torch.upsample_", name, "(", x, ", None, False, ", list_of(how.scales), ")"),
            4);
    graph.give(concat("torch.upsample_", name, "(", x, ", ", list_of(how.sizes), ", False)"), 4);
}

int64_t place_in(OnnxImport &graph, const std::string &word,
                 std::initializer_list<const char *> words)
{
    int64_t place = 0;
    for (const char *each : words) {
        if (word == each)
            return place / 2;
        place++;
    }
    graph.refuse(concat("has mode ", word, ", which is not read here"));
}

void grid_sample(OnnxImport &graph)
{
    const int64_t mode = place_in(graph, graph.text("mode", "bilinear"),
                                  {"bilinear", "linear", "nearest", "nearest", "bicubic", "cubic"});
    const int64_t border = place_in(graph, graph.text("padding_mode", "zeros"),
                                    {"zeros", "zeros", "border", "border", "reflection", ""});
    graph.give(concat("torch.grid_sampler(", graph.tensor(0), ", ", graph.tensor(1), ", ", mode,
                      ", ", border, ", ", graph.whole("align_corners", 0) != 0 ? "True" : "False",
                      ")"),
               4);
}

} // namespace

const OnnxRecipes &onnx_layers()
{
    static const OnnxRecipes recipes = {
        {"AveragePool", average_pool},
        {"BatchNormalization", batch_norm},
        {"Conv", convolution},
        {"ConvInteger", integer_convolution},
        {"ConvTranspose", transposed_convolution},
        {"DepthToSpace", depth_to_space},
        {"Einsum", einsum},
        {"Gemm", gemm},
        {"GlobalAveragePool", global_average},
        {"GlobalMaxPool", global_maximum},
        {"GridSample", grid_sample},
        {"GroupNormalization", group_norm},
        {"InstanceNormalization", instance_norm},
        {"LRN", response_norm},
        {"LayerNormalization", layer_norm},
        {"LogSoftmax", softmax<true>},
        {"LpNormalization", lp_norm},
        {"MatMul", matrix_product},
        {"MatMulInteger", integer_product},
        {"MaxPool", max_pool},
        {"QLinearConv", quantised_convolution},
        {"QLinearMatMul", quantised_product},
        {"Resize", resize},
        {"Softmax", softmax<false>},
        {"SpaceToDepth", space_to_depth},
        {"Upsample", resize},
        {"com.microsoft.FusedConv", activated_convolution},
        {"com.microsoft.FusedMatMul", scaled_product},
        {"com.microsoft.QLinearAdd", quantised_sum<'+'>},
        {"com.microsoft.QLinearConcat", quantised_concatenation},
        {"com.microsoft.QLinearGlobalAveragePool", quantised_global_average},
        {"com.microsoft.QLinearLeakyRelu", quantised_leaky_relu},
        {"com.microsoft.QLinearMul", quantised_sum<'*'>},
        {"com.microsoft.QLinearSigmoid", quantised_sigmoid},
        {"com.microsoft.SkipLayerNormalization", sum_norm},
    };
    return recipes;
}

} // namespace engine_torch
