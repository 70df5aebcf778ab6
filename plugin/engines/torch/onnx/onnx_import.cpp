// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "onnx_import.h"

#include "base/compose.h"
#include "engine_kit/text.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace engine_torch
{
namespace
{

using dnn_torch::concat;

// Also what graphs in attributes use.
void add_used(const OnnxNode &node, std::vector<std::string_view> &names)
{
    names.insert(names.end(), node.inputs.begin(), node.inputs.end());
    for (const auto &[name, attribute] : node.attributes)
        if (attribute.graph)
            for (const OnnxNode &inner : attribute.graph->nodes)
                add_used(inner, names);
}

// Each operator after those whose results it uses, otherwise in the file's order.  The converter to
// float16 puts some at the end.
std::vector<const OnnxNode *> ordered(const std::vector<OnnxNode> &nodes)
{
    std::map<std::string_view, size_t> makers;
    for (size_t i = 0; i < nodes.size(); i++)
        for (const std::string &name : nodes[i].outputs)
            makers.emplace(name, i);
    std::vector<std::vector<size_t>> users(nodes.size());
    std::vector<size_t> waits_for(nodes.size());
    std::set<size_t> ready;
    for (size_t i = 0; i < nodes.size(); i++) {
        std::vector<std::string_view> names;
        add_used(nodes[i], names);
        for (const std::string_view name : names)
            if (const auto maker = makers.find(name); !name.empty() && maker != makers.end()) {
                users[maker->second].push_back(i);
                waits_for[i]++;
            }
        if (waits_for[i] == 0)
            ready.insert(i);
    }
    std::vector<const OnnxNode *> order;
    while (!ready.empty()) {
        const size_t next = *ready.begin();
        ready.erase(ready.begin());
        order.push_back(&nodes[next]);
        for (const size_t user : users[next])
            if (--waits_for[user] == 0)
                ready.insert(user);
    }
    // Those that wait for each other tell what they lack.
    for (size_t i = 0; i < nodes.size(); i++)
        if (waits_for[i] > 0)
            order.push_back(&nodes[i]);
    return order;
}

const OnnxRecipe *find_recipe(const OnnxNode &node)
{
    const std::string name = node.domain.empty() ? node.type : concat(node.domain, ".", node.type);
    for (const OnnxRecipes *recipes : {&onnx_arithmetic(), &onnx_control(), &onnx_layers(),
                                       &onnx_places(), &onnx_recurrent(), &onnx_shapes()})
        if (const auto found = recipes->find(name); found != recipes->end())
            return &found->second;
    return nullptr;
}

void add_unknown(const OnnxGraph &graph, std::set<std::string> &unknown)
{
    for (const OnnxNode &node : graph.nodes) {
        if (!find_recipe(node))
            unknown.insert(node.domain.empty() ? node.type : concat(node.domain, ".", node.type));
        for (const auto &[name, attribute] : node.attributes)
            if (attribute.graph)
                add_unknown(*attribute.graph, unknown);
    }
}

} // namespace

OnnxImport::OnnxImport(const OnnxModel &model, Net &net, const Expression &input)
    : model_(model), net_(net), device_(concat(input, ".device"))
{
    for (const auto &[name, weight] : model.tensors)
        take(name, weight);
}

void OnnxImport::take(const std::string &name, const Weight &weight)
{
    GraphValue value = {.kind = kind_of(weight.type),
                        .rank = static_cast<int>(weight.shape.size()),
                        .numbers = numbers_in(weight),
                        .shape = weight.shape};
    values_.insert_or_assign(name, std::move(value));
}

// ---- values

const GraphValue &OnnxImport::find(const std::string &name)
{
    const auto found = values_.find(name);
    if (found == values_.end())
        throw WeightFault(concat("is an ONNX model whose operators are not in their order: ",
                                 engine_kit::printable(name), " is used before it is made"));
    return found->second;
}

void OnnxImport::define(const std::string &name, GraphValue value)
{
    values_.insert_or_assign(name, std::move(value));
}

Expression OnnxImport::tensor_of(const std::string &name)
{
    const GraphValue &known = find(name);
    if (!known.tensor.empty())
        return known.tensor;
    const auto weight = model_.tensors.find(name);
    GraphValue value = known;
    value.tensor =
        weight == model_.tensors.end() ? made_of_numbers(known) : of_file(name, weight->second);
    define(name, value);
    return value.tensor;
}

Expression OnnxImport::floats(size_t input)
{
    const auto weight = model_.tensors.find(name_of(input));
    if (kind(input) == NumberKind::real)
        return tensor(input);
    if (weight == model_.tensors.end() || kind(input) == NumberKind::truth)
        return net_.let(concat(tensor(input), ".to(6)"));
    Expression &known = floats_[weight->first];
    if (known.empty()) {
        const std::vector<int64_t> wholes = wholes_in(weight->second);
        known = net_.numbers(weight->second.shape, {wholes.begin(), wholes.end()});
    }
    return known;
}

Expression OnnxImport::of_file(const std::string &name, const Weight &weight)
{
    if (weight.bytes.empty())
        refuse(concat("computes with ", engine_kit::printable(name), ", which is empty"));
    return tensor_in_code(net_, name, weight);
}

Expression OnnxImport::made_of_numbers(const GraphValue &value)
{
    if (!value.numbers || value.numbers->empty())
        refuse("is computed from an empty tensor");
    const std::string numbers = value.rank == 0 ? value.numbers->front() : list_of(*value.numbers);
    const std::string shape =
        value.rank > 1 && value.shape ? concat(".reshape(", list_of(*value.shape), ")") : "";
    return net_.let(concat("torch.tensor(", numbers, ", device=", device_, ")", shape));
}

// ---- inputs

std::string OnnxImport::name_of(size_t input) const
{
    if (!has(input))
        refuse(concat("lacks its input ", input));
    return node_->inputs[input];
}

bool OnnxImport::has(size_t input) const
{
    return input < node_->inputs.size() && !node_->inputs[input].empty();
}

const GraphValue &OnnxImport::value(size_t input)
{
    return find(name_of(input));
}

int OnnxImport::known_rank(size_t input)
{
    if (rank(input) < 0)
        refuse("has an input whose number of dimensions the file does not tell");
    return rank(input);
}

std::optional<Numbers> OnnxImport::numbers(size_t input)
{
    return has(input) ? value(input).numbers : std::nullopt;
}

Numbers OnnxImport::numbers_of(size_t input)
{
    if (const std::optional<Numbers> known = numbers(input))
        return *known;
    refuse(concat("computes its input ", input, " from samples; it must follow from sizes"));
}

Number OnnxImport::number_of(size_t input, NumberKind kind)
{
    const char *const type = kind == NumberKind::whole ? "int" : "float";
    const std::optional<Numbers> known = numbers(input);
    return known && known->size() == 1 ? concat(type, "(", known->front(), ")")
                                       : concat(type, "(", tensor(input), ".item())");
}

std::vector<int64_t> OnnxImport::wholes_of(size_t input)
{
    std::vector<int64_t> wholes;
    for (const Number &number : numbers_of(input))
        if (const std::optional<int64_t> whole = known_whole(number))
            wholes.push_back(*whole);
        else
            refuse(concat("computes its input ", input, "; it must be a constant"));
    return wholes;
}

std::optional<ElementType> OnnxImport::type_in_file(size_t input) const
{
    const auto found =
        has(input) ? model_.tensors.find(node_->inputs[input]) : model_.tensors.end();
    return found == model_.tensors.end() ? std::nullopt : std::optional(found->second.type);
}

// ---- attributes

const OnnxAttribute *OnnxImport::attribute(std::string_view name) const
{
    const auto found = node_->attributes.find(name);
    return found == node_->attributes.end() ? nullptr : &found->second;
}

const OnnxAttribute *OnnxImport::attribute_as(std::string_view name, int64_t type) const
{
    const OnnxAttribute *const found = attribute(name);
    if (found && found->type != 0 && found->type != type)
        refuse(concat("has ", name, " of another type than it should be"));
    return found;
}

int64_t OnnxImport::whole(std::string_view name, int64_t otherwise) const
{
    const OnnxAttribute *const given = attribute_as(name, 2);
    return given ? given->number : otherwise;
}

int64_t OnnxImport::positive(std::string_view name, int64_t otherwise) const
{
    constexpr int64_t most = 65536;
    const int64_t number = whole(name, otherwise);
    if (number < 1 || number > most)
        refuse(concat("has ", name, " ", number, ", which makes no sense"));
    return number;
}

double OnnxImport::real(std::string_view name, double otherwise) const
{
    const OnnxAttribute *const found = attribute_as(name, 1);
    const double given = found ? double{found->real} : otherwise;
    if (!std::isfinite(given))
        refuse(concat("has ", name, " that is no finite number"));
    return given;
}

std::string OnnxImport::text(std::string_view name, const std::string &otherwise) const
{
    const OnnxAttribute *const given = attribute_as(name, 3);
    return given ? given->text : otherwise;
}

std::vector<int64_t> OnnxImport::wholes(std::string_view name, std::vector<int64_t> otherwise) const
{
    const OnnxAttribute *const given = attribute_as(name, 7);
    return given ? given->numbers : std::move(otherwise);
}

std::optional<Numbers> OnnxImport::numbers_or_attribute(std::string_view name, size_t input)
{
    if (has(input))
        return numbers_of(input);
    if (!attribute(name))
        return std::nullopt;
    Numbers numbers;
    for (const int64_t number : attribute_as(name, 7)->numbers)
        numbers.push_back(literal_of(number));
    return numbers;
}

std::string OnnxImport::limits(std::optional<ElementType> type) const
{
    if (type == ElementType::int8)
        return "-128, 127";
    if (type == ElementType::int16)
        return "-32768, 32767";
    if (type != ElementType::uint8)
        refuse("makes numbers of a type that is not read here");
    return "0, 255";
}

int64_t OnnxImport::axis(int64_t given, int rank) const
{
    if (given < 0 && rank < 0)
        refuse("counts a dimension from the end of an unknown number of them");
    const int64_t axis = given < 0 ? given + rank : given;
    if (axis < 0 || (rank >= 0 && axis >= rank))
        refuse(concat("has no dimension ", given));
    return axis;
}

// ---- outputs

bool OnnxImport::wants(size_t output) const
{
    return output < node_->outputs.size() && !node_->outputs[output].empty();
}

// Texts that grow with each operator would fill the memory, and LibTorch's stack.
void OnnxImport::shorten(Numbers &numbers)
{
    constexpr size_t most = 1'000'000, longest = 200;
    number_count_ += numbers.size();
    if (numbers.size() > most_sizes || number_count_ > most)
        refuse("computes more sizes than any network has");
    for (Number &number : numbers)
        if (number.size() > longest)
            number = number.find('-') == number.npos ? net_.let(number)
                                                     : concat("(-(-", net_.let(number), "))");
}

void OnnxImport::give_value(GraphValue value, size_t output)
{
    if (!wants(output))
        return;
    const std::string &name = node_->outputs[output];
    if (values_.count(name) > 0)
        refuse(concat("makes ", name, ", which there is already"));
    if (value.numbers)
        shorten(*value.numbers);
    define(name, std::move(value));
}

void OnnxImport::give(const Expression &expression, int rank, NumberKind kind, size_t output)
{
    if (wants(output))
        give_value({.tensor = net_.let(expression), .kind = kind, .rank = rank}, output);
}

void OnnxImport::give_numbers(Numbers numbers, bool is_scalar, NumberKind kind)
{
    give_value({.kind = kind, .rank = is_scalar ? 0 : 1, .numbers = std::move(numbers)});
}

void OnnxImport::refuse(const std::string &words) const
{
    if (!node_)
        throw WeightFault(concat("is an ONNX model with an output that ", words));
    const std::string name = node_->name.empty() ? "" : concat(" (", node_->name, ")");
    throw WeightFault(
        engine_kit::printable(concat("is an ONNX model whose ", node_->type, name, " ", words)));
}

// ---- the graph

void OnnxImport::expect_known() const
{
    std::set<std::string> unknown;
    add_unknown(model_, unknown);
    if (!unknown.empty())
        throw WeightFault(engine_kit::printable(concat(
            "is an ONNX model with operators that are not read here: ", dnn_torch::joined(unknown),
            "; use the model's PyTorch file")));
}

void OnnxImport::run()
{
    constexpr int64_t oldest = 7;  // before that, operands spread out in another way
    constexpr int64_t newest = 25; // operators of later ones may compute something else
    if (model_.operators < oldest)
        throw WeightFault(concat("is an ONNX model of operators of version ", model_.operators,
                                 ", and 7 is the oldest that is read; export it again, or use "
                                 "onnx.version_converter"));
    if (model_.operators > newest)
        throw WeightFault(concat("is an ONNX model of operators of version ", model_.operators,
                                 ", and 25 is the newest that is read; export it again with "
                                 "opset_version=18"));
    for (const OnnxNode *node : ordered(model_.nodes))
        take_node(*node);
    node_ = nullptr;
}

void OnnxImport::take_node(const OnnxNode &node)
{
    node_ = &node;
    const OnnxRecipe *const recipe = find_recipe(node);
    if (!recipe)
        refuse("is not read here; use the model's PyTorch file");
    (*recipe)(*this);
}

void OnnxImport::run_nodes(const OnnxGraph &graph)
{
    const OnnxNode *const outer = node_;
    for (const OnnxNode *node : ordered(graph.nodes))
        take_node(*node);
    node_ = outer;
}

Expression OnnxImport::truth_of_value(const std::string &name)
{
    const GraphValue &value = find(name);
    if (value.numbers && value.numbers->size() == 1 && value.kind == NumberKind::truth)
        return value.numbers->front();
    return concat("bool(", tensor_of(name), ".item())");
}

std::optional<Numbers> OnnxImport::constant(const std::string &name) const
{
    const auto found = model_.tensors.find(name);
    return found == model_.tensors.end() ? std::nullopt : numbers_in(found->second);
}

// Each copies all values.
OnnxImport::Scope::Scope(OnnxImport &graph)
    : graph_(graph), values_(graph.values_), floats_(graph.floats_)
{
    constexpr size_t most = 256;
    if (++graph.scope_count_ > most)
        graph.refuse("is one of more than 256 blocks");
}

OnnxImport::Scope::~Scope()
{
    std::swap(graph_.values_, values_);
    std::swap(graph_.floats_, floats_);
}

void OnnxImport::run_inside(const OnnxGraph &graph)
{
    const OnnxNode *const outer = node_;
    run_nodes(graph);
    for (size_t i = 0; i < std::min(graph.outputs.size(), outer->outputs.size()); i++) {
        const std::string &name = graph.outputs[i].name;
        if (!find(name).numbers)
            tensor_of(name);
        give_value(find(name), i);
    }
}

} // namespace engine_torch
