// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "export_network.h"

#include "base/compose.h"
#include "base/json_check.h"
#include "engine_kit/content_hash.h"
#include "engine_kit/text.h"
#include "engines/torch/graphs/graph_code.h"
#include "engines/torch/graphs/graph_contract.h"

#include <algorithm>
#include <set>

namespace engine_torch
{
namespace
{

using dnn_torch::concat;

[[noreturn]] void refuse_export(const std::string &words)
{
    throw WeightFault(engine_kit::printable(concat("is a torch.export program ", words)));
}

const ExportJson &signature_of(const ExportJson &program)
{
    return member_of(member_of(program, "graph_module"), "signature");
}

const ExportJson &graph_of(const ExportJson &program)
{
    return member_of(member_of(program, "graph_module"), "graph");
}

// ---- inputs

struct ExportInput {
    std::string name;
    const char *type; // of TorchScript
};

ExportInput input_of(const ExportJson &argument)
{
    const auto [kind, value] = union_of(argument);
    if (kind == "as_tensor")
        return {.name = text_in(value, "name"), .type = "Tensor"};
    if (kind == "as_sym_int")
        return {.name = text_in(value, "as_name"), .type = "int"};
    if (kind == "as_sym_float")
        return {.name = text_in(value, "as_name"), .type = "float"};
    if (kind == "as_sym_bool")
        return {.name = text_in(value, "as_name"), .type = "bool"};
    refuse_export("with an input of a kind that is not read");
}

// What forward() takes, in the order of the program.
std::vector<ExportInput> inputs_of(const ExportJson &program)
{
    std::vector<ExportInput> inputs;
    for (const ExportJson &each : list_in(signature_of(program), "input_specs")) {
        const auto [kind, about] = union_of(each);
        if (kind != "user_input")
            continue;
        const ExportJson &argument = member_of(about, "arg");
        const std::string_view given = union_of(argument).kind;
        // Numbers and the like were fixed by the export, and the graph does not use them.
        if (given == "as_tensor" || given.starts_with("as_sym_"))
            inputs.push_back(input_of(argument));
    }
    if (inputs.empty())
        refuse_export("without an input");
    return inputs;
}

std::string take_user_inputs(const std::vector<ExportInput> &inputs, ExportImport::Values &values)
{
    std::set<std::string> names;
    std::string arguments;
    for (const ExportInput &input : inputs) {
        const std::string name = python_name(input.name);
        if (!names.insert(name).second)
            refuse_export(concat("with two inputs that are called ", name));
        values.emplace(input.name, ExportValue{.text = name});
        arguments += concat(", ", name, ": ", input.type);
    }
    return arguments;
}

void take_tensors(const ExportJson &program, ExportImport::Values &values)
{
    constexpr std::pair<std::string_view, const char *> kinds[] = {
        {"parameter", "parameter_name"},
        {"buffer", "buffer_name"},
        {"tensor_constant", "tensor_constant_name"}};
    for (const ExportJson &each : list_in(signature_of(program), "input_specs")) {
        const ExportUnion about = union_of(each);
        for (const auto &[kind, key] : kinds)
            if (about.kind == kind)
                values.emplace(text_in(member_of(about.value, "arg"), "name"),
                               ExportValue{.weight = text_in(about.value, key)});
    }
}

// ---- outputs

constexpr int deepest_output = 32;

bool is_dictionary(const ExportJson &tree)
{
    return tree.is_object() && tree.contains("type") &&
           (tree["type"] == "builtins.dict" || tree["type"] == "collections.OrderedDict");
}

// Adds a name for each value of the tree that Python's pytree writes: "mask" or "boxes_0"; "" for
// a tree that is not read.
void name_leaves(const ExportJson &tree, const std::string &name, int depth,
                 std::vector<std::string> &names)
{
    constexpr size_t longest = 256;
    const auto parts = tree.is_object() ? tree.find("children_spec") : tree.end();
    const bool is_tree = tree.is_object() && parts != tree.end() && parts->is_array() &&
                         tree.contains("type") && depth < deepest_output && name.size() < longest;
    if (!is_tree || tree["type"].is_null())
        return names.push_back(is_tree ? name : "");
    ExportJson keys;
    if (is_dictionary(tree)) {
        const ExportJson context = tree.value("context", ExportJson());
        const std::string text = context.is_string() ? context.get<std::string>() : "";
        if (dnn_torch::fault_of_json(text, {.depth = 3, .values = 10'000}).empty())
            keys = ExportJson::parse(text);
    }
    for (size_t i = 0; i < parts->size(); i++) {
        const bool has_key = keys.is_array() && i < keys.size() && keys[i].is_string();
        const std::string each = has_key ? keys[i].get<std::string>() : std::to_string(i);
        name_leaves((*parts)[i], name.empty() ? each : concat(name, "_", each), depth + 1, names);
    }
}

// The tree of what the program returns, or null.
ExportJson tree_of_results(const ExportJson &program)
{
    const ExportJson &calls = list_in(member_of(program, "graph_module"), "module_call_graph");
    if (calls.empty() || !calls[0].is_object())
        return {};
    const ExportJson signature = calls[0].value("signature", ExportJson());
    const ExportJson tree =
        signature.is_object() ? signature.value("out_spec", ExportJson()) : ExportJson();
    const std::string text = tree.is_string() ? tree.get<std::string>() : "";
    if (!dnn_torch::fault_of_json(text, {.depth = 100, .values = 100'000}).empty())
        return {};
    const ExportJson parsed = ExportJson::parse(text);
    return parsed.is_array() && parsed.size() == 2 ? parsed[1] : ExportJson();
}

std::vector<const ExportJson *> results_in(const ExportJson &program)
{
    std::vector<const ExportJson *> results;
    for (const ExportJson &each : list_in(signature_of(program), "output_specs")) {
        const auto [kind, about] = union_of(each);
        if (kind == "user_output")
            results.push_back(&member_of(about, "arg"));
        else if (kind == "buffer_mutation" || kind == "parameter_mutation")
            refuse_export("that changes its own tensors while it runs; call model.eval() before "
                          "the export, or let forward() take and return what it remembers");
        else if (kind != "user_input_mutation")
            refuse_export(concat("that returns something which is not read (", kind, ")"));
    }
    return results;
}

std::string results_of(const ExportJson &program, ExportImport &graph)
{
    std::vector<std::string> names;
    const ExportJson tree = tree_of_results(program);
    name_leaves(tree, "", 0, names);
    const auto results = results_in(program);
    const bool is_named = is_dictionary(tree) && names.size() == results.size();
    std::set<std::string> known;
    std::string list;
    Expression alone;
    for (size_t i = 0; i < results.size(); i++) {
        if (union_of(*results[i]).kind != "as_tensor")
            continue; // a number is no picture
        const std::string name = is_named ? python_name(names[i]) : std::to_string(i);
        if (!known.insert(name).second)
            refuse_export(concat("with two outputs that are called ", name));
        alone = graph.value_of(*results[i]);
        dnn_torch::add_to_list(list, is_named ? concat("\"", name, "\": ", alone) : alone);
    }
    if (known.empty())
        refuse_export("that returns no tensor");
    if (known.size() == 1)
        return alone;
    return is_named ? concat("{", list, "}") : concat("(", list, ")");
}

// ---- what the graph tells

// Operators that compute the same for any height and width.
bool computes_at_any_size(std::string_view name)
{
    static const std::set<std::string_view> names = {
        "_native_batch_norm_legit_no_training",
        "_prelu_kernel",
        "abs",
        "add",
        "amax",
        "avg_pool2d",
        "batch_norm",
        "cat",
        "clamp",
        "clamp_max",
        "clamp_min",
        "clone",
        "contiguous",
        "conv2d",
        "conv_transpose2d",
        "convolution",
        "cos",
        "detach",
        "div",
        "dropout",
        "elu",
        "exp",
        "gelu",
        "hardsigmoid",
        "hardswish",
        "hardtanh",
        "instance_norm",
        "leaky_relu",
        "lift_fresh_copy",
        "log",
        "max_pool2d",
        "maximum",
        "mean",
        "minimum",
        "mish",
        "mul",
        "neg",
        "permute",
        "pixel_shuffle",
        "pixel_unshuffle",
        "pow",
        "prelu",
        "relu",
        "relu6",
        "rsqrt",
        "rsub",
        "sigmoid",
        "silu",
        "sin",
        "softplus",
        "sqrt",
        "square",
        "sub",
        "tanh",
        "transpose",
        "unsqueeze",
        "where",
    };
    return names.count(name.substr(0, name.find_last_not_of('_') + 1)) > 0;
}

// Operators that may cut a dimension, here not the height or width.
bool cuts_channels(std::string_view name, const ExportJson &node)
{
    static const std::set<std::string_view> names = {"chunk", "narrow",           "select", "slice",
                                                     "split", "split_with_sizes", "unbind"};
    if (names.count(name) == 0)
        return false;
    bool is_other = false, is_to_end = false, is_from_begin = true;
    for (const ExportJson &input : list_in(node, "inputs")) {
        const std::string argument = text_in(input, "name");
        const auto [kind, value] = union_of(member_of(input, "arg"));
        is_other = is_other || (argument == "dim" && kind == "as_int" && value == 1);
        is_to_end = is_to_end || (argument == "end" && kind == "as_int" && value == INT64_MAX);
        is_from_begin = is_from_begin && (argument != "start" || kind == "as_none" || value == 0);
    }
    return is_other || (is_from_begin && is_to_end && name == "slice");
}

bool enlarges_by_factor(std::string_view name, const ExportJson &node)
{
    const ExportJson &inputs = list_in(node, "inputs");
    return name.starts_with("upsample_") &&
           std::any_of(inputs.begin(), inputs.end(), [](const ExportJson &input) {
               return text_in(input, "name") == "output_size" &&
                      union_of(member_of(input, "arg")).kind == "as_none";
           });
}

// Whether nothing depends on the size, so that an input whose size is fixed was only exported so.
bool fits_any_size(const ExportJson &graph)
{
    constexpr std::string_view space = "torch.ops.aten.";
    const ExportJson &nodes = list_in(graph, "nodes");
    return std::all_of(nodes.begin(), nodes.end(), [&](const ExportJson &node) {
        const std::string target = text_in(node, "target");
        const std::string name = target.substr(std::min(target.size(), space.size()));
        const std::string_view plain = std::string_view(name).substr(0, name.find('.'));
        return target.starts_with(space) &&
               (computes_at_any_size(plain) || cuts_channels(plain, node) ||
                enlarges_by_factor(plain, node));
    });
}

// Returns the shape, in which -1 is any size.
std::vector<int64_t> export_shape_of(const ExportJson &about)
{
    std::vector<int64_t> shape;
    for (const ExportJson &each : list_in(about, "sizes")) {
        const auto [kind, value] = union_of(each);
        shape.push_back(kind == "as_int" ? whole_of(value) : -1);
    }
    return shape;
}

std::string contract_in(const ExportJson &program, const std::vector<ExportInput> &inputs)
{
    const ExportJson &graph = graph_of(program), &known = member_of(graph, "tensor_values");
    for (const ExportInput &input : inputs) {
        const auto about = known.find(input.name);
        if (about == known.end() || list_in(*about, "sizes").size() != 4)
            continue;
        return picture_contract(export_type(member_of(*about, "dtype")), export_shape_of(*about),
                                fits_any_size(graph));
    }
    return "{}";
}

} // namespace

ExportFile::ExportFile(FileBytes file, const OperatorLookup &lookup) : file_(std::move(file))
{
    try {
        archive_.emplace(file_.bytes());
        build(lookup);
    } catch (const WeightFault &fault) {
        refuse(fault.what());
    }
}

void ExportFile::build(const OperatorLookup &lookup)
{
    const ExportJson &program = archive_->program(), &graph = graph_of(program);
    Weights::Map filled;
    for (const auto &[name, weight] : archive_->tensors())
        if (!weight.bytes.empty())
            filled.emplace(name, weight);
    weights_ = Weights(std::move(filled));
    Net net(weights_, "torch.export");
    ExportImport::Values values;
    const std::vector<ExportInput> inputs = inputs_of(program);
    const std::string arguments = take_user_inputs(inputs, values);
    take_tensors(program, values);
    ExportImport code(archive_->tensors(), net, concat(python_name(inputs.front().name), ".device"),
                      lookup);
    code.expect_known(graph);
    code.run(graph, std::move(values));
    const std::string results = results_of(program, code);
    network_ = net.finish_as(arguments, results);
    graph_contract_ = contract_in(program, inputs);
    version_ = engine_kit::printable(text_in(program, "torch_version").substr(0, 40));
}

std::string ExportFile::hash() const
{
    return content_hash(file_.bytes());
}

} // namespace engine_torch
