// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// ONNX's recurrent layers.
#include "onnx_import.h"

#include "base/compose.h"

#include <string>

namespace engine_torch
{
namespace
{

using dnn_torch::concat;

constexpr char gates_function[] = R"(
def gates(self, w, order: List[int]):
    parts = torch.chunk(w, len(order), 0)
    return torch.cat([parts[i] for i in order], 0)
)";

struct Recurrent {
    const char *name = "";  // of PyTorch's
    const char *order = ""; // of PyTorch's gates among ONNX's
    int64_t gate_count = 0;
    bool has_cell = false;
};

constexpr Recurrent lstm = {
    .name = "lstm", .order = "[0, 2, 3, 1]", .gate_count = 4, .has_cell = true};
constexpr Recurrent gru = {.name = "gru", .order = "[1, 0, 2]", .gate_count = 3};
constexpr Recurrent rnn = {.name = "rnn_tanh", .order = "[0]", .gate_count = 1};

void expect_plain(OnnxImport &graph)
{
    for (const char *name : {"activations", "clip", "activation_alpha", "activation_beta"})
        if (graph.attribute(name))
            graph.refuse(concat("has ", name, ", which is not read here"));
    if (graph.has(4) || graph.has(7) || graph.whole("layout", 0) != 0 ||
        graph.whole("input_forget", 0) != 0)
        graph.refuse("has lengths, peepholes or a layout that are not read here");
}

struct Directions {
    int64_t count = 1;
    bool first_is_reverse = false;
};

Directions directions_of(OnnxImport &graph)
{
    const std::string direction = graph.text("direction", "forward");
    if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
        graph.refuse("has a direction that ONNX does not have");
    return {.count = direction == "bidirectional" ? 2 : 1,
            .first_is_reverse = direction == "reverse"};
}

// Turns the steps round for the direction that begins with the last, and its results back.
Expression in_direction(OnnxImport &graph, const Expression &steps, bool is_reverse)
{
    return is_reverse ? graph.net().let(concat("torch.flip(", steps, ", [0])")) : steps;
}

// `leading` dimensions before those of a state: "2, ".
Expression zero_state(OnnxImport &graph, const std::string &leading, const Expression &x,
                      int64_t size)
{
    return graph.net().let(
        concat("torch.zeros([", leading, x, ".size(1), ", size, "], device=", graph.device(), ")"));
}

// Weights and offsets of each direction, in PyTorch's order.
std::string recurrent_weights(OnnxImport &graph, const Recurrent &kind, int64_t directions,
                              int64_t size)
{
    graph.net().function(gates_function);
    std::string list;
    const auto add = [&](const std::string &part) {
        dnn_torch::add_to_list(list,
                               graph.net().let(concat("self.gates(", part, ", ", kind.order, ")")));
    };
    const int64_t rows = kind.gate_count * size;
    for (int64_t i = 0; i < directions; i++) {
        for (size_t input = 1; input <= 2; input++)
            add(concat("torch.select(", graph.tensor(input), ", 0, ", i, ")"));
        for (int64_t half = 0; half < (graph.has(3) ? 2 : 0); half++)
            add(concat("torch.slice(torch.select(", graph.tensor(3), ", 0, ", i, "), 0, ",
                       half * rows, ", ", (half + 1) * rows, ", 1)"));
    }
    return list;
}

// Returns the size of the state.
int64_t state_size(OnnxImport &graph, int64_t directions)
{
    const auto &shape = graph.value(2).shape;
    if (!shape || shape->size() != 3 || (*shape)[0] != directions)
        graph.refuse("computes its weights, which must be constants");
    return (*shape)[2];
}

template <const Recurrent &kind> void recurrent(OnnxImport &graph)
{
    expect_plain(graph);
    const Directions directions = directions_of(graph);
    const int64_t size = state_size(graph, directions.count);
    const Expression x = in_direction(graph, graph.tensor(0), directions.first_is_reverse);
    const auto state = [&](size_t input) {
        return graph.has(input) ? graph.tensor(input)
                                : zero_state(graph, concat(directions.count, ", "), x, size);
    };
    const std::string states =
        kind.has_cell ? concat("[", state(5), ", ", state(6), "]") : state(5);
    const Expression made =
        graph.net().let(concat("torch.", kind.name, "(", x, ", ", states, ", [",
                               recurrent_weights(graph, kind, directions.count, size), "], ",
                               graph.has(3) ? "True" : "False", ", 1, 0.0, False, ",
                               directions.count == 2 ? "True" : "False", ", False)"));
    const Expression all =
        graph.net().let(concat("torch.permute(torch.reshape(", made, "[0], [", x, ".size(0), ", x,
                               ".size(1), ", directions.count, ", ", size, "]), [0, 2, 1, 3])"));
    graph.give(in_direction(graph, all, directions.first_is_reverse), 4);
    for (size_t i = 1; i <= (kind.has_cell ? 2 : 1); i++)
        graph.give(concat(made, "[", i, "]"), 3, NumberKind::real, i);
}

// ---- GRU as ONNX has it by default: the state is reset before the weights, in PyTorch after them

constexpr char reset_first_function[] = R"(
def gru_reset_first(self, x, h, w, r, b):
    size = h.size(1)
    given = torch.matmul(x, w.t()) + b
    gates = r[:2 * size].t()
    candidate = r[2 * size:].t()
    all: List[Tensor] = []
    for i in range(x.size(0)):
        both = torch.sigmoid(given[i, :, :2 * size] + torch.matmul(h, gates))
        made = torch.tanh(given[i, :, 2 * size:] + torch.matmul(both[:, size:] * h, candidate))
        h = made + both[:, :size] * (h - made)
        all.append(h)
    return torch.stack(all), h
)";

