// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// ONNX's operators that move elements, and those that compute sizes.
#include "onnx_import.h"

#include "base/compose.h"

#include <algorithm>
#include <limits>
#include <string>

namespace engine_torch
{
namespace
{

using dnn_torch::concat;
using enum NumberKind;

// ---- constants

void constant(OnnxImport &graph)
{
    if (graph.attribute("value_int"))
        return graph.give_numbers({std::to_string(graph.whole("value_int", 0))}, true, whole);
    if (graph.attribute("value_float"))
        return graph.give_numbers({literal(graph.real("value_float", 0))}, true, real);
    Numbers numbers;
    if (const OnnxAttribute *const given = graph.attribute("value_ints")) {
        for (const int64_t number : given->numbers)
            numbers.push_back(literal_of(number));
        return graph.give_numbers(numbers, false, whole);
    }
    const OnnxAttribute *const given = graph.attribute("value_floats");
    if (!given)
        graph.refuse("holds no number");
    for (const float number : given->reals)
        numbers.push_back(literal_of(number));
    graph.give_numbers(numbers, false, real);
}

struct Filling {
    std::string number = "0.0";
    NumberKind kind = real;
};

// The attribute is a tensor of one element.
Filling filling_of(OnnxImport &graph)
{
    const OnnxAttribute *const value = graph.attribute("value");
    if (!value || !value->tensor)
        return {};
    const auto numbers = numbers_in(*value->tensor);
    if (!numbers || numbers->size() != 1)
        graph.refuse("fills with a number that is not read here");
    return {.number = numbers->front(), .kind = kind_of(value->tensor->type)};
}

void constant_of_shape(OnnxImport &graph)
{
    const Filling filling = filling_of(graph);
    const Numbers shape = graph.numbers_of(0);
    if (shape.size() == 1 && known_whole(shape[0]).value_or(-1) >= 0 && filling.kind != truth &&
        known_whole(shape[0]).value_or(0) <= 8) {
        const auto count = static_cast<size_t>(*known_whole(shape[0]));
        return graph.give_numbers(Numbers(count, filling.number), false, filling.kind);
    }
    graph.give(concat("torch.full(", list_of(shape), ", ", filling.number,
                      ", dtype=", type_number(filling.kind), ", device=", graph.device(), ")"),
               static_cast<int>(shape.size()), filling.kind);
}

void range(OnnxImport &graph)
{
    std::string arguments;
    for (size_t i = 0; i < 3; i++) {
        const Numbers number = graph.numbers_of(i);
        if (number.size() != 1)
            graph.refuse("has no bounds");
        dnn_torch::add_to_list(arguments, number.front());
    }
    graph.give(concat("torch.arange(", arguments, ", dtype=", type_number(graph.kind(0)),
                      ", device=", graph.device(), ")"),
               1, graph.kind(0));
}

// ---- sizes

void shape(OnnxImport &graph)
{
    const int rank = graph.known_rank(0);
    const auto bound = [&](const char *name, int64_t otherwise) {
        const int64_t given = graph.whole(name, otherwise);
        return std::clamp<int64_t>(given < 0 ? given + rank : given, 0, rank);
    };
    Numbers numbers;
    const auto elements = graph.numbers(0);
    const auto &known = graph.value(0).shape;
    for (int64_t i = bound("start", 0); i < bound("end", rank); i++)
        if (elements && rank == 1)
            numbers.push_back(std::to_string(elements->size()));
        else if (known)
            numbers.push_back(std::to_string((*known)[static_cast<size_t>(i)]));
        else
            numbers.push_back(concat(graph.tensor(0), ".size(", i, ")"));
    graph.give_numbers(numbers, false, whole);
}

void size(OnnxImport &graph)
{
    graph.give_numbers({concat(graph.tensor(0), ".numel()")}, true, whole);
}

// PyTorch's exporter turns the padding of an image around as a small matrix.
bool reshape_numbers(OnnxImport &graph, const Numbers &shape)
{
    const auto numbers = graph.numbers(0);
    if (!numbers || shape.empty() || shape.size() > 2)
        return false;
    std::vector<int64_t> extents;
    int64_t rest = static_cast<int64_t>(numbers->size());
    for (const Number &each : shape) {
        extents.push_back(known_whole(each).value_or(0));
        if (extents.back() == 0)
            return false;
        if (extents.back() > 0)
            rest /= extents.back();
    }
    for (int64_t &extent : extents)
        extent = extent < 0 ? rest : extent;
    if (extents[0] * (extents.size() > 1 ? extents[1] : 1) != static_cast<int64_t>(numbers->size()))
        graph.refuse("has a shape of another size");
    graph.give_value({.kind = graph.kind(0),
                      .rank = static_cast<int>(extents.size()),
                      .numbers = numbers,
                      .shape = extents});
    return true;
}

// A 0 keeps the dimension.
void reshape(OnnxImport &graph)
{
    const auto given = graph.numbers_or_attribute("shape", 1);
    if (!given)
        graph.refuse("has no shape");
    if (reshape_numbers(graph, *given))
        return;
    const Expression x = graph.tensor(0);
    Numbers shape = *given;
    const bool copies = graph.whole("allowzero", 0) == 0;
    for (size_t i = 0; i < shape.size(); i++)
        if (copies && shape[i] == "0")
            shape[i] = concat(x, ".size(", i, ")");
    graph.give(concat("torch.reshape(", x, ", ", list_of(shape), ")"),
               static_cast<int>(shape.size()), graph.kind(0));
}

void flatten(OnnxImport &graph)
{
    const Expression x = graph.tensor(0);
    const int64_t given = graph.whole("axis", 1);
    if (graph.rank(0) >= 0 && given == graph.rank(0))
        return graph.give(concat("torch.reshape(", x, ", [-1, 1])"), 2);
    const int64_t axis = graph.axis(given, graph.rank(0));
    if (axis == 1)
        return graph.give(concat("torch.flatten(", x, ", 1)"), 2);
    if (axis == 0)
        return graph.give(concat("torch.reshape(", x, ", [1, -1])"), 2);
    graph.give(concat("torch.flatten(torch.flatten(", x, ", ", axis, "), 0, ", axis - 1, ")"), 2);
}

void squeeze(OnnxImport &graph)
{
    const auto axes = graph.numbers_or_attribute("axes", 1);
    if (const auto numbers = graph.numbers(0); numbers && numbers->size() == 1)
        return graph.give_numbers(*numbers, true, graph.kind(0));
    Expression x = graph.tensor(0);
    if (!axes)
        return graph.give(concat("torch.squeeze(", x, ")"), -1, graph.kind(0));
    std::vector<int64_t> places;
    for (const Number &axis : *axes)
        places.push_back(graph.axis(known_whole(axis).value_or(-99), graph.rank(0)));
    std::sort(places.rbegin(), places.rend());
    for (const int64_t place : places)
        x = graph.net().let(concat("torch.squeeze(", x, ", ", place, ")"));
    graph.give(x, graph.rank(0) < 0 ? -1 : graph.rank(0) - static_cast<int>(places.size()),
               graph.kind(0));
}

void unsqueeze(OnnxImport &graph)
{
    const auto axes = graph.numbers_or_attribute("axes", 1);
    if (!axes)
        graph.refuse("has no axes");
    if (const auto numbers = graph.numbers(0); numbers && graph.rank(0) == 0 && axes->size() == 1)
        return graph.give_numbers(*numbers, false, graph.kind(0));
    const int rank = graph.rank(0) < 0 ? -1 : graph.rank(0) + static_cast<int>(axes->size());
    std::vector<int64_t> places;
    for (const Number &axis : *axes)
        places.push_back(graph.axis(known_whole(axis).value_or(-99), rank));
    std::sort(places.begin(), places.end());
    Expression x = graph.tensor(0);
    for (const int64_t place : places)
        x = graph.net().let(concat("torch.unsqueeze(", x, ", ", place, ")"));
    graph.give(x, rank, graph.kind(0));
}

void expand(OnnxImport &graph)
{
    const Numbers shape = graph.numbers_of(1);
    const Expression x = graph.tensor(0);
    const auto rank = static_cast<int>(shape.size());
    // Both may be wider than the other.
    graph.give(concat("torch.mul(", x, ", torch.ones(", list_of(shape),
                      ", dtype=", type_number(graph.kind(0)), ", device=", graph.device(), "))"),
               graph.rank(0) < 0 ? -1 : std::max(rank, graph.rank(0)), graph.kind(0));
}

void tile(OnnxImport &graph)
{
    graph.give(concat("torch.tile(", graph.tensor(0), ", ", list_of(graph.numbers_of(1)), ")"),
               graph.rank(0), graph.kind(0));
}

// ---- order

// Of a matrix of numbers: turns it, or reverses its rows.
void rearrange_numbers(OnnxImport &graph, bool turns)
{
    const Numbers numbers = graph.numbers_of(0);
    const std::vector<int64_t> shape = *graph.value(0).shape;
    const auto rows = static_cast<size_t>(shape[0]), columns = static_cast<size_t>(shape[1]);
    Numbers made;
    for (size_t i = 0; i < numbers.size(); i++)
        made.push_back(turns ? numbers[i % rows * columns + i / rows]
                             : numbers[(rows - 1 - i / columns) * columns + i % columns]);
    graph.give_value({.kind = graph.kind(0),
                      .rank = 2,
                      .numbers = std::move(made),
                      .shape = turns ? std::vector{shape[1], shape[0]} : shape});
}

bool is_matrix_of_numbers(OnnxImport &graph)
{
    return graph.numbers(0) && graph.rank(0) == 2 && graph.value(0).shape;
}

void transpose(OnnxImport &graph)
{
    std::vector<int64_t> order = graph.wholes("perm");
    if (is_matrix_of_numbers(graph) && (order.empty() || order == std::vector<int64_t>{1, 0}))
        return rearrange_numbers(graph, true);
    if (order.empty())
        for (int64_t i = graph.known_rank(0); i-- > 0;)
            order.push_back(i);
    graph.give(concat("torch.permute(", graph.tensor(0), ", ", list_of(order), ")"),
               static_cast<int>(order.size()), graph.kind(0));
}

void concatenate(OnnxImport &graph)
{
    Numbers all;
    std::string tensors;
    bool are_numbers = true;
    for (size_t i = 0; i < graph.input_count(); i++) {
        const auto numbers = graph.numbers(i);
        are_numbers = are_numbers && numbers && graph.rank(i) == 1 &&
                      graph.kind(i) == graph.kind(0) && all.size() <= most_sizes;
        if (are_numbers)
            all.insert(all.end(), numbers->begin(), numbers->end());
    }
    if (are_numbers)
        return graph.give_numbers(all, false, graph.kind(0));
    for (size_t i = 0; i < graph.input_count(); i++)
        if (graph.numbers(i) != Numbers())
            dnn_torch::add_to_list(tensors, graph.tensor(i));
    graph.give(concat("torch.cat([", tensors, "], ", graph.whole("axis", 0), ")"), graph.rank(0),
               graph.kind(0));
}

std::string parts_text(OnnxImport &graph)
{
    if (const auto sizes = graph.numbers_or_attribute("split", 1))
        return list_of(*sizes);
    return "";
}

void split(OnnxImport &graph)
{
    const Expression x = graph.tensor(0);
    const int64_t axis = graph.whole("axis", 0);
    const std::string parts = parts_text(graph);
    const auto count = static_cast<int64_t>(graph.output_count());
    const Expression all = graph.net().let(
        parts.empty() ? concat("torch.split(", x, ", (", x, ".size(", axis, ") + ", count - 1,
                               ") // ", count, ", ", axis, ")")
                      : concat("torch.split_with_sizes(", x, ", ", parts, ", ", axis, ")"));
    for (size_t i = 0; i < graph.output_count(); i++)
        graph.give(concat(all, "[", i, "]"), graph.rank(0), graph.kind(0), i);
}

// ---- parts

struct Cut {
    int64_t axis = 0;
    Number start, end;
    int64_t step = 1;
};

std::vector<Cut> cuts_of(OnnxImport &graph)
{
    const auto starts = graph.numbers_or_attribute("starts", 1),
               ends = graph.numbers_or_attribute("ends", 2),
               axes = graph.numbers_or_attribute("axes", 3);
    if (!starts || !ends || starts->size() != ends->size() ||
        (axes && axes->size() != starts->size()))
        graph.refuse("has other numbers of starts and ends");
    const std::vector<int64_t> steps =
        graph.has(4) ? graph.wholes_of(4) : std::vector<int64_t>(starts->size(), 1);
    std::vector<Cut> cuts;
    for (size_t i = 0; i < starts->size(); i++) {
        const auto axis = axes ? known_whole((*axes)[i]) : static_cast<int64_t>(i);
        if (!axis)
            graph.refuse("computes its axes; they must be constants");
        cuts.push_back({.axis = *axis,
                        .start = (*starts)[i],
                        .end = (*ends)[i],
                        .step = i < steps.size() ? steps[i] : 1});
    }
    return cuts;
}

std::optional<Numbers> cut_numbers(OnnxImport &graph, const std::vector<Cut> &cuts)
{
    const auto numbers = graph.numbers(0);
    if (!numbers || graph.rank(0) != 1 || cuts.size() != 1 || cuts[0].step == 0)
        return std::nullopt;
    const auto start = known_whole(cuts[0].start), end = known_whole(cuts[0].end);
    if (!start || !end)
        return std::nullopt;
    const auto count = static_cast<int64_t>(numbers->size());
    const int64_t step = std::clamp<int64_t>(cuts[0].step, -count - 1, count + 1);
    const bool is_back = step < 0;
    const auto place = [&](int64_t given) {
        return std::clamp<int64_t>(given < 0 ? given + count : given, is_back ? -1 : 0,
                                   is_back ? count - 1 : count);
    };
    // The lowest number means "before the first".
    const int64_t last = is_back && *end < -count ? -1 : place(*end);
    Numbers made;
    for (int64_t i = place(*start); is_back ? i > last : i < last; i += step)
        made.push_back((*numbers)[static_cast<size_t>(i)]);
    return made;
}

bool turns_around(const Cut &cut)
{
    const auto start = known_whole(cut.start), end = known_whole(cut.end);
    constexpr int64_t far = std::numeric_limits<int32_t>::max();
    return cut.step < 0 && start && end && (*start == -1 || *start >= far) && *end <= -far;
}

// Steps backwards are steps forwards in the reverse order.
Expression cut_back(OnnxImport &graph, const Expression &x, const Cut &cut)
{
    if (!turns_around(cut))
        graph.refuse("steps backwards through a part; only through all is read here");
    const Expression turned = graph.net().let(concat("torch.flip(", x, ", [", cut.axis, "])"));
    return cut.step == -1 ? turned
                          : graph.net().let(concat("torch.slice(", turned, ", ", cut.axis,
                                                   ", 0, None, ", -cut.step, ")"));
}

void slice(OnnxImport &graph)
{
    const std::vector<Cut> cuts = cuts_of(graph);
    if (const auto numbers = cut_numbers(graph, cuts))
        return graph.give_numbers(*numbers, false, graph.kind(0));
    if (is_matrix_of_numbers(graph) && cuts.size() == 1 && cuts[0].axis == 0 &&
        cuts[0].step == -1 && turns_around(cuts[0]))
        return rearrange_numbers(graph, false);
    Expression x = graph.tensor(0);
    for (const Cut &cut : cuts) {
        if (cut.step == 0)
            graph.refuse("has a step of 0");
        x = cut.step < 0 ? cut_back(graph, x, cut)
                         : graph.net().let(concat("torch.slice(", x, ", ", cut.axis, ", ",
                                                  cut.start, ", ", cut.end, ", ", cut.step, ")"));
    }
    graph.give(x, graph.rank(0), graph.kind(0));
}

std::optional<Numbers> gathered(OnnxImport &graph)
{
    const auto numbers = graph.numbers(0), places = graph.numbers(1);
    if (!numbers || !places || graph.rank(0) != 1 || graph.rank(1) > 1)
        return std::nullopt;
    Numbers made;
    for (const Number &place : *places) {
        const auto known = known_whole(place);
        const auto count = static_cast<int64_t>(numbers->size());
        if (!known || *known < -count || *known >= count)
            return std::nullopt;
        made.push_back((*numbers)[static_cast<size_t>(*known < 0 ? *known + count : *known)]);
    }
    return made;
}

void gather(OnnxImport &graph)
{
    if (const auto numbers = gathered(graph))
        return graph.give_numbers(*numbers, graph.rank(1) == 0, graph.kind(0));
    const int64_t axis = graph.whole("axis", 0);
    const Expression x = graph.tensor(0);
    const int rank = graph.rank(0), places_rank = graph.known_rank(1);
    const auto places = graph.numbers(1);
    if (places_rank == 0 && places)
        return graph.give(concat("torch.select(", x, ", ", axis, ", ", places->front(), ")"),
                          rank < 0 ? -1 : rank - 1, graph.kind(0));
    // Negative places count from the end.
    const Expression raw = graph.tensor(1);
    const Expression flat = graph.net().let(
        concat("torch.reshape(torch.remainder(", raw, ", ", x, ".size(", axis, ")), [-1])"));
    const std::string taken = concat("torch.index_select(", x, ", ", axis, ", ", flat, ")");
    if (places_rank == 1)
        return graph.give(taken, rank, graph.kind(0));
    const int64_t front = graph.axis(axis, graph.known_rank(0));
    std::string sizes =
        concat(x, ".size()[:", front, "] + ", raw, ".size() + ", x, ".size()[", front + 1, ":]");
    graph.give(concat("torch.reshape(", taken, ", ", sizes, ")"), rank - 1 + places_rank,
               graph.kind(0));
}

void gather_elements(OnnxImport &graph)
{
    const int64_t axis = graph.whole("axis", 0);
    const Expression x = graph.tensor(0);
    graph.give(concat("torch.gather(", x, ", ", axis, ", torch.remainder(", graph.tensor(1), ", ",
                      x, ".size(", axis, ")))"),
               graph.rank(1), graph.kind(0));
}

void top(OnnxImport &graph)
{
    const Numbers count =
        graph.has(1) ? graph.numbers_of(1) : Numbers{literal_of(graph.whole("k", 1))};
    if (count.size() != 1)
        graph.refuse("has no k");
    const auto flag = [&](const char *name) {
        return graph.whole(name, 1) != 0 ? "True" : "False";
    };
    // Sorted stably: of equal numbers the first comes first, as in ONNX.
    const int64_t axis = graph.whole("axis", -1);
    const bool is_largest = std::string(flag("largest")) == "True";
    const Expression both =
        graph.net().let(concat("torch.sort(", graph.tensor(0), ", stable=True, dim=", axis,
                               ", descending=", is_largest ? "True" : "False", ")"));
    for (size_t i = 0; i < 2; i++)
        graph.give(
            concat("torch.slice(", both, "[", i, "], ", axis, ", 0, ", count.front(), ", 1)"),
            graph.rank(0), i == 0 ? graph.kind(0) : whole, i);
}

void cumulative_sum(OnnxImport &graph)
{
    const std::vector<int64_t> axis = graph.wholes_of(1);
    if (axis.size() != 1 || graph.whole("exclusive", 0) != 0 || graph.whole("reverse", 0) != 0)
        graph.refuse("is exclusive or reversed, which is not read here");
    graph.give(concat("torch.cumsum(", graph.tensor(0), ", ", axis[0], ")"), graph.rank(0),
               graph.kind(0));
}

void triangle(OnnxImport &graph)
{
    const Numbers number = graph.has(1) ? graph.numbers_of(1) : Numbers{"0"};
    if (number.size() != 1)
        graph.refuse("has no diagonal");
    graph.give(concat("torch.", graph.whole("upper", 1) != 0 ? "triu" : "tril", "(",
                      graph.tensor(0), ", ", number.front(), ")"),
               graph.rank(0), graph.kind(0));
}

// ---- padding

struct Padding {
    Numbers before, after; // of each dimension
};

Padding padding_of(OnnxImport &graph)
{
    const auto rank = static_cast<size_t>(graph.known_rank(0));
    const auto given = graph.numbers_or_attribute("pads", 1);
    if (!given)
        graph.refuse("has no pads");
    std::vector<int64_t> axes;
    if (graph.has(3))
        axes = graph.wholes_of(3);
    else
        for (size_t i = 0; i < rank; i++)
            axes.push_back(static_cast<int64_t>(i));
    if (given->size() != 2 * axes.size())
        graph.refuse("has another number of pads than of dimensions");
    Padding padding = {.before = Numbers(rank, "0"), .after = Numbers(rank, "0")};
    for (size_t i = 0; i < axes.size(); i++) {
        const auto place = static_cast<size_t>(graph.axis(axes[i], static_cast<int>(rank)));
        padding.before.at(place) = (*given)[i];
        padding.after.at(place) = (*given)[axes.size() + i];
    }
    return padding;
}

// From the last dimension to that one.
std::string from_last(const Padding &padding, size_t first)
{
    std::string list;
    for (size_t i = padding.before.size(); i-- > first;)
        dnn_torch::add_to_list(list, concat(padding.before[i], ", ", padding.after[i]));
    return concat("[", list, "]");
}

void pad(OnnxImport &graph)
{
    const Padding padding = padding_of(graph);
    const std::string mode = graph.text("mode", "constant");
    const Expression x = graph.tensor(0);
    const size_t rank = padding.before.size();
    if (mode == "constant") {
        const auto number = graph.numbers(2);
        const std::string with = number && number->size() == 1 ? number->front()
                                 : graph.has(2)                ? concat(graph.tensor(2), ".item()")
                                                               : literal(graph.real("value", 0));
        return graph.give(
            concat("torch.constant_pad_nd(", x, ", ", from_last(padding, 0), ", ", with, ")"),
            graph.rank(0), graph.kind(0));
    }
    const bool is_of_places = rank == 4 && padding.before[0] == "0" && padding.after[0] == "0" &&
                              padding.before[1] == "0" && padding.after[1] == "0";
    const char *const name = mode == "reflect" ? "reflection_pad2d"
                             : mode == "edge"  ? "replication_pad2d"
                                               : nullptr;
    if (!is_of_places || !name)
        graph.refuse(concat("pads in mode ", mode, " other than height and width"));
    const bool is_real = graph.kind(0) == real;
    graph.give(concat("torch.", name, "(", x, is_real ? "" : ".to(6)", ", ", from_last(padding, 2),
                      ")", is_real ? "" : concat(".to(", type_number(graph.kind(0)), ")")),
               4, graph.kind(0));
}

} // namespace

const OnnxRecipes &onnx_shapes()
{
    static const OnnxRecipes recipes = {
        {"Concat", concatenate},
        {"Constant", constant},
        {"ConstantOfShape", constant_of_shape},
        {"CumSum", cumulative_sum},
        {"Expand", expand},
        {"Flatten", flatten},
        {"Gather", gather},
        {"GatherElements", gather_elements},
        {"Pad", pad},
        {"Range", range},
        {"Reshape", reshape},
        {"Shape", shape},
        {"Size", size},
        {"Slice", slice},
        {"Split", split},
        {"Squeeze", squeeze},
        {"Tile", tile},
        {"TopK", top},
        {"Transpose", transpose},
        {"Trilu", triangle},
        {"Unsqueeze", unsqueeze},
    };
    return recipes;
}

} // namespace engine_torch
