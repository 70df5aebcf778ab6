// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// ONNX's operators that find elements, and that read or write them at computed places.
#include "onnx_import.h"

#include "base/compose.h"

#include <string>
#include <utility>

namespace engine_torch
{
namespace
{

using dnn_torch::concat;
using enum NumberKind;

// Negative places count from the end.
std::string from_begin(const Expression &places, const std::string &size)
{
    return concat("torch.remainder(", places, ", ", size, ")");
}

void nonzero(OnnxImport &graph)
{
    graph.give(concat("torch.t(torch.nonzero(", graph.tensor(0), "))"), 2, whole);
}

void compress(OnnxImport &graph)
{
    const bool is_flat = !graph.attribute("axis");
    const Expression given = graph.tensor(0);
    const Expression x =
        is_flat ? graph.net().let(concat("torch.reshape(", given, ", [-1])")) : given;
    const int64_t axis = graph.whole("axis", 0);
    graph.give(concat("torch.index_select(", x, ", ", axis, ", torch.reshape(torch.nonzero(",
                      graph.tensor(1), "), [-1]))"),
               is_flat ? 1 : graph.rank(0), graph.kind(0));
}

// ---- elements along one dimension

const char *reduction_of(OnnxImport &graph)
{
    const std::string given = graph.text("reduction", "none");
    for (const auto &[name, ours] :
         {std::pair("none", ""), std::pair("add", "sum"), std::pair("mul", "prod"),
          std::pair("max", "amax"), std::pair("min", "amin")})
        if (given == name)
            return ours;
    graph.refuse(concat("has reduction ", given, ", which is not read here"));
}

void scatter_elements(OnnxImport &graph)
{
    const std::string reduction = reduction_of(graph);
    const int64_t axis = graph.whole("axis", 0);
    const Expression x = graph.tensor(0);
    const std::string arguments =
        concat("(", x, ", ", axis, ", ",
               from_begin(graph.tensor(1), concat(x, ".size(", axis, ")")), ", ", graph.tensor(2));
    graph.give(reduction.empty()
                   ? concat("torch.scatter", arguments, ")")
                   : concat("torch.scatter_reduce", arguments, ", \"", reduction, "\")"),
               graph.rank(0), graph.kind(0));
}

void one_hot(OnnxImport &graph)
{
    const Numbers depth = graph.numbers_of(1);
    if (depth.size() != 1)
        graph.refuse("has no depth");
    const int rank = graph.known_rank(0) + 1;
    const int64_t axis = graph.axis(graph.whole("axis", -1), rank);
    std::vector<int64_t> shape(static_cast<size_t>(rank), 1);
    shape.at(static_cast<size_t>(axis)) = -1;
    const Expression count = graph.net().let(concat("int(", depth.front(), ")"));
    const Expression places = graph.tensor(0), values = graph.tensor(2);
    const Expression from_end = graph.net().let(
        concat("torch.where(", places, " < 0, ", places, " + ", count, ", ", places, ")"));
    graph.give(concat("torch.where(torch.eq(torch.unsqueeze(", from_end, ", ", axis,
                      "), torch.reshape(torch.arange(", count, ", device=", graph.device(), "), ",
                      list_of(shape), ")), ", values, "[1], ", values, "[0])"),
               rank, graph.kind(2));
}

void eye_like(OnnxImport &graph)
{
    const std::optional<ElementType> type = element_type(graph.whole("dtype", 0));
    const NumberKind kind = type ? kind_of(*type) : graph.kind(0);
    const Expression x = graph.tensor(0);
    const auto up_to = [&](int dimension) {
        return concat("torch.arange(", x, ".size(", dimension, "), device=", graph.device(), ")");
    };
    graph.give(concat("torch.eq(torch.unsqueeze(", up_to(0), ", 1) + ", graph.whole("k", 0), ", ",
                      up_to(1), ").to(", type_number(kind), ")"),
               2, kind);
}

// ---- elements at places of several dimensions

// Turns places of `count` dimensions from `first` on into one number each.
constexpr char flat_places_function[] = R"(
def flat_places(self, places, sizes: List[int], first: int):
    made = torch.zeros_like(torch.select(places, -1, 0))
    for i in range(places.size(-1)):
        size = sizes[first + i]
        made = made * size + torch.remainder(torch.select(places, -1, i), size)
    return made
)";

constexpr char gather_function[] = R"(
def gather_places(self, x, places, batch: int):
    sizes = x.size()
    last = batch + places.size(-1)
    flat = self.flat_places(places, sizes, batch)
    rows = 1
    for size in sizes[:batch]:
        rows = rows * size
    count = 1
    for size in sizes[batch:last]:
        count = count * size
    rest = 1
    for size in sizes[last:]:
        rest = rest * size
    flat = flat.reshape([rows, -1]) + torch.arange(rows, device=x.device).unsqueeze(1) * count
    taken = torch.index_select(x.reshape([rows * count, rest]), 0, flat.reshape([-1]))
    return taken.reshape(places.size()[:-1] + sizes[last:])
)";

