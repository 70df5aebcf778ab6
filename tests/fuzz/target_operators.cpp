// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Calls of all operators that a model may use, with any arguments, as the engine lets them through:
// behind the bounds that it sets.  LibTorch is the system's; guarded_memory.h finds what leaves a
// tensor.
#include "digest.h"
#include "fuzz.h"
#include "guarded_memory.h"
#include "operator_arguments.h"

#include "engines/torch/file/permission_check.h"
#include "engines/torch/program/argument_guards.h"
#include "engines/torch/program/sound_arguments.h"
#include "engines/torch/program/vision_operators.h"

#include <algorithm>
#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/view_as_real.h>
#include <ATen/Parallel.h>
#include <cmath>
#include <map>
#include <optional>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/version.h>

namespace
{

using c10::IValue;
using fuzz::Digest;
using fuzz::Ending;
using fuzz::Json;
using fuzz::OperatorPointer;
using fuzz::Outcome;
using fuzz::Random;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;
using Values = std::vector<IValue>;

// By name and overload, as in "aten::add.Tensor".
std::map<std::string, OperatorPointer> operators;
std::vector<std::string> names;

std::string whole_name(const std::string &name, const std::string &overload)
{
    return overload.empty() ? name : name + "." + overload;
}

const OperatorPointer *operator_of(const Json &call)
{
    const auto found =
        operators.find(whole_name(call.value("operator", ""), call.value("overload", "")));
    return found == operators.end() ? nullptr : &found->second;
}

// ---- a model of one operator --------------------------------------------------------

struct Model {
    torch::jit::Module module{"__torch__.M"};
    std::shared_ptr<Graph> graph = std::make_shared<Graph>();
    std::vector<size_t> places; // of the arguments that are inputs; the others are constants
};

// LibTorch's own optional differs from version to version.
std::optional<Value *> constant_of(Graph &graph, const IValue &value)
{
    const auto constant = torch::jit::tryInsertConstant(graph, value);
    return constant ? std::optional(*constant) : std::nullopt;
}

Model model_of(const c10::FunctionSchema &schema, const Values &values)
{
    Model model;
    model.graph->addInput("self")->setType(model.module.type());
    std::vector<Value *> inputs;
    for (size_t i = 0; i < values.size(); i++) {
        const bool is_input = values[i].isTensor() || values[i].isTensorList();
        if (const auto constant = is_input ? std::nullopt : constant_of(*model.graph, values[i])) {
            inputs.push_back(*constant);
            continue;
        }
        inputs.push_back(model.graph->addInput()->setType(values[i].type()));
        model.places.push_back(i);
    }
    Node *node = model.graph->create(c10::Symbol::fromQualString(schema.name()), inputs,
                                     schema.returns().size());
    for (size_t i = 0; i < schema.returns().size(); i++)
        node->output(i)->setType(schema.returns()[i].type());
    model.graph->insertNode(node);
    // A method returns one value.
    if (node->outputs().size() == 1)
        model.graph->registerOutput(node->output());
    else
        model.graph->registerOutput(
            model.graph->insertNode(model.graph->createTuple(node->outputs()))->output());
    model.module.type()->addMethod(model.module._ivalue()->compilation_unit()->create_function(
        "__torch__.M.forward", model.graph));
    return model;
}

// ---- running it ------------------------------------------------------------------------

Values inputs_of(const Node &node, const std::map<const Value *, IValue> &known)
{
    Values inputs;
    for (const Value *input : node.inputs())
        inputs.push_back(known.at(input));
    return inputs;
}

// The graph has no branches.
Values run_nodes(const Model &model, const Values &values)
{
    std::map<const Value *, IValue> known;
    known[model.graph->inputs()[0]] = model.module._ivalue();
    for (size_t i = 0; i < model.places.size(); i++)
        known[model.graph->inputs()[i + 1]] = values[model.places[i]];
    for (const Node *node : model.graph->nodes()) {
        if (node->kind() == c10::prim::Constant) {
            known[node->output()] = *torch::jit::toIValue(node->output());
            continue;
        }
        Values stack = inputs_of(*node, known);
        if (node->kind() == c10::prim::ListConstruct) {
            c10::List<int64_t> list;
            for (const IValue &each : stack)
                list.push_back(each.toInt());
            stack = {list};
        } else if (node->kind() == c10::prim::TupleConstruct)
            return stack;
        else
            node->getOperation()(stack);
        for (size_t i = 0; i < node->outputs().size(); i++)
            known[node->outputs()[i]] = stack.at(i);
    }
    Values results;
    for (const Value *output : model.graph->outputs())
        results.push_back(known.at(output));
    return results;
}

// aten::view.dtype and some others are in the registry, and no code can name them.
bool can_be_compiled(const Model &model, const std::string &name)
{
    const auto nodes = model.graph->nodes();
    return std::all_of(nodes.begin(), nodes.end(), [&](const Node *node) {
        return node->kind() != c10::Symbol::fromQualString(name) || node->maybeOperator();
    });
}

// The node itself would find the overload that fits first.
bool is_changed(const Model &model, const std::string &name)
{
    size_t others = 0;
    for (const Node *node : model.graph->nodes())
        others += node->kind() != c10::prim::Constant &&
                  node->kind() != c10::prim::TupleConstruct &&
                  node->kind() != c10::Symbol::fromQualString(name);
    return others > 0;
}

void add_to(Digest &digest, const at::Tensor &tensor)
{
    if (!tensor.defined() || tensor.layout() != at::kStrided || tensor.is_meta() ||
        tensor.is_quantized() || tensor.numel() > 1 << 20)
        return;
    const at::Tensor plain = tensor.is_complex() ? at::view_as_real(tensor.resolve_conj()) : tensor;
    const at::Tensor numbers = plain.to(at::kDouble).contiguous();
    const auto *number = numbers.data_ptr<double>();
    for (int64_t i = 0; i < numbers.numel(); i++) {
        // Nobody promises which NaN it is.
        const double told = std::isnan(number[i]) ? 12345.0 : number[i];
        digest.add(&told, sizeof told);
    }
}

void add_to(Digest &digest, const IValue &value)
{
    if (value.isTensor())
        return add_to(digest, value.toTensor());
    if (value.isList())
        for (const IValue &each : value.toListRef())
            add_to(digest, each);
}

uint64_t digest_of_call(const Json &call, const OperatorPointer &called)
{
    at::manual_seed(1);
    const at::NoGradGuard no_gradients;
    Values values = fuzz::values_of(call, called->schema());
    const Model model = model_of(called->schema(), values);
    if (!can_be_compiled(model, called->schema().name()))
        throw std::invalid_argument("TorchScript hides this overload");
    if (engine_torch::find_unsound_call(model.module))
        throw std::invalid_argument("the engine refuses it");
    engine_torch::guard_arguments(model.module);
    engine_torch::clear_raw_memory(model.module);
    if (is_changed(model, called->schema().name()))
        values = run_nodes(model, values);
    else
        called->getOperation()(values);
    Digest digest;
    for (const IValue &value : values)
        add_to(digest, value);
    return digest.value();
}

Outcome run(std::string_view input)
{
    const Json call = Json::parse(input, nullptr, false);
    if (!call.is_object())
        return {};
    const OperatorPointer *called = operator_of(call);
    if (!called)
        return {Ending::refused, 0, "no such operator"};
    fuzz::input_is_about((*called)->schema().name());
    fuzz::input_runs(true);
    const auto side = call.value("begin", false) ? fuzz::Side::begin : fuzz::Side::end;
    try {
        fuzz::set_guard(side, 0x11);
        const uint64_t once = digest_of_call(call, *called);
        fuzz::set_guard(side, 0x22);
        if (digest_of_call(call, *called) != once)
            return {Ending::fault, 0,
                    "a result that depends on memory that nobody wrote, of " +
                        (*called)->schema().name()};
        return {Ending::accepted, once, ""};
    } catch (const c10::Error &error) {
        return {Ending::refused, 0, error.what_without_backtrace()};
    } catch (const std::exception &error) {
        return {Ending::refused, 0, error.what()};
    }
}

// ---- inputs ----------------------------------------------------------------------------

std::string change(std::string &input, fuzz::Family family, Random &random, const fuzz::Inputs &)
{
    Json call = Json::parse(input, nullptr, false);
    const OperatorPointer *called = call.is_object() ? operator_of(call) : nullptr;
    std::string words;
    if (!called || !random.one_in(4)) {
        called = &operators.at(random.pick(names));
        call = fuzz::likely_call((*called)->schema(), random);
        words =
            "call " + whole_name((*called)->schema().name(), (*called)->schema().overload_name());
    }
    if (words.empty() || family == fuzz::Family::rewriting)
        words += (words.empty() ? "spoil " : ", spoil ") +
                 fuzz::spoil(call, (*called)->schema(), random);
    input = call.dump(-1, ' ', true, Json::error_handler_t::replace);
    return words;
}

void prepare(const fuzz::Inputs &)
{
    at::set_num_threads(1);
    engine_torch::register_vision_operators();
    engine_torch::register_sound_arguments();
    const engine_torch::Permissions permissions;
    for (const OperatorPointer &each : torch::jit::getAllOperators()) {
        const c10::FunctionSchema &schema = each->schema();
        if (permissions.has_operator(schema.name()) && each->hasOperation() &&
            fuzz::can_be_called(schema))
            operators.emplace(whole_name(schema.name(), schema.overload_name()), each);
    }
    for (const auto &[name, each] : operators)
        names.push_back(name);
    fuzz::guard_tensors();
}

// The list of what is called.
std::string inventory()
{
    std::string text =
        "LibTorch " TORCH_VERSION ", " + std::to_string(names.size()) + " operators\n";
    for (const std::string &name : names)
        text += name + "\n";
    return text;
}

} // namespace

const fuzz::Target fuzz::target = {
    .name = "operators",
    .prepare = prepare,
    .run = run,
    .change = change,
    .damage_must_show = false,
    .seconds = 2,
    .memory = uint64_t{2} << 30,
    .inputs_a_fork = 500,
    .inventory = inventory,
};
