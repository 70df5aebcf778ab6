// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Operators that are written in another way than as they are: those that an older LibTorch lacks,
// parts of layers that analysis and fused programs know whole, and questions about sizes.
#include "export_import.h"

#include "base/compose.h"

#include <algorithm>
#include <utility>

namespace engine_torch
{
namespace
{

using dnn_torch::concat;

Expression all_of_call(ExportImport &graph, const char *name,
                       std::initializer_list<std::string_view> names,
                       const std::string &further = "")
{
    std::string arguments;
    for (const std::string_view each : names)
        dnn_torch::add_to_list(arguments, graph.argument(each));
    return concat("torch.", name, "(", arguments, further, ")");
}

void size_of_dimension(ExportImport &graph)
{
    graph.give_number(concat(graph.argument("self"), ".size(", graph.argument("dim"), ")"));
}

void count_of_elements(ExportImport &graph)
{
    graph.give_number(concat("torch.numel(", graph.argument("self"), ")"));
}

void one_element(ExportImport &graph)
{
    graph.give_element(graph.argument("self"));
}

// A variant of the model may have its samples in another order than the exporter saw.
void reshape(ExportImport &graph)
{
    if (!graph.has("size"))
        graph.refuse("reads numbers as ones of another type");
    graph.give(concat("torch.reshape(", graph.argument("self"), ", ", graph.argument("size"), ")"));
}

// The order of samples in memory changes no result.
void empty(ExportImport &graph)
{
    graph.give(graph.call("zeros", {"physical_layout"}));
}

// LibTorch 1.13 removes one dimension at a time.
void squeeze(ExportImport &graph)
{
    if (!graph.has("dim") || graph.is_number("dim"))
        return graph.give(graph.call("squeeze"));
    std::vector<int64_t> dimensions = graph.wholes("dim");
    const int rank = graph.rank("self");
    for (int64_t &each : dimensions)
        each += each < 0 ? rank : 0;
    std::sort(dimensions.begin(), dimensions.end());
    Expression made = graph.argument("self");
    for (size_t i = dimensions.size(); i > 0; i--)
        made = concat("torch.squeeze(", made, ", ", dimensions[i - 1], ")");
    graph.give(made);
}

void convolution(ExportImport &graph)
{
    constexpr int of_pictures = 4;
    if (graph.rank("weight") != of_pictures)
        return graph.give(graph.call("convolution"));
    if (graph.is_true("transposed"))
        return graph.give(all_of_call(graph, "conv_transpose2d",
                                      {"input", "weight", "bias", "stride", "padding",
                                       "output_padding", "groups", "dilation"}));
    graph.give(all_of_call(graph, "conv2d",
                           {"input", "weight", "bias", "stride", "padding", "dilation", "groups"}));
}

// By the means of the pictures themselves.
void norm_of_pictures(ExportImport &graph)
{
    const int rank = graph.rank("input");
    if (rank < 2)
        graph.refuse("has an input of an unknown number of dimensions");
    std::string others = "0", shape = "[1, -1";
    for (int i = 2; i < rank; i++) {
        others += concat(", ", i);
        shape += ", 1";
    }
    const Expression x = graph.argument("input");
    const Expression centred =
        graph.net().let(concat(x, " - torch.mean(", x, ", [", others, "], True)"));
    Expression made =
        graph.net().let(concat(centred, " * torch.rsqrt(torch.mean(", centred, " * ", centred,
                               ", [", others, "], True) + ", graph.argument("eps"), ")"));
    const std::pair<const char *, const char *> parts[] = {{"weight", " * "}, {"bias", " + "}};
    for (const auto &[name, sign] : parts)
        if (graph.has(name))
            made = graph.net().let(
                concat(made, sign, "torch.reshape(", graph.argument(name), ", ", shape, "])"));
    graph.give(made);
}

void batch_norm(ExportImport &graph)
{
    if (graph.is_true("training") && graph.has("running_mean"))
        graph.refuse("is in training mode; call model.eval() before the export");
    if (graph.is_true("training"))
        return norm_of_pictures(graph);
    graph.give(all_of_call(
        graph, "batch_norm", {"input", "weight", "bias", "running_mean", "running_var"},
        concat(", False, ", graph.argument("momentum"), ", ", graph.argument("eps"), ", False")));
}

void group_norm(ExportImport &graph)
{
    graph.give(all_of_call(graph, "group_norm", {"input", "group", "weight", "bias", "eps"}));
}

void layer_norm(ExportImport &graph)
{
    graph.give(
        all_of_call(graph, "layer_norm", {"input", "normalized_shape", "weight", "bias", "eps"}));
}

void prelu(ExportImport &graph)
{
    graph.give(concat("torch.prelu(", graph.argument("self"), ", torch.reshape(",
                      graph.argument("weight"), ", [-1]))"));
}

void softmax(ExportImport &graph)
{
    graph.give(all_of_call(graph, "softmax", {"self", "dim"}));
}

void log_softmax(ExportImport &graph)
{
    graph.give(all_of_call(graph, "log_softmax", {"self", "dim"}));
}

void dropout(ExportImport &graph)
{
    graph.give(all_of_call(graph, "dropout", {"input", "p", "train"}));
}

// Rows without any number become zeros.
Expression safe_softmax_of(ExportImport &graph, const Expression &x, const Expression &dimension)
{
    const Expression rows = graph.net().let(concat("torch.softmax(", x, ", ", dimension, ")"));
    return concat("torch.masked_fill(", rows, ", torch.all(torch.eq(", x, ", float(\"-inf\")), ",
                  dimension, ", True), 0.0)");
}

void safe_softmax(ExportImport &graph)
{
    graph.give(safe_softmax_of(graph, graph.argument("self"), graph.argument("dim")));
}

Expression masked_scores(ExportImport &graph, Expression scores, const Expression &query,
                         const Expression &key)
{
    constexpr int boolean = 11;
    Expression mask;
    if (graph.is_true("is_causal"))
        mask = concat("torch.ones([", query, ".size(-2), ", key,
                      ".size(-2)], dtype=11, device=", graph.device(), ").tril()");
    else if (graph.has("attn_mask") && graph.type("attn_mask") == boolean)
        mask = graph.argument("attn_mask");
    else if (graph.has("attn_mask"))
        return graph.net().let(concat(scores, " + ", graph.argument("attn_mask")));
    return mask.empty()
               ? scores
               : graph.net().let(concat("torch.masked_fill(", scores, ", torch.logical_not(", mask,
                                        "), float(\"-inf\"))"));
}

// In LibTorch 1.13, as PyTorch documents it.
void attention(ExportImport &graph)
{
    if (graph.is_here("scaled_dot_product_attention"))
        return graph.give(graph.call("scaled_dot_product_attention"));
    if (graph.is_true("enable_gqa"))
        graph.refuse("has fewer keys than queries, which this LibTorch does not compute");
    const Expression query = graph.argument("query"), key = graph.argument("key");
    const Expression scale = graph.has("scale") ? graph.argument("scale")
                                                : concat("float(", query, ".size(-1)) ** -0.5");
    const Expression scores = graph.net().let(
        concat("torch.matmul(", query, " * (", scale, "), torch.transpose(", key, ", -2, -1))"));
    const Expression masked = masked_scores(graph, scores, query, key);
    const Expression rows = masked == scores ? concat("torch.softmax(", scores, ", -1)")
                                             : safe_softmax_of(graph, masked, "-1");
    graph.give(concat("torch.matmul(", rows, ", ", graph.argument("value"), ")"));
}

void rms_norm(ExportImport &graph)
{
    const Expression x = graph.argument("input");
    std::string dimensions;
    for (size_t i = graph.wholes("normalized_shape").size(); i > 0; i--)
        dnn_torch::add_to_list(dimensions, concat("-", i));
    const Expression epsilon = graph.has("eps") ? graph.argument("eps") : "1.1920928955078125e-07";
    const Expression normal =
        graph.net().let(concat(x, " * torch.rsqrt(torch.mean(", x, " * ", x, ", [", dimensions,
                               "], True) + ", epsilon, ")"));
    graph.give(graph.has("weight") ? concat(normal, " * ", graph.argument("weight")) : normal);
}

// `value` has the type float, but may be written as a whole number.
void pad(ExportImport &graph)
{
    graph.give(concat("torch.pad(", graph.argument("self"), ", ", graph.argument("pad"), ", ",
                      graph.argument("mode", "\"constant\""), ", ",
                      graph.has("value") ? concat("float(", graph.argument("value"), ")") : "None",
                      ")"));
}

struct NamedRecipe {
    std::string_view name;
    ExportRecipe recipe;
};

constexpr NamedRecipe recipes[] = {
    {"_fused_rms_norm", rms_norm},
    {"_local_scalar_dense", one_element},
    {"_log_softmax", log_softmax},
    {"_native_batch_norm_legit", batch_norm},
    {"_native_batch_norm_legit_functional", batch_norm},
    {"_native_batch_norm_legit_no_training", batch_norm},
    {"_prelu_kernel", prelu},
    {"_safe_softmax", safe_softmax},
    {"_softmax", softmax},
    {"_unsafe_view", reshape},
    {"convolution", convolution},
    {"empty_permuted", empty},
    {"item", one_element},
    {"native_batch_norm", batch_norm},
    {"native_dropout", dropout},
    {"native_group_norm", group_norm},
    {"native_layer_norm", layer_norm},
    {"pad", pad},
    {"rms_norm", rms_norm},
    {"scaled_dot_product_attention", attention},
    {"squeeze", squeeze},
    {"sym_numel", count_of_elements},
    {"sym_size", size_of_dimension},
    {"view", reshape},
    {"view_copy", reshape},
};

// Operators that have the arguments of another one.
constexpr std::pair<std::string_view, std::string_view> other_names[] = {
    {"_adaptive_avg_pool2d", "adaptive_avg_pool2d"},
    {"_adaptive_avg_pool3d", "adaptive_avg_pool3d"},
    {"_unsafe_index", "index"},
    {"_unsafe_index_put", "index_put"},
    {"alias_copy", "clone"},
    {"detach_", "detach"},
    {"detach_copy", "clone"},
    {"diagonal_copy", "diagonal"},
    {"expand_copy", "expand"},
    {"lift_fresh_copy", "clone"},
    {"permute_copy", "permute"},
    {"select_copy", "select"},
    {"slice_copy", "slice"},
    {"split_copy", "split"},
    {"split_with_sizes_copy", "split_with_sizes"},
    {"squeeze_copy", "squeeze"},
    {"t_copy", "t"},
    {"transpose_copy", "transpose"},
    {"unbind_copy", "unbind"},
    {"unfold_copy", "unfold"},
    {"unsqueeze_copy", "unsqueeze"},
};

constexpr std::string_view checks[] = {"_assert_async", "_assert_scalar", "_assert_tensor_metadata",
                                       "sym_constrain_range", "sym_constrain_range_for_size"};

} // namespace

ExportRecipe find_export_recipe(std::string_view name)
{
    const auto *const found = std::find_if(std::begin(recipes), std::end(recipes),
                                           [&](const auto &each) { return each.name == name; });
    return found == std::end(recipes) ? nullptr : found->recipe;
}

std::string export_name(const std::string &name)
{
    const auto *const found = std::find_if(std::begin(other_names), std::end(other_names),
                                           [&](const auto &each) { return each.first == name; });
    return found == std::end(other_names) ? name : std::string(found->second);
}

bool is_export_check(std::string_view name)
{
    return std::find(std::begin(checks), std::end(checks), name) != std::end(checks);
}

} // namespace engine_torch
