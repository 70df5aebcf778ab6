// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "onnx_network.h"

#include "base/compose.h"
#include "engine_kit/content_hash.h"
#include "engine_kit/failure.h"
#include "engine_kit/text.h"
#include "engines/torch/graphs/graph_contract.h"
#include "external_tensors.h"
#include "onnx_import.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace engine_torch
{
namespace
{

using dnn_torch::concat;

std::string take_inputs(const OnnxModel &model, OnnxImport &graph)
{
    std::set<std::string> names;
    std::string arguments;
    for (const OnnxValue &input : model.inputs) {
        const std::string name = python_name(input.name);
        if (!names.insert(name).second)
            throw WeightFault(concat("is an ONNX model with two inputs that are called ", name));
        if (!input.type)
            throw WeightFault("is an ONNX model with an input of a type that is not known here");
        const NumberKind kind = kind_of(*input.type);
        const bool is_whole = kind == NumberKind::whole; // bytes would wrap around
        graph.define(input.name,
                     {.tensor = is_whole ? graph.net().let(concat(name, ".to(4)")) : name,
                      .kind = kind,
                      .rank = input.has_shape ? static_cast<int>(input.shape.size()) : -1});
        arguments += concat(", ", name, ": Tensor");
    }
    return arguments;
}

std::string results_of(const OnnxModel &model, OnnxImport &graph)
{
    if (model.outputs.size() == 1)
        return graph.tensor_of(model.outputs[0].name);
    std::set<std::string> names;
    std::string list;
    for (const OnnxValue &output : model.outputs) {
        const std::string name = python_name(output.name);
        if (!names.insert(name).second)
            throw WeightFault(concat("is an ONNX model with two outputs that are called ", name));
        dnn_torch::add_to_list(list, concat("\"", name, "\": ", graph.tensor_of(output.name)));
    }
    return concat("{", list, "}");
}

// ---- what the graph tells

// The first input that may be a picture.
const OnnxValue *picture_of(const OnnxModel &model)
{
    for (const OnnxValue &input : model.inputs)
        if (input.has_shape && input.shape.size() == 4)
            return &input;
    return nullptr;
}

// Whether all operators compute the same for any height and width, so that an input whose size is
// fixed was only exported so.
bool fits_any_size(const OnnxModel &model)
{
    static const std::set<std::string> types = {"Abs",
                                                "Add",
                                                "AveragePool",
                                                "BatchNormalization",
                                                "Clip",
                                                "Concat",
                                                "Constant",
                                                "Conv",
                                                "ConvTranspose",
                                                "DepthToSpace",
                                                "Div",
                                                "Elu",
                                                "Erf",
                                                "Exp",
                                                "Gelu",
                                                "HardSigmoid",
                                                "HardSwish",
                                                "Identity",
                                                "InstanceNormalization",
                                                "LeakyRelu",
                                                "MaxPool",
                                                "Mish",
                                                "Mul",
                                                "Neg",
                                                "PRelu",
                                                "Relu",
                                                "Sigmoid",
                                                "Softplus",
                                                "SpaceToDepth",
                                                "Sqrt",
                                                "Sub",
                                                "Tanh",
                                                "Upsample",
                                                "GlobalAveragePool"};
    return std::all_of(model.nodes.begin(), model.nodes.end(), [](const OnnxNode &node) {
        const bool has_sizes = node.inputs.size() > 3 && !node.inputs[3].empty();
        return types.count(node.type) > 0 || (node.type == "Resize" && !has_sizes);
    });
}

std::string contract_of(const OnnxModel &model, bool is_any_size)
{
    const OnnxValue *const picture = picture_of(model);
    return picture ? picture_contract(picture->type, picture->shape, is_any_size) : "{}";
}

} // namespace

namespace
{

// ---- Ultralytics' texts

std::string json_string(std::string_view text)
{
    std::string json = "\"";
    for (const char c : engine_kit::printable(text)) {
        if (c == '"' || c == '\\')
            json += '\\';
        json += c;
    }
    return json + "\"";
}

// A text of Python's str() as JSON: "{0: 'person'}" becomes {"0": "person"}.  A plain word becomes
// a string.  Whoever reads the result checks it.
std::string json_of(std::string_view text)
{
    const bool is_plain = text.empty() || (!std::isdigit(static_cast<unsigned char>(text[0])) &&
                                           text[0] != '{' && text[0] != '[');
    if (text == "True" || text == "False")
        return text == "True" ? "true" : "false";
    if (is_plain)
        return json_string(text);
    std::string json;
    for (size_t i = 0; i < text.size(); i++) {
        const char c = text[i];
        if (c == '\'' || c == '"') {
            std::string word;
            for (i++; i < text.size() && text[i] != c; i++)
                word += text[i] == '\\' && i + 1 < text.size() ? text[++i] : text[i];
            json += json_string(word);
        } else if (std::isdigit(static_cast<unsigned char>(c))) {
            const size_t end = std::min(text.find_first_not_of("0123456789.", i), text.size());
            const std::string number(text.substr(i, end - i));
            json += end < text.size() && text[end] == ':' ? json_string(number) : number;
            i = end - 1;
        } else {
            json += c;
        }
    }
    return json;
}

} // namespace

OnnxNetwork build_network(const OnnxModel &model)
{
    OnnxNetwork made;
    Weights::Map weights;
    for (const auto &[name, weight] : model.tensors)
        if (!weight.bytes.empty())
            weights.emplace(name, weight);
    made.weights = Weights(std::move(weights));
    Net net(made.weights, "ONNX");
    OnnxImport graph(model, net, python_name(model.inputs.front().name));
    graph.expect_known();
    const std::string arguments = take_inputs(model, graph);
    graph.run();
    const std::string results = results_of(model, graph);
    made.network = net.finish_as(arguments, results);
    made.contract = contract_of(model, fits_any_size(model));
    return made;
}

std::string ultralytics_of(const OnnxModel &model)
{
    const auto has = [&](const char *key) { return model.properties.count(key) > 0; };
    if (!has("task") || !has("stride") || !has("names"))
        return "";
    std::string fields;
    const OnnxValue *const picture = picture_of(model);
    const bool is_fixed = picture && picture->shape[2] > 0 && picture->shape[3] > 0;
    for (const char *key : {"task", "stride", "names", "imgsz", "batch", "kpt_shape", "end2end",
                            "author", "license", "channels"})
        if (const auto found = model.properties.find(key);
            found != model.properties.end() && (is_fixed || std::string_view(key) != "imgsz"))
            dnn_torch::add_to_list(fields, concat("\"", key, "\": ", json_of(found->second)));
    return concat("{", fields, "}");
}

namespace
{

using Files = std::shared_ptr<const std::vector<FileBytes>>;

RuntimeGraph::Description description_of(const OnnxModel &model)
{
    RuntimeGraph::Description description;
    for (const OnnxValue &input : model.inputs) {
        if (!input.type)
            throw WeightFault("the type of an input is not known here");
        description.inputs.push_back({.name = input.name, .type = *input.type, .shape = {}});
        if (input.has_shape)
            description.inputs.back().shape = input.shape;
    }
    for (const OnnxValue &output : model.outputs)
        description.outputs.push_back(output.name);
    return description;
}

Blueprint network_that_calls(const RuntimeGraph &graph)
{
    OutsideCall call = {
        .function = run_onnx, .number = graph.number(), .inputs = {}, .outputs = {}};
    for (const RuntimeInput &input : graph.description().inputs)
        call.inputs.push_back(python_name(input.name));
    for (const std::string &output : graph.description().outputs)
        call.outputs.push_back(python_name(output));
    return network_that_calls(call, "ONNX");
}

void expect_different(const std::vector<std::string> &names, const char *what)
{
    std::set<std::string> seen;
    for (const std::string &name : names)
        if (!seen.insert(python_name(name)).second)
            throw WeightFault(concat("two ", what, " are called ", python_name(name)));
}

std::shared_ptr<const RuntimeGraph> open_in_runtime(const OnnxModel &model, const Files &files)
{
    const RuntimeGraph::Description description = description_of(model);
    std::vector<std::string> inputs;
    for (const RuntimeInput &input : description.inputs)
        inputs.push_back(input.name);
    expect_different(inputs, "inputs");
    expect_different(description.outputs, "outputs");
    return RuntimeGraph::make(files, description);
}

// `fault` is why the graph was not turned into code.
OnnxNetwork network_in_runtime(const OnnxModel &model, const Files &files, const WeightFault &fault)
{
    if (onnx_runtime_version().empty())
        throw WeightFault(concat(fault.what(), ", or install ONNX Runtime 1.18 or later"));
    expect_no_other_file(files->front().bytes(), [&](const std::string &name) {
        return std::any_of(files->begin() + 1, files->end(),
                           [&](const FileBytes &part) { return part.name() == name; });
    });
    OnnxNetwork made;
    try {
        made.runtime = open_in_runtime(model, files);
    } catch (const WeightFault &other) {
        throw WeightFault(concat(fault.what(), "; ONNX Runtime ", onnx_runtime_version(),
                                 " does not take it either: ", other.what()));
    }
    made.network = network_that_calls(*made.runtime);
    made.contract = contract_of(model, false);
    made.reason = fault.what();
    return made;
}

} // namespace

OnnxFile::OnnxFile(FileBytes file, std::vector<FileBytes> parts)
{
    parts.insert(parts.begin(), std::move(file));
    files_ = std::make_shared<const std::vector<FileBytes>>(std::move(parts));
    OnnxParts given;
    for (size_t i = 1; i < files_->size(); i++)
        given.emplace((*files_)[i].name(), (*files_)[i].bytes());
    try {
        model_ = read_onnx(this->file().bytes(), given);
        if (!model_.absent.empty())
            throw engine_kit::Failure(DNN_TORCH_NEEDS_PARTS, dnn_torch::joined(model_.absent, "/"));
        try {
            network_ = build_network(model_);
        } catch (const WeightFault &fault) {
            network_ = network_in_runtime(model_, files_, fault);
        }
    } catch (const WeightFault &fault) {
        refuse(fault.what());
    }
}

std::string OnnxFile::hash() const
{
    std::vector<std::string> hashes;
    for (const FileBytes &each : *files_)
        hashes.push_back(content_hash(each.bytes()));
    return joined_hash(hashes);
}

} // namespace engine_torch
