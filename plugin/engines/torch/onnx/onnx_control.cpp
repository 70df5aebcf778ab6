// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// ONNX's operators with graphs in them: branches and loops.
#include "onnx_import.h"

#include "base/compose.h"

#include <cstddef>
#include <string>

namespace engine_torch
{
namespace
{

using dnn_torch::concat;
using enum NumberKind;

// ---- branches

// PyTorch's squeeze(): a branch without the dimension, and one that does nothing.
bool is_squeeze(const OnnxGraph &without, const OnnxGraph &as_is)
{
    return without.nodes.size() == 1 && as_is.nodes.size() == 1 &&
           without.nodes[0].type == "Squeeze" && as_is.nodes[0].type == "Identity" &&
           !without.nodes[0].inputs.empty() && !as_is.nodes[0].inputs.empty() &&
           without.nodes[0].inputs[0] == as_is.nodes[0].inputs[0];
}

Numbers axes_of_squeeze(OnnxImport &graph, const OnnxNode &node)
{
    Numbers axes;
    if (const auto given = node.attributes.find("axes"); given != node.attributes.end())
        for (const int64_t axis : given->second.numbers)
            axes.push_back(literal_of(axis));
    return node.inputs.size() > 1 ? graph.find(node.inputs[1]).numbers.value_or(axes) : axes;
}

// What follows needs the number of dimensions, so it fails if this one is not 1.
void give_squeezed(OnnxImport &graph, const OnnxNode &node)
{
    const Expression x = graph.tensor_of(node.inputs[0]);
    const GraphValue value = graph.find(node.inputs[0]);
    const Numbers axes = axes_of_squeeze(graph, node);
    const std::optional<int64_t> given = axes.size() == 1 ? known_whole(axes[0]) : std::nullopt;
    if (!given || value.rank < 0)
        graph.refuse("removes dimensions that the file does not tell");
    const int64_t axis = graph.axis(*given, value.rank);
    Numbers sizes;
    for (int64_t i = 0; i < value.rank; i++)
        if (i != axis)
            sizes.push_back(concat(x, ".size(", i, ")"));
    graph.give(concat("torch.reshape(", x, ", ", list_of(sizes), ")"), value.rank - 1, value.kind);
}

// The branch of an operator that has two.
const OnnxGraph &branch_of(OnnxImport &graph, const char *name)
{
    const OnnxAttribute *const given = graph.attribute(name);
    if (!given || !given->graph)
        graph.refuse("has no branches");
    return *given->graph;
}

// What a graph of an attribute returns from that place on, as tensors.
std::vector<GraphValue> tensors_of(OnnxImport &graph, const OnnxGraph &inner, size_t first = 0)
{
    std::vector<GraphValue> values;
    for (size_t i = first; i < inner.outputs.size(); i++) {
        graph.tensor_of(inner.outputs[i].name);
        values.push_back(graph.find(inner.outputs[i].name));
    }
    return values;
}

// Writes a branch that sets the variables.
std::vector<GraphValue> write_branch(OnnxImport &graph, const OnnxGraph &inner,
                                     const std::vector<Expression> &variables)
{
    const OnnxImport::Scope scope(graph);
    graph.run_nodes(inner);
    const std::vector<GraphValue> values = tensors_of(graph, inner);
    if (values.size() != variables.size())
        graph.refuse("has branches that return different numbers of tensors");
    for (size_t i = 0; i < values.size(); i++)
        graph.net().line(concat(variables[i], " = ", values[i].tensor));
    return values;
}

// A branch that the model takes while it runs.
void branch_at_run_time(OnnxImport &graph, const OnnxGraph &yes, const OnnxGraph &no)
{
    Net &net = graph.net();
    std::vector<Expression> variables;
    for (size_t i = 0; i < graph.output_count(); i++)
        variables.push_back(net.new_name());
    net.begin(graph.truth_of(0));
    const std::vector<GraphValue> first = write_branch(graph, yes, variables);
    net.otherwise();
    const std::vector<GraphValue> second = write_branch(graph, no, variables);
    net.end();
    for (size_t i = 0; i < variables.size(); i++) {
        if (first[i].kind != second[i].kind)
            graph.refuse("has branches that return numbers of different types");
        graph.give_value({.tensor = variables[i],
                          .kind = first[i].kind,
                          .rank = first[i].rank == second[i].rank ? first[i].rank : -1},
                         i);
    }
}

// One branch where the file tells which.
void branch(OnnxImport &graph)
{
    const OnnxGraph &yes = branch_of(graph, "then_branch"), &no = branch_of(graph, "else_branch");
    const auto condition = graph.numbers(0);
    if (condition && condition->size() == 1 && condition->front() == "True")
        return graph.run_inside(yes);
    if (condition && condition->size() == 1 && condition->front() == "False")
        return graph.run_inside(no);
    if (is_squeeze(yes, no))
        return give_squeezed(graph, yes.nodes[0]);
    branch_at_run_time(graph, yes, no);
}

// ---- loops

// A loop takes its number of rounds, a condition, and tensors that its body changes; the body
// returns the condition, those tensors, and others that are stacked.
struct Loop {
    const OnnxGraph &body;
    size_t carried = 0;
    Expression goes_on; // "": as long as there are rounds
    std::vector<Expression> variables, lists;
    std::vector<GraphValue> values = {}; // of the variables
};

// No network has as many: rounds beyond are an error while the model runs.
constexpr int64_t most_rounds = 10'000;

Loop loop_of(OnnxImport &graph)
{
    const OnnxAttribute *const body = graph.attribute("body");
    if (!body || !body->graph || graph.input_count() < 2)
        graph.refuse("has no body");
    Loop loop = {.body = *body->graph, .carried = graph.input_count() - 2};
    if (loop.body.inputs.size() != loop.carried + 2 ||
        loop.body.outputs.size() < loop.carried + 1 ||
        loop.body.outputs.size() - 1 != graph.output_count())
        graph.refuse("has a body that takes or returns other tensors than it should");
    return loop;
}

void define_variables(OnnxImport &graph, Loop &loop)
{
    Net &net = graph.net();
    for (size_t i = 0; i < loop.carried; i++) {
        const OnnxValue &inside = loop.body.inputs[i + 2];
        const Expression first = graph.tensor(i + 2);
        GraphValue value = {.tensor = net.let(first),
                            .kind = graph.kind(i + 2),
                            .rank = inside.has_shape ? static_cast<int>(inside.shape.size())
                                                     : graph.rank(i + 2)};
        if (graph.rank(i + 2) >= 0 && graph.rank(i + 2) != value.rank)
            value.rank = -1;
        loop.variables.push_back(value.tensor);
        loop.values.push_back(std::move(value));
    }
    for (size_t i = loop.carried + 1; i < loop.body.outputs.size(); i++) {
        loop.lists.push_back(net.new_name());
        net.line(concat(loop.lists.back(), ": List[Tensor] = []"));
    }
}

void define_inside(OnnxImport &graph, const Loop &loop, const std::string &round)
{
    const auto &inputs = loop.body.inputs;
    graph.define(inputs[0].name, {.kind = whole, .rank = 0, .numbers = Numbers{round}});
    graph.define(inputs[1].name, {.kind = truth, .rank = 0, .numbers = Numbers{"True"}});
    for (size_t i = 0; i < loop.carried; i++)
        graph.define(inputs[i + 2].name, loop.values[i]);
}

// Returns the values of the body's stacked outputs.
std::vector<GraphValue> write_body(OnnxImport &graph, const Loop &loop, const std::string &round)
{
    Net &net = graph.net();
    const OnnxImport::Scope scope(graph);
    define_inside(graph, loop, round);
    graph.run_nodes(loop.body);
    const std::string condition =
        loop.goes_on.empty() ? "" : graph.truth_of_value(loop.body.outputs[0].name);
    std::vector<GraphValue> values = tensors_of(graph, loop.body, 1);
    for (size_t i = 0; i < loop.carried; i++) {
        const GraphValue &made = values[i], &given = loop.values[i];
        if (made.kind != given.kind || (given.rank >= 0 && made.rank != given.rank))
            graph.refuse("changes the type of a tensor, or its number of dimensions");
    }
    // Variables are set last, because all else may be made of what they were, and one may be
    // another's next value.
    if (!condition.empty())
        net.line(concat(loop.goes_on, " = ", condition));
    for (size_t i = 0; i < loop.lists.size(); i++)
        net.line(concat(loop.lists[i], ".append(", values[loop.carried + i].tensor, ")"));
    std::vector<Expression> made;
    for (size_t i = 0; i < loop.carried; i++)
        made.push_back(net.let(values[i].tensor));
    for (size_t i = 0; i < loop.carried; i++)
        net.line(concat(loop.variables[i], " = ", made[i]));
    values.erase(values.begin(), values.begin() + static_cast<ptrdiff_t>(loop.carried));
    return values;
}

// The number of rounds as a whole number.
std::string rounds_of(OnnxImport &graph)
{
    if (!graph.has(0))
        return std::to_string(most_rounds + 1);
    return concat("min(", graph.number_of(0, whole), ", ", most_rounds + 1, ")");
}

// Whether the body may end the loop: PyTorch's exporter returns the constant True for "for".
bool may_end(OnnxImport &graph, const OnnxGraph &body)
{
    const std::string &name = body.outputs[0].name;
    if (const auto constant = graph.constant(name))
        return *constant != Numbers{"True"};
    for (const OnnxNode &node : body.nodes)
        if (node.type == "Identity" && node.outputs == std::vector{name} && node.inputs.size() == 1)
            return node.inputs[0] != body.inputs[1].name &&
                   graph.constant(node.inputs[0]) != Numbers{"True"};
    return name != body.inputs[1].name;
}

void loop(OnnxImport &graph)
{
    Loop loop = loop_of(graph);
    Net &net = graph.net();
    const bool begins = !graph.has(1) || graph.numbers(1) == Numbers{"True"};
    if (!begins || may_end(graph, loop.body))
        loop.goes_on = net.let(begins ? "True" : graph.truth_of(1));
    define_variables(graph, loop);
    const std::string rounds = net.let(rounds_of(graph)), round = net.new_name();
    net.begin_for(concat(round, " in range(", rounds, ")"));
    if (!loop.goes_on.empty()) {
        net.begin(concat("not ", loop.goes_on));
        net.line("break");
        net.end();
    }
    net.line(concat("assert ", round, " < ", most_rounds, R"(, "a loop of more than )", most_rounds,
                    R"( rounds")"));
    const std::vector<GraphValue> stacked = write_body(graph, loop, round);
    net.end();
    for (size_t i = 0; i < loop.carried; i++)
        graph.give_value(loop.values[i], i);
    for (size_t i = 0; i < stacked.size(); i++)
        graph.give(concat("torch.stack(", loop.lists[i], ")"),
                   stacked[i].rank < 0 ? -1 : stacked[i].rank + 1, stacked[i].kind,
                   loop.carried + i);
}

} // namespace

const OnnxRecipes &onnx_control()
{
    static const OnnxRecipes recipes = {
        {"If", branch},
        {"Loop", loop},
    };
    return recipes;
}

} // namespace engine_torch
