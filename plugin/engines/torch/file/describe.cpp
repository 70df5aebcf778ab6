// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "describe.h"

#include "base/compose.h"
#include "engine_kit/text.h"
#include "engines/torch/failure.h"
#include "engines/torch/program/argument_guards.h"
#include "engines/torch/program/graph_checks.h"
#include "load.h"
#include "permission_check.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace engine_torch
{
namespace
{

using torch::jit::Module;

template <size_t Size> void copy(const std::string &text, char (&to)[Size])
{
    copy_as_line(text, to, Size);
}

template <size_t Size>
void add(const std::string &name, const std::string &type, DnnTorchValue (&values)[Size],
         int32_t &count)
{
    if (count < static_cast<int32_t>(Size)) {
        copy(name, values[count].name);
        copy(type, values[count].type);
    }
    count++;
}

// "__torch__.nets.___torch_mangle_3.Net" is nets.Net to whoever wrote it.
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

void describe_inputs(const Module &module, DnnTorchDescription &description)
{
    for (const c10::Argument &argument : arguments_of(module))
        add(argument.name(),
            argument.type()->annotation_str() + (argument.default_value() ? ", optional" : ""),
            description.inputs, description.input_count);
}

// The parts of a tuple have numbers for names, as the option `output` takes them.
void describe_outputs(const Module &module, DnnTorchDescription &description)
{
    const auto &schema = module.get_method("forward").function().getSchema();
    for (const c10::Argument &result : schema.returns())
        if (const auto tuple = result.type()->cast<c10::TupleType>()) {
            int number = 0;
            for (const c10::TypePtr &element : tuple->elements())
                add(std::to_string(number++), element->annotation_str(), description.outputs,
                    description.output_count);
        } else {
            add(result.name(), result.type()->annotation_str(), description.outputs,
                description.output_count);
        }
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

// Parameters, and what was one before the model was frozen.  Single numbers in
// the code are arithmetic and nothing that was learnt.
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

void describe_parameters(const Module &module, DnnTorchDescription &description)
{
    std::map<std::string, int64_t> counts;
    std::set<const void *> seen;
    description.parameters_known = 1;
    for (const at::Tensor &tensor : parameters_of(module)) {
        if (!seen.insert(tensor.unsafeGetTensorImpl()).second)
            continue;
        description.parameters += tensor.numel();
        description.parameter_bytes += tensor.numel() * static_cast<int64_t>(tensor.element_size());
        counts[name_of(tensor.scalar_type())] += tensor.numel();
    }
    std::multimap<int64_t, std::string, std::greater<>> by_count;
    for (const auto &[name, count] : counts)
        by_count.emplace(count, name);
    std::string names;
    for (const auto &[count, name] : by_count)
        dnn_torch::add_to_list(names, name);
    copy(names, description.precision);
}

void describe_refused(const std::vector<std::string> &names, DnnTorchDescription &description)
{
    for (const std::string &name : names)
        add(name, "", description.refused, description.refused_count);
}

void describe_module(const Module &module, DnnTorchDescription &description)
{
    describe_refused(find_refused(module, Permissions()), description);
    if (const std::string name = find_unbounded_argument(module); !name.empty())
        add(name, "", description.refused, description.refused_count);
    copy(origin_of(module), description.origin);
    describe_parameters(module, description);
    if (!module.find_method("forward"))
        return;
    describe_inputs(module, description);
    describe_outputs(module, description);
}

// False where LibTorch does not know what is refused in any case.
bool describe_loaded(const Archive &archive, DnnTorchDescription &description)
{
    try {
        describe_module(load_any_module(archive, c10::kCPU), description);
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

DnnTorchDescription describe(const std::string &path)
{
    if (path.empty())
        throw Failure(DNN_TORCH_BAD_OPTION, "no model is given");
    DnnTorchDescription description = {};
    const Archive archive(path);
    copy(format_of(archive), description.format);
    const Permissions permissions;
    const bool runs_code = runs_while_loading(archive.facts(), permissions);
    if (!runs_code && describe_loaded(archive, description))
        return description;
    if (runs_code)
        add(loading_code, "", description.refused, description.refused_count);
    describe_refused(find_refused(archive.facts(), permissions), description);
    return description;
}

} // namespace engine_torch
