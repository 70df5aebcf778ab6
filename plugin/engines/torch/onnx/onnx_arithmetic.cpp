// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// ONNX's operators that compute each element by itself, and reductions.
#include "onnx_import.h"

#include "base/compose.h"

#include <algorithm>
#include <string>

namespace engine_torch
{
namespace
{

using dnn_torch::concat;
using enum NumberKind;

int larger_rank(OnnxImport &graph, size_t first, size_t last)
{
    int rank = 0;
    for (size_t i = first; i <= last; i++) {
        if (graph.rank(i) < 0)
            return -1;
        rank = std::max(rank, graph.rank(i));
    }
    return rank;
}

// ---- one operand

// The operator aten::NAME.
template <const char *name> void function(OnnxImport &graph)
{
    graph.give(concat("torch.", name, "(", graph.tensor(0), ")"), graph.rank(0), graph.kind(0));
}

template <const char *name> void test(OnnxImport &graph)
{
    graph.give(concat("torch.", name, "(", graph.tensor(0), ")"), graph.rank(0), truth);
}

// Sizes are rounded, too.
template <const char *name> void rounded(OnnxImport &graph)
{
    if (const auto numbers = graph.numbers(0);
        numbers && graph.kind(0) == real && graph.rank(0) <= 1) {
        Numbers made;
        for (const Number &number : *numbers)
            made.push_back(concat("float(torch.", name, "(", number, "))"));
        return graph.give_numbers(made, graph.rank(0) == 0, real);
    }
    function<name>(graph);
}

constexpr char abs_name[] = "abs", acos_name[] = "acos", acosh_name[] = "acosh",
               asin_name[] = "asin", asinh_name[] = "asinh", atan_name[] = "atan",
               atanh_name[] = "atanh", ceil_name[] = "ceil", cos_name[] = "cos",
               cosh_name[] = "cosh", erf_name[] = "erf", exp_name[] = "exp", floor_name[] = "floor",
               log_name[] = "log", neg_name[] = "neg", reciprocal_name[] = "reciprocal",
               round_name[] = "round", sigmoid_name[] = "sigmoid", sign_name[] = "sign",
               sin_name[] = "sin", sinh_name[] = "sinh", sqrt_name[] = "sqrt", tan_name[] = "tan",
               tanh_name[] = "tanh", relu_name[] = "relu", mish_name[] = "mish",
               isnan_name[] = "isnan", not_name[] = "logical_not";

void negate(OnnxImport &graph)
{
    const auto numbers = graph.numbers(0);
    if (!numbers || graph.kind(0) == truth || graph.rank(0) > 1)
        return function<neg_name>(graph);
    Numbers made;
    for (const Number &number : *numbers)
        made.push_back(known_whole(number) ? std::to_string(-*known_whole(number))
                                           : concat("(-", number, ")"));
    graph.give_numbers(made, graph.rank(0) == 0, graph.kind(0));
}

void identity(OnnxImport &graph)
{
    if (!graph.numbers(0))
        graph.tensor(0);
    graph.give_value(graph.value(0));
}

// All elements are kept.
void dropout(OnnxImport &graph)
{
    if (graph.has(2) && graph.numbers(2) != Numbers{"False"})
        graph.refuse("is in training mode; export the model after eval()");
    const Expression x = graph.tensor(0);
    identity(graph);
    graph.give(concat("torch.ones_like(", x, ") != 0"), graph.rank(0), truth, 1);
}

void leaky_relu(OnnxImport &graph)
{
    graph.give(concat("torch.leaky_relu(", graph.tensor(0), ", ",
                      literal(graph.real("alpha", 0.01F)), ")"),
               graph.rank(0));
}

void elu(OnnxImport &graph)
{
    graph.give(
        concat("torch.elu(", graph.tensor(0), ", ", literal(graph.real("alpha", 1)), ", 1.0, 1.0)"),
        graph.rank(0));
}

void celu(OnnxImport &graph)
{
    graph.give(concat("torch.celu(", graph.tensor(0), ", ", literal(graph.real("alpha", 1)), ")"),
               graph.rank(0));
}

void selu(OnnxImport &graph)
{
    const double alpha = graph.real("alpha", 1.67326319217681884765625);
    const double gamma = graph.real("gamma", 1.05070102214813232421875);
    graph.give(
        concat("torch.elu(", graph.tensor(0), ", ", literal(alpha), ", ", literal(gamma), ", 1.0)"),
        graph.rank(0));
}

void hard_sigmoid(OnnxImport &graph)
{
    graph.give(concat("torch.clamp(", graph.tensor(0), " * ", literal(graph.real("alpha", 0.2F)),
                      " + ", literal(graph.real("beta", 0.5)), ", 0.0, 1.0)"),
               graph.rank(0));
}

void hard_swish(OnnxImport &graph)
{
    graph.give(concat("torch.hardswish(", graph.tensor(0), ")"), graph.rank(0));
}

void softplus(OnnxImport &graph)
{
    graph.give(concat("torch.softplus(", graph.tensor(0), ", 1.0, 20.0)"), graph.rank(0));
}

void softsign(OnnxImport &graph)
{
    const Expression x = graph.tensor(0);
    graph.give(concat(x, " / (torch.abs(", x, ") + 1.0)"), graph.rank(0));
}

void thresholded_relu(OnnxImport &graph)
{
    graph.give(concat("torch.threshold(", graph.tensor(0), ", ", literal(graph.real("alpha", 1)),
                      ", 0.0)"),
               graph.rank(0));
}

void gelu(OnnxImport &graph)
{
    graph.give(concat("torch.gelu(", graph.tensor(0), ", approximate=\"",
                      graph.text("approximate", "none") == "tanh" ? "tanh" : "none", "\")"),
               graph.rank(0));
}

// ONNX Runtime's, with an offset that is added before.
template <bool is_exact> void biased_gelu(OnnxImport &graph)
{
    const Expression x =
        graph.has(1) ? graph.net().add(graph.tensor(0), graph.tensor(1)) : graph.tensor(0);
    graph.give(concat("torch.gelu(", x, ", approximate=\"", is_exact ? "none" : "tanh", "\")"),
               graph.rank(0));
}

void quick_gelu(OnnxImport &graph)
{
    const Expression x = graph.tensor(0);
    graph.give(concat(x, " * torch.sigmoid(", x, " * ", literal(graph.real("alpha", 1.702F)), ")"),
               graph.rank(0));
}

void swish(OnnxImport &graph)
{
    const Expression x = graph.tensor(0);
    graph.give(concat(x, " * torch.sigmoid(", x, " * ", literal(graph.real("alpha", 1)), ")"),
               graph.rank(0));
}

void is_infinite(OnnxImport &graph)
{
    const bool below = graph.whole("detect_negative", 1) != 0,
               above = graph.whole("detect_positive", 1) != 0;
    const char *const name = below && above ? "isinf" : above ? "isposinf" : "isneginf";
    if (!below && !above)
        graph.refuse("detects nothing");
    graph.give(concat("torch.", name, "(", graph.tensor(0), ")"), graph.rank(0), truth);
}

// One slope for all, or one for each channel: PyTorch's own. Other shapes spread out.
void prelu(OnnxImport &graph)
{
    const auto &shape = graph.value(1).shape;
    const int rank = graph.rank(0);
    if (!shape)
        graph.refuse("computes its slopes");
    int64_t count = 1;
    for (const int64_t extent : *shape)
        count *= extent;
    const Expression x = graph.tensor(0), slopes = graph.tensor(1);
    const bool is_of_channels =
        rank >= 2 && static_cast<int>(shape->size()) == rank - 1 && (*shape)[0] == count;
    if (count == 1 || is_of_channels)
        return graph.give(concat("torch.prelu(", x, ", torch.reshape(", slopes, ", [-1]))"), rank);
    graph.give(concat("torch.where(", x, " < 0, ", x, " * ", slopes, ", ", x, ")"), rank);
}

// ---- two operands

Number combined(char sign, NumberKind kind, const Number &a, const Number &b)
{
    const auto left = known_whole(a), right = known_whole(b);
    constexpr int64_t most = int64_t{1} << 31;
    const auto is_small = [](int64_t number) { return number > -most && number < most; };
    if (kind == whole && left && right && is_small(*left) && is_small(*right)) {
        if (sign == '+')
            return std::to_string(*left + *right);
        if (sign == '-')
            return std::to_string(*left - *right);
        if (sign == '*')
            return std::to_string(*left * *right);
        if (sign == '/' && *right != 0)
            return std::to_string(*left / *right);
    }
    // ONNX rounds towards zero, and TorchScript down, which is the same unless a sign is minus.
    if (sign == '/' && kind == whole && (a + b).find('-') != a.npos)
        return concat("int(", a, " / ", b, ")");
    const std::string operation = sign == '/' && kind == whole ? "//" : std::string(1, sign);
    return concat("(", a, " ", operation, " ", b, ")");
}

// Sizes; or nullopt where tensors must be computed with.
std::optional<Numbers> combined(OnnxImport &graph, char sign)
{
    const auto a = graph.numbers(0), b = graph.numbers(1);
    if (!a || !b || graph.kind(0) == truth || graph.kind(0) != graph.kind(1) ||
        larger_rank(graph, 0, 1) > 1 ||
        (a->size() != b->size() && a->size() != 1 && b->size() != 1) || a->empty() || b->empty())
        return std::nullopt;
    Numbers made;
    for (size_t i = 0; i < std::max(a->size(), b->size()); i++)
        made.push_back(combined(sign, graph.kind(0), (*a)[a->size() == 1 ? 0 : i],
                                (*b)[b->size() == 1 ? 0 : i]));
    return made;
}

// A number in the code instead of a tensor: "x * 2.0".
Expression operand(OnnxImport &graph, size_t input, size_t other)
{
    const auto numbers = graph.numbers(input);
    const bool is_alone =
        numbers && numbers->size() == 1 && graph.rank(input) <= 1 && graph.kind(input) != truth;
    const bool spreads = graph.rank(other) >= 1 && !graph.value(other).tensor.empty() &&
                         graph.kind(other) == graph.kind(input);
    return is_alone && spreads ? numbers->front() : graph.tensor(input);
}

template <char sign> void arithmetic(OnnxImport &graph)
{
    if (const auto numbers = combined(graph, sign))
        return graph.give_numbers(*numbers, larger_rank(graph, 0, 1) == 0, graph.kind(0));
    const Expression a = operand(graph, 0, 1), b = operand(graph, 1, 0);
    const int rank = larger_rank(graph, 0, 1);
    if (sign == '/' && graph.kind(0) == whole)
        return graph.give(
            concat("torch.div(", graph.tensor(0), ", ", b, ", rounding_mode=\"trunc\")"), rank,
            whole);
    graph.give(concat(a, " ", std::string(1, sign), " ", b), rank, graph.kind(0));
}

void power(OnnxImport &graph)
{
    const auto exponent = graph.numbers(1);
    const bool is_number =
        exponent && exponent->size() == 1 && graph.rank(1) <= 1 && graph.rank(0) >= 1;
    const bool is_cut = graph.kind(0) == whole && graph.kind(1) == real;
    graph.give(concat("torch.pow(", graph.tensor(0), ", ",
                      is_number ? exponent->front() : graph.tensor(1), is_cut ? ").to(4)" : ")"),
               larger_rank(graph, 0, 1), graph.kind(0));
}

void modulo(OnnxImport &graph)
{
    const bool is_signed = graph.whole("fmod", 0) != 0;
    const Numbers divisors = graph.numbers(1).value_or(Numbers());
    // TorchScript's % ends the process where it divides by zero.
    const bool is_safe = std::all_of(divisors.begin(), divisors.end(), [](const Number &divisor) {
        return known_whole(divisor).value_or(0) > 0;
    });
    if (const auto numbers =
            graph.kind(0) == whole && !is_signed && is_safe ? combined(graph, '%') : std::nullopt)
        return graph.give_numbers(*numbers, larger_rank(graph, 0, 1) == 0, whole);
    const char *const name = is_signed ? "fmod" : "remainder";
    graph.give(concat("torch.", name, "(", graph.tensor(0), ", ", graph.tensor(1), ")"),
               larger_rank(graph, 0, 1), graph.kind(0));
}

constexpr char lt_name[] = "lt", le_name[] = "le", gt_name[] = "gt", ge_name[] = "ge",
               and_name[] = "logical_and", or_name[] = "logical_or", xor_name[] = "logical_xor",
               maximum_name[] = "maximum", minimum_name[] = "minimum";

// Of sizes.
std::optional<Numbers> compared(OnnxImport &graph, const char *sign)
{
    const auto a = graph.numbers(0), b = graph.numbers(1);
    if (!a || !b || a->empty() || b->empty() || graph.kind(0) != whole || graph.kind(1) != whole ||
        larger_rank(graph, 0, 1) > 1 ||
        (a->size() != b->size() && a->size() != 1 && b->size() != 1))
        return std::nullopt;
    Numbers made;
    for (size_t i = 0; i < std::max(a->size(), b->size()); i++) {
        const Number &left = (*a)[a->size() == 1 ? 0 : i], &right = (*b)[b->size() == 1 ? 0 : i];
        const auto known_left = known_whole(left), known_right = known_whole(right);
        if (known_left && known_right && std::string_view(sign) == "==")
            made.push_back(*known_left == *known_right ? "True" : "False");
        else
            made.push_back(concat("(", left, " ", sign, " ", right, ")"));
    }
    return made;
}

void equal(OnnxImport &graph)
{
    if (const auto numbers = compared(graph, "=="))
        return graph.give_numbers(*numbers, larger_rank(graph, 0, 1) == 0, truth);
    graph.give(concat("torch.eq(", graph.tensor(0), ", ", graph.tensor(1), ")"),
               larger_rank(graph, 0, 1), truth);
}

template <const char *name> void comparison(OnnxImport &graph)
{
    graph.give(concat("torch.", name, "(", graph.tensor(0), ", ", graph.tensor(1), ")"),
               larger_rank(graph, 0, 1), truth);
}

// ---- any number of operands

template <const char *name> void extreme(OnnxImport &graph)
{
    // Of sizes: Python's max() and min().
    const auto a = graph.numbers(0), b = graph.numbers(1);
    if (graph.input_count() == 2 && a && b && a->size() == 1 && b->size() == 1 &&
        graph.kind(0) == whole && graph.kind(1) == whole)
        return graph.give_numbers(
            {concat(std::string(name, 3), "(", a->front(), ", ", b->front(), ")")},
            larger_rank(graph, 0, 1) == 0, whole);
    Expression made = graph.tensor(0);
    for (size_t i = 1; i < graph.input_count(); i++)
        made = graph.net().let(concat("torch.", name, "(", made, ", ", graph.tensor(i), ")"));
    graph.give(made, larger_rank(graph, 0, graph.input_count() - 1), graph.kind(0));
}

Expression sum_of(OnnxImport &graph)
{
    Expression made = graph.tensor(0);
    for (size_t i = 1; i < graph.input_count(); i++)
        made = graph.net().add(made, graph.tensor(i));
    return made;
}

void sum(OnnxImport &graph)
{
    graph.give(sum_of(graph), larger_rank(graph, 0, graph.input_count() - 1));
}

void mean(OnnxImport &graph)
{
    graph.give(concat(sum_of(graph), " / ", static_cast<int64_t>(graph.input_count()), ".0"),
               larger_rank(graph, 0, graph.input_count() - 1));
}

std::optional<Numbers> chosen(OnnxImport &graph)
{
    const auto is_first = graph.numbers(0), a = graph.numbers(1), b = graph.numbers(2);
    if (!is_first || !a || !b || a->size() != b->size() || a->size() != is_first->size() ||
        graph.kind(1) != graph.kind(2) || larger_rank(graph, 0, 2) > 1)
        return std::nullopt;
    Numbers made;
    for (size_t i = 0; i < a->size(); i++) {
        const Number &condition = (*is_first)[i];
        made.push_back(condition == "True" ? (*a)[i]
                       : condition == "False"
                           ? (*b)[i]
                           : concat("(", (*a)[i], " if ", condition, " else ", (*b)[i], ")"));
    }
    return made;
}

void where(OnnxImport &graph)
{
    if (const auto numbers = chosen(graph))
        return graph.give_numbers(*numbers, larger_rank(graph, 0, 2) == 0, graph.kind(1));
    graph.give(
        concat("torch.where(", graph.tensor(0), ", ", graph.tensor(1), ", ", graph.tensor(2), ")"),
        larger_rank(graph, 0, 2), graph.kind(1));
}

// ---- limits

// An attribute before version 11, and an input since.
Expression limit(OnnxImport &graph, const char *name, size_t input)
{
    if (graph.attribute(name))
        return literal(graph.real(name, 0));
    if (!graph.has(input))
        return "None";
    const auto numbers = graph.numbers(input);
    return numbers && numbers->size() == 1 ? numbers->front() : graph.tensor(input);
}

void clip(OnnxImport &graph)
{
    const Expression x = graph.tensor(0), least = limit(graph, "min", 1),
                     most = limit(graph, "max", 2);
    if (least == "None" && most == "None")
        return identity(graph);
    const auto is_tensor = [](const Expression &limit) {
        return limit != "None" && !known_real(limit);
    };
    // Either both are numbers or both are tensors.
    const bool are_tensors = is_tensor(least) || is_tensor(most);
    const auto given = [&](const Expression &limit, const char *name, size_t input) {
        return !are_tensors || limit == "None" || graph.attribute(name) ? limit
                                                                        : graph.tensor(input);
    };
    graph.give(
        concat("torch.clamp(", x, ", ", given(least, "min", 1), ", ", given(most, "max", 2), ")"),
        graph.rank(0), graph.kind(0));
}

// ---- types

Number cast(const Number &number, NumberKind to)
{
    if (to == real)
        return known_whole(number) ? number + ".0" : concat("float(", number, ")");
    return known_whole(number) ? number : concat("int(", number, ")");
}

// All floats are float32 here, and all whole numbers int64.
void cast_to(OnnxImport &graph, NumberKind kind)
{
    if (kind == graph.kind(0))
        return identity(graph);
    if (const auto numbers = graph.numbers(0);
        numbers && kind != truth && graph.kind(0) != truth && graph.rank(0) <= 1) {
        Numbers made;
        for (const Number &number : *numbers)
            made.push_back(cast(number, kind));
        return graph.give_numbers(made, graph.rank(0) == 0, kind);
    }
    graph.give(concat(graph.tensor(0), ".to(", type_number(kind), ")"), graph.rank(0), kind);
}

void cast(OnnxImport &graph)
{
    const std::optional<ElementType> type = element_type(graph.whole("to", 0));
    if (!type)
        graph.refuse("makes numbers of a type that is not known here");
    cast_to(graph, kind_of(*type));
}

void cast_like(OnnxImport &graph)
{
    cast_to(graph, graph.kind(1));
}

// ---- quantised numbers

// One number for all, or one for each place along a dimension.
Expression along_axis(OnnxImport &graph, size_t input)
{
    if (graph.whole("block_size", 0) != 0)
        graph.refuse("has a scale for each block, which is not read here");
    const Expression numbers = graph.floats(input);
    if (graph.rank(input) != 1 || graph.known_rank(0) < 2)
        return numbers;
    std::vector<int64_t> shape(static_cast<size_t>(graph.rank(0)), 1);
    const int64_t axis = graph.axis(graph.whole("axis", 1), graph.rank(0));
    shape.at(static_cast<size_t>(std::min<int64_t>(axis, graph.rank(0) - 1))) = -1;
    return graph.net().let(concat("torch.reshape(", numbers, ", ", list_of(shape), ")"));
}

void dequantize(OnnxImport &graph)
{
    const Expression scale = along_axis(graph, 1);
    const Expression zero = graph.has(2) ? concat(" - ", along_axis(graph, 2)) : "";
    graph.give(concat("(", graph.floats(0), zero, ") * ", scale), graph.rank(0));
}

// The zero point's type is that of the result.  Quantised numbers stay floats, which layers need.
void quantize(OnnxImport &graph)
{
    constexpr int64_t uint8 = 2;
    const int64_t named = graph.whole("output_dtype", 0);
    const auto type =
        graph.has(2) ? graph.type_in_file(2) : element_type(named == 0 ? uint8 : named);
    const Expression scale = along_axis(graph, 1);
    const Expression zero = graph.has(2) ? along_axis(graph, 2) : "0";
    graph.give(concat("torch.clamp(torch.round(", graph.tensor(0), " / ", scale, ") + ", zero, ", ",
                      graph.limits(type), ")"),
               graph.rank(0));
}

constexpr char quantize_function[] = R"(
def quantization(self, x):
    low = torch.clamp(torch.min(x), max=0)
    scale = torch.clamp((torch.clamp(torch.max(x), min=0) - low) / 255, min=1e-35)
    return scale, torch.clamp(torch.round(-low / scale), 0, 255)
)";

// Scale and zero point follow from the numbers.
void quantize_by_range(OnnxImport &graph)
{
    graph.net().function(quantize_function);
    const Expression x = graph.tensor(0);
    const Expression both = graph.net().let(concat("self.quantization(", x, ")"));
    graph.give(concat(both, "[0]"), 0, real, 1);
    graph.give(concat(both, "[1]"), 0, real, 2);
    graph.give(concat("torch.clamp(torch.round(", x, " / ", both, "[0]) + ", both, "[1], 0, 255)"),
               graph.rank(0));
}

// ---- reductions

std::vector<int64_t> axes_of(OnnxImport &graph)
{
    std::vector<int64_t> axes = graph.has(1) ? graph.wholes_of(1) : graph.wholes("axes");
    if (axes.empty() && graph.whole("noop_with_empty_axes", 0) != 0)
        graph.refuse("reduces nothing");
    if (axes.empty())
        for (int64_t i = 0; i < graph.known_rank(0); i++)
            axes.push_back(i);
    return axes;
}

struct Reduction {
    std::string axes;
    const char *keeps;
    int rank;
};

Reduction reduction(OnnxImport &graph)
{
    const std::vector<int64_t> axes = axes_of(graph);
    const bool keeps = graph.whole("keepdims", 1) != 0;
    const int rank = graph.rank(0);
    return {.axes = list_of(axes),
            .keeps = keeps ? "True" : "False",
            .rank = keeps || rank < 0 ? rank : rank - static_cast<int>(axes.size())};
}

constexpr char mean_name[] = "mean", sum_name[] = "sum", amax_name[] = "amax", amin_name[] = "amin",
               logsumexp_name[] = "logsumexp";

template <const char *name> void reduce(OnnxImport &graph)
{
    const Reduction how = reduction(graph);
    graph.give(concat("torch.", name, "(", graph.tensor(0), ", ", how.axes, ", ", how.keeps, ")"),
               how.rank, graph.kind(0));
}

void reduce_l1(OnnxImport &graph)
{
    const Reduction how = reduction(graph);
    graph.give(
        concat("torch.sum(torch.abs(", graph.tensor(0), "), ", how.axes, ", ", how.keeps, ")"),
        how.rank);
}

std::string squares(OnnxImport &graph, const Reduction &how)
{
    const Expression x = graph.tensor(0);
    return concat("torch.sum(", x, " * ", x, ", ", how.axes, ", ", how.keeps, ")");
}

void reduce_squares(OnnxImport &graph)
{
    const Reduction how = reduction(graph);
    graph.give(squares(graph, how), how.rank);
}

void reduce_l2(OnnxImport &graph)
{
    const Reduction how = reduction(graph);
    graph.give(concat("torch.sqrt(", squares(graph, how), ")"), how.rank);
}

void reduce_product(OnnxImport &graph)
{
    std::vector<int64_t> axes = axes_of(graph);
    for (int64_t &axis : axes)
        axis = graph.axis(axis, graph.rank(0));
    std::sort(axes.rbegin(), axes.rend());
    const bool keeps = graph.whole("keepdims", 1) != 0;
    Expression x = graph.tensor(0);
    for (const int64_t axis : axes)
        x = graph.net().let(
            concat("torch.prod(", x, ", ", axis, ", ", keeps ? "True" : "False", ")"));
    graph.give(x, reduction(graph).rank, graph.kind(0));
}

constexpr char argmax_name[] = "argmax", argmin_name[] = "argmin";

template <const char *name> void arg_extreme(OnnxImport &graph)
{
    const bool keeps = graph.whole("keepdims", 1) != 0;
    const int rank = graph.rank(0);
    const int64_t axis = graph.whole("axis", 0);
    const Expression x = graph.tensor(0);
    const bool selects_last = graph.whole("select_last_index", 0) != 0;
    const std::string turned = selects_last ? concat("torch.flip(", x, ", [", axis, "])") : x;
    const std::string place =
        concat("torch.", name, "(", turned, ", ", axis, ", ", keeps ? "True" : "False", ")");
    graph.give(selects_last ? concat(x, ".size(", axis, ") - 1 - ", place) : place,
               keeps || rank < 0 ? rank : rank - 1, whole);
}

} // namespace