constexpr char scatter_function[] = R"(
def scatter_places(self, x, places, values, how: str):
    sizes = x.size()
    count = 1
    for size in sizes[:places.size(-1)]:
        count = count * size
    rest = 1
    for size in sizes[places.size(-1):]:
        rest = rest * size
    flat = self.flat_places(places, sizes, 0).reshape([-1, 1]).expand([-1, rest])
    rows = x.reshape([count, rest])
    made = values.reshape([-1, rest])
    if how == "":
        return torch.scatter(rows, 0, flat, made).reshape(sizes)
    return torch.scatter_reduce(rows, 0, flat, made, how).reshape(sizes)
)";

void gather_places(OnnxImport &graph)
{
    graph.net().function(flat_places_function);
    graph.net().function(gather_function);
    graph.give(concat("self.gather_places(", graph.tensor(0), ", ", graph.tensor(1), ", ",
                      graph.whole("batch_dims", 0), ")"),
               -1, graph.kind(0));
}

void scatter_places(OnnxImport &graph)
{
    graph.net().function(flat_places_function);
    graph.net().function(scatter_function);
    graph.give(concat("self.scatter_places(", graph.tensor(0), ", ", graph.tensor(1), ", ",
                      graph.tensor(2), ", \"", reduction_of(graph), "\")"),
               graph.rank(0), graph.kind(0));
}

// ---- boxes

constexpr char boxes_functions[] = R"(
def box_overlaps(self, box, boxes):
    low = torch.maximum(box[:, :2], boxes[:, :2])
    high = torch.minimum(box[:, 2:], boxes[:, 2:])
    shared = torch.prod(torch.clamp(high - low, min=0), 1)
    areas = torch.prod(boxes[:, 2:] - boxes[:, :2], 1) + torch.prod(box[:, 2:] - box[:, :2], 1)
    return shared / (areas - shared)

def suppressed(self, boxes, scores, most: int, overlap: float, least: Optional[float], is_centred: bool):
    ends = torch.cat([torch.minimum(boxes[:, :, :2], boxes[:, :, 2:]), torch.maximum(boxes[:, :, :2], boxes[:, :, 2:])], 2)
    if is_centred:
        half = boxes[:, :, 2:] / 2
        ends = torch.cat([boxes[:, :, :2] - half, boxes[:, :, :2] + half], 2)
    kept = [torch.zeros([0, 3], dtype=4, device=boxes.device)]
    for picture in range(scores.size(0)):
        for label in range(scores.size(1)):
            score = scores[picture, label]
            order = torch.sort(score, stable=True, dim=0, descending=True)[1]
            if least is not None:
                order = order[score[order] > least]
            count = 0
            while order.size(0) > 0 and count < most:
                best = order[:1]
                place = torch.tensor([picture, label, 0], device=boxes.device).unsqueeze(0)
                kept.append(torch.cat([place[:, :2], best.unsqueeze(1)], 1))
                count += 1
                others = order[1:]
                overlaps = self.box_overlaps(ends[picture, best], ends[picture, others])
                order = others[torch.logical_not(overlaps > overlap)]
    return torch.cat(kept, 0)
)";

std::string number_or(OnnxImport &graph, size_t input, NumberKind kind,
                      const std::string &otherwise)
{
    return graph.has(input) ? graph.number_of(input, kind) : otherwise;
}

// No box is kept unless the file says how many.
void non_max_suppression(OnnxImport &graph)
{
    graph.net().function(boxes_functions);
    graph.give(concat("self.suppressed(", graph.tensor(0), ", ", graph.tensor(1), ", ",
                      number_or(graph, 2, whole, "0"), ", ", number_or(graph, 3, real, "0.0"), ", ",
                      number_or(graph, 4, real, "None"), ", ",
                      graph.whole("center_point_box", 0) != 0 ? "True" : "False", ")"),
               2, whole);
}

} // namespace

const OnnxRecipes &onnx_places()
{
    static const OnnxRecipes recipes = {
        {"Compress", compress},        {"EyeLike", eye_like},
        {"GatherND", gather_places},   {"NonMaxSuppression", non_max_suppression},
        {"NonZero", nonzero},          {"OneHot", one_hot},
        {"Scatter", scatter_elements}, {"ScatterElements", scatter_elements},
        {"ScatterND", scatter_places},
    };
    return recipes;
}

} // namespace engine_torch