// What one direction returns: all states, and the last.
Expression reset_first(OnnxImport &graph, const Expression &x, int64_t place, int64_t size)
{
    const auto of_direction = [&](size_t input) {
        return graph.net().let(concat("torch.select(", graph.tensor(input), ", 0, ", place, ")"));
    };
    const int64_t rows = 3 * size;
    std::string offsets = concat("torch.zeros([1], device=", graph.device(), ")");
    if (graph.has(3)) {
        const Expression both = of_direction(3);
        offsets = concat(both, "[:", rows, "] + ", both, "[", rows, ":]");
    }
    const Expression state = graph.has(5) ? of_direction(5) : zero_state(graph, "", x, size);
    return graph.net().let(concat("self.gru_reset_first(", x, ", ", state, ", ", of_direction(1),
                                  ", ", of_direction(2), ", ", offsets, ")"));
}

void gru_of_either_kind(OnnxImport &graph)
{
    if (graph.whole("linear_before_reset", 0) != 0)
        return recurrent<gru>(graph);
    expect_plain(graph);
    graph.net().function(reset_first_function);
    const Directions directions = directions_of(graph);
    const int64_t size = state_size(graph, directions.count);
    std::string all, last;
    for (int64_t i = 0; i < directions.count; i++) {
        const bool is_reverse = directions.first_is_reverse || i == 1;
        const Expression x = in_direction(graph, graph.tensor(0), is_reverse);
        const Expression made = reset_first(graph, x, i, size);
        dnn_torch::add_to_list(all, in_direction(graph, concat(made, "[0]"), is_reverse));
        dnn_torch::add_to_list(last, concat(made, "[1]"));
    }
    graph.give(concat("torch.stack([", all, "], 1)"), 4);
    graph.give(concat("torch.stack([", last, "], 0)"), 3, NumberKind::real, 1);
}

} // namespace

const OnnxRecipes &onnx_recurrent()
{
    static const OnnxRecipes recipes = {
        {"GRU", gru_of_either_kind},
        {"LSTM", recurrent<lstm>},
        {"RNN", recurrent<rnn>},
    };
    return recipes;
}

} // namespace engine_torch