const OnnxRecipes &onnx_arithmetic()
{
    static const OnnxRecipes recipes = {
        {"Abs", function<abs_name>},
        {"Acos", function<acos_name>},
        {"Acosh", function<acosh_name>},
        {"Add", arithmetic<'+'>},
        {"And", comparison<and_name>},
        {"ArgMax", arg_extreme<argmax_name>},
        {"ArgMin", arg_extreme<argmin_name>},
        {"Asin", function<asin_name>},
        {"Asinh", function<asinh_name>},
        {"Atan", function<atan_name>},
        {"Atanh", function<atanh_name>},
        {"Cast", cast},
        {"CastLike", cast_like},
        {"Ceil", rounded<ceil_name>},
        {"Celu", celu},
        {"Clip", clip},
        {"Cos", function<cos_name>},
        {"Cosh", function<cosh_name>},
        {"DequantizeLinear", dequantize},
        {"Div", arithmetic<'/'>},
        {"Dropout", dropout},
        {"DynamicQuantizeLinear", quantize_by_range},
        {"Elu", elu},
        {"Equal", equal},
        {"Erf", function<erf_name>},
        {"Exp", function<exp_name>},
        {"Floor", rounded<floor_name>},
        {"Gelu", gelu},
        {"Greater", comparison<gt_name>},
        {"GreaterOrEqual", comparison<ge_name>},
        {"HardSigmoid", hard_sigmoid},
        {"HardSwish", hard_swish},
        {"Identity", identity},
        {"IsInf", is_infinite},
        {"IsNaN", test<isnan_name>},
        {"LeakyRelu", leaky_relu},
        {"Less", comparison<lt_name>},
        {"LessOrEqual", comparison<le_name>},
        {"Log", function<log_name>},
        {"Max", extreme<maximum_name>},
        {"Mean", mean},
        {"Min", extreme<minimum_name>},
        {"Mish", function<mish_name>},
        {"Mod", modulo},
        {"Mul", arithmetic<'*'>},
        {"Neg", negate},
        {"Not", test<not_name>},
        {"Or", comparison<or_name>},
        {"PRelu", prelu},
        {"Pow", power},
        {"QuantizeLinear", quantize},
        {"Reciprocal", function<reciprocal_name>},
        {"ReduceL1", reduce_l1},
        {"ReduceL2", reduce_l2},
        {"ReduceLogSumExp", reduce<logsumexp_name>},
        {"ReduceMax", reduce<amax_name>},
        {"ReduceMean", reduce<mean_name>},
        {"ReduceMin", reduce<amin_name>},
        {"ReduceProd", reduce_product},
        {"ReduceSum", reduce<sum_name>},
        {"ReduceSumSquare", reduce_squares},
        {"Relu", function<relu_name>},
        {"Round", function<round_name>},
        {"Selu", selu},
        {"Sigmoid", function<sigmoid_name>},
        {"Sign", function<sign_name>},
        {"Sin", function<sin_name>},
        {"Sinh", function<sinh_name>},
        {"Softplus", softplus},
        {"Softsign", softsign},
        {"Sqrt", function<sqrt_name>},
        {"Sub", arithmetic<'-'>},
        {"Sum", sum},
        {"Swish", swish},
        {"Tan", function<tan_name>},
        {"Tanh", function<tanh_name>},
        {"ThresholdedRelu", thresholded_relu},
        {"Where", where},
        {"Xor", comparison<xor_name>},
        {"com.microsoft.BiasGelu", biased_gelu<true>},
        {"com.microsoft.FastGelu", biased_gelu<false>},
        {"com.microsoft.Gelu", gelu},
        {"com.microsoft.QuickGelu", quick_gelu},
    };
    return recipes;
}

} // namespace engine_torch
