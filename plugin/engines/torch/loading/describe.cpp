// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "describe.h"

#include "base/compose.h"
#include "engine_kit/text.h"
#include "engines/torch/architectures/element_types.h"
#include "engines/torch/failure.h"
#include "engines/torch/file/file_contract.h"
#include "engines/torch/file/permission_check.h"
#include "engines/torch/program/argument_guards.h"
#include "engines/torch/program/constants.h"
#include "engines/torch/program/graph_checks.h"
#include "load.h"

#include <algorithm>
#include <ATen/core/function_schema.h>
#include <functional>
#include <map>
#include <set>
#include <torch/csrc/jit/ir/constants.h>

namespace engine_torch
{
namespace
{

using torch::jit::Module;

using Names = std::vector<std::string>;

// Returns the name in the author's source: "nets.Net" for "__torch__.nets.___torch_mangle_3.Net".
std::string origin_of(const Module &module)
{
    std::string name = module.type()->name() ? module.type()->name()->qualifiedName() : "";
    constexpr std::string_view root = "__torch__.", mangled = "___torch_mangle_";
    if (name.compare(0, root.size(), root) == 0)
        name.erase(0, root.size());
    for (size_t at; (at = name.find(mangled)) != std::string::npos;) {
        const size_t dot = name.find('.', at);
        name.erase(at, dot == std::string::npos ? dot : dot + 1 - at);
    }
    return name;
}

std::vector<NamedType> inputs_of(const Module &module)
{
    std::vector<NamedType> inputs;
    for (const c10::Argument &argument : arguments_of(module))
        inputs.push_back({argument.name(), argument.type()->annotation_str() +
                                               (argument.default_value() ? ", optional" : "")});
    return inputs;
}

std::string below(const std::string &name, const std::string &part)
{
    return name.empty() ? part : dnn_torch::concat(name, ".", part);
}

constexpr size_t most_outputs = 100;

void add_outputs(const c10::TypePtr &type, const torch::jit::Value *value, const std::string &name,
                 std::vector<NamedType> &outputs);

// Names the elements of a tuple by its fields or by indices, as the option `output` takes them.
void add_tuple(const c10::TupleType &tuple, const torch::jit::Value *value, const std::string &name,
               std::vector<NamedType> &outputs)
{
    const bool is_known = value && value->node()->kind() == c10::prim::TupleConstruct;
    const auto &fields = tuple.schema();
    for (size_t i = 0; i < tuple.elements().size(); i++) {
        const std::string part = fields && i < fields->arguments().size()
                                     ? fields->arguments()[i].name()
                                     : std::to_string(i);
        add_outputs(tuple.elements()[i], is_known ? value->node()->input(i) : nullptr,
                    below(name, part), outputs);
    }
}

// Names the elements of a dict or a list, which only the code that builds it shows.  Returns false
// if it does not.
bool add_made(const c10::TypePtr &type, const torch::jit::Value *value, const std::string &name,
              std::vector<NamedType> &outputs)
{
    if (!value || value->uses().size() != 1)
        return false;
    const torch::jit::Node &maker = *value->node();
    const bool is_list = maker.kind() == c10::prim::ListConstruct;
    if (!is_list && maker.kind() != c10::prim::DictConstruct)
        return false;
    const size_t step = is_list ? 1 : 2;
    const c10::TypePtr element = type->containedTypes().back();
    for (size_t i = 0; i + step <= maker.inputs().size(); i += step) {
        const auto key = is_list ? c10::IValue(std::to_string(i))
                                 : torch::jit::toIValue(maker.input(i)).value_or(c10::IValue());
        if (!key.isString())
            return false;
        add_outputs(element, maker.input(i + step - 1), below(name, key.toStringRef()), outputs);
    }
    return !maker.inputs().empty();
}

void add_outputs(const c10::TypePtr &type, const torch::jit::Value *value, const std::string &name,
                 std::vector<NamedType> &outputs)
{
    const size_t before = outputs.size();
    if (before >= most_outputs)
        return;
    if (const auto tuple = type->cast<c10::TupleType>())
        return add_tuple(*tuple, value, name, outputs);
    const bool is_container =
        type->kind() == c10::TypeKind::ListType || type->kind() == c10::TypeKind::DictType;
    if (is_container && add_made(type, value, name, outputs))
        return;
    outputs.resize(before);
    outputs.push_back({.name = name, .type = type->annotation_str()});
}

std::vector<NamedType> outputs_of(const Module &module)
{
    std::vector<NamedType> outputs;
    const auto method = module.get_method("forward");
    const auto &returns = method.function().getSchema().returns();
    const auto results = method.graph()->outputs();
    for (size_t i = 0; i < returns.size(); i++)
        add_outputs(returns[i].type(), i < results.size() ? results[i] : nullptr, returns[i].name(),
                    outputs);
    return outputs;
}

std::string name_of(c10::ScalarType type)
{
    switch (type) {
    case c10::ScalarType::Float:
        return "fp32";
    case c10::ScalarType::Half:
        return "fp16";
    case c10::ScalarType::BFloat16:
        return "bf16";
    case c10::ScalarType::Double:
        return "fp64";
    default:
        return c10::toString(type);
    }
}

// Returns the parameters, and the tensors that were parameters before the model was frozen.  Skips
// single numbers in the code, which belong to the arithmetic and were not learnt.
std::vector<at::Tensor> parameters_of(const Module &module)
{
    std::vector<at::Tensor> tensors;
    for (const at::Tensor &tensor : module.parameters())
        tensors.push_back(tensor);
    for (const at::Tensor &tensor : tensors_in_code(module))
        if (tensor.defined() && tensor.is_floating_point() && tensor.numel() > 1)
            tensors.push_back(tensor);
    return tensors;
}

using ParameterCounts = std::map<at::ScalarType, int64_t>;

void describe_counts(const ParameterCounts &counts, Description &description)
{
    int64_t parameters = 0, bytes = 0;
    std::multimap<int64_t, std::string, std::greater<>> by_count;
    for (const auto &[type, count] : counts) {
        parameters += count;
        bytes += count * static_cast<int64_t>(c10::elementSize(type));
        by_count.emplace(count, name_of(type));
    }
    std::string names;
    for (const auto &[count, name] : by_count)
        dnn_torch::add_to_list(names, name);
    description.facts["parameters"] = std::to_string(parameters);
    description.facts["parameter_bytes"] = std::to_string(bytes);
    description.facts["precision"] = names;
}

void describe_parameters(const Module &module, Description &description)
{
    ParameterCounts counts;
    std::set<const void *> seen;
    for (const at::Tensor &tensor : parameters_of(module))
        if (seen.insert(tensor.unsafeGetTensorImpl()).second)
            counts[tensor.scalar_type()] += tensor.numel();
    describe_counts(counts, description);
}

// Of a graph whose tensors are not in a module.  Single numbers were not learnt.
void describe_weights(const OnnxModel &model, Description &description)
{
    ParameterCounts counts;
    for (const auto &[name, weight] : model.tensors) {
        int64_t count = 1;
        for (const int64_t extent : weight.shape)
            count *= extent;
        if (count > 1)
            counts[scalar_type(weight.type)] += count;
    }
    describe_counts(counts, description);
}

void describe_module(const Module &module, Description &description)
{
    if (const std::string origin = origin_of(module); !origin.empty())
        description.facts["origin"] = engine_kit::printable(origin);
    describe_parameters(module, description);
    if (!module.find_method("forward"))
        return;
    if (is_matting(module))
        add_contract("architecture_contract", matting_contract, description.facts);
    description.inputs = inputs_of(module);
    description.outputs = outputs_of(module);
}

void add_refused(const Names &names, Description &description)
{
    std::string &lines = description.facts["refused"];
    for (const std::string &name : names)
        lines.append(lines.empty() ? "" : "\n").append(engine_kit::printable(name));
}

void add_extras(const Archive &archive, Description &description)
{
    constexpr std::pair<std::string_view, std::string_view> keys[] = {
        {own_contract_record, "file_contract"}, {ultralytics_record, "ultralytics"}};
    for (const auto &[record, key] : keys)
        if (const auto found = archive.extras().find(std::string(record));
            found != archive.extras().end())
            add_contract(key, found->second, description.facts);
}

// Returns false if LibTorch cannot load the file because it does not know an operator that is
// refused anyway.
bool inspect_loaded(const Archive &archive, Description &description)
{
    try {
        const Module module = load_any_module(archive, c10::kCPU);
        add_refused(find_refused(module, Permissions()), description);
        if (const auto call = find_unsound_call(module))
            add_refused({call->name}, description);
        describe_module(module, description);
        return true;
    } catch (const Failure &) {
        if (find_refused(archive.facts(), Permissions()).empty())
            throw;
        return false;
    }
}

std::string format_of(const Archive &archive)
{
    const auto &records = archive.records();
    const auto version = records.find(records.count("version") ? "version" : ".data/version");
    return "TorchScript, file format " +
           std::string(version->second.substr(0, version->second.find('\n')));
}

} // namespace

Description inspect(const Archive &archive)
{
    Description description;
    description.facts["format"] = engine_kit::printable(format_of(archive));
    add_extras(archive, description);
    const Permissions permissions;
    const bool runs_code = runs_while_loading(archive.facts(), permissions);
    if (!runs_code && inspect_loaded(archive, description))
        return description;
    if (runs_code)
        add_refused({loading_code}, description);
    add_refused(find_refused(archive.facts(), permissions), description);
    return description;
}

Description describe(const Archive &archive, const Module &module)
{
    Description description;
    description.facts["format"] = engine_kit::printable(format_of(archive));
    add_extras(archive, description);
    describe_module(module, description);
    return description;
}

Description describe(const Checkpoint &checkpoint, const Recognised &recognised,
                     const Module &module)
{
    const Blueprint &network = recognised.network;
    const std::string &place = recognised.candidate->place;
    Description description;
    describe_module(module, description);
    std::string &parameters = description.facts["architecture_parameters"];
    for (const auto &[name, value] : network.parameters)
        dnn_torch::add_to_list(parameters, dnn_torch::concat(name, " ", value), "\n");
    description.facts["format"] =
        dnn_torch::concat(checkpoint.format(), place.empty() ? "" : ": ", place);
    description.facts.erase("origin"); // the module was generated here
    description.facts["architecture"] = network.architecture;
    description.facts["architecture_scale"] = std::to_string(network.scale);
    add_contract("architecture_contract", contract_of(network), description.facts);
    return description;
}

Description describe(const OnnxFile &file, const Module &module)
{
    Description description;
    describe_module(module, description);
    const OnnxModel &model = file.model();
    description.facts["format"] = dnn_torch::concat("ONNX", model.producer.empty() ? "" : " of ",
                                                    model.producer, ", file format ", model.version,
                                                    ", operators of version ", model.operators);
    if (file.network().runtime) {
        description.facts["format"] += ", run by ONNX Runtime " + onnx_runtime_version();
        describe_weights(model, description);
    }
    description.facts.erase("origin"); // the module was generated here
    add_contract("graph_contract", file.network().contract, description.facts);
    const auto own = model.properties.find(own_contract_record);
    if (own != model.properties.end())
        add_contract("file_contract", own->second, description.facts);
    if (const std::string exported = ultralytics_of(model); !exported.empty())
        add_contract("ultralytics", exported, description.facts);
    return description;
}

Description describe(const ExportFile &file, const Module &module)
{
    Description description;
    describe_module(module, description);
    description.facts["format"] = dnn_torch::concat("torch.export of PyTorch ", file.version());
    description.facts.erase("origin"); // the module was generated here
    add_contract("graph_contract", file.graph_contract(), description.facts);
    if (!file.own_contract().empty())
        add_contract("file_contract", file.own_contract(), description.facts);
    return description;
}

Description describe(const CompiledPackage &package)
{
    Description description;
    description.facts["format"] =
        dnn_torch::concat("AOTInductor package for LibTorch ", package.libtorch());
    for (const CompiledInput &input : package.interface().inputs)
        description.inputs.push_back({.name = input.name, .type = "Tensor"});
    const auto &outputs = package.interface().outputs;
    for (const std::string &output : outputs)
        description.outputs.push_back({.name = outputs.size() > 1 ? output : "", .type = "Tensor"});
    add_contract("graph_contract", package.contract(), description.facts);
    return description;
}

} // namespace engine_torch
