// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "load.h"

#include "base/compose.h"
#include "base/standard_error.h"
#include "engine_kit/text.h"
#include "engines/torch/architectures/build_module.h"
#include "engines/torch/failure.h"
#include "engines/torch/file/archive_adapter.h"
#include "engines/torch/file/permission_check.h"
#include "engines/torch/onnx/runtime_operator.h"
#include "engines/torch/program/argument_guards.h"
#include "engines/torch/program/forks.h"
#include "engines/torch/program/value_check.h"
#include "torchvision.h"

#include <iostream>
#include <new>
#include <torch/csrc/jit/runtime/operator.h>
#include <torch/csrc/jit/runtime/print_handler.h>
#include <torch/csrc/jit/serialization/import.h>
#include <torch/version.h>

namespace engine_torch
{
namespace
{

using torch::jit::Module;

[[noreturn]] void refuse(const std::string &path, const std::string &words)
{
    throw Failure(DNN_TORCH_BAD_MODEL, "'" + path + "' " + words);
}

using Names = std::vector<std::string>;

constexpr const char *this_version = "LibTorch " TORCH_VERSION;

std::string names_to_allow(const Names &names)
{
    constexpr size_t most = 12;
    std::string list;
    for (size_t i = 0; i < names.size() && i < most; i++)
        list.append(i ? "+" : "").append(name_to_allow(names[i]));
    return list;
}

// Whether the operator was inserted by optimize_for_inference() or the like.  Such a file only
// works on one kind of machine.
bool is_of_one_machine(const std::string &name)
{
    for (const char *part : {"mkldnn", "MKLDNN", "prepacked", "oneDNN", "onednn", "_prepack"})
        if (name.find(part) != std::string::npos)
            return true;
    return false;
}

bool is_known_here(const std::string &name)
{
    return name.find("::") == std::string::npos || name.compare(0, 6, "prim::") == 0 ||
           !torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(name)).empty();
}

void refuse_names(const std::string &path, const Names &names)
{
    if (names.empty())
        return;
    const std::string &first = names.front();
    for (const std::string &name : names)
        if (is_our_own(name))
            refuse(path, "uses " + name + ", which no file may use; export the model without it");
    if (is_of_one_machine(first))
        refuse(path, "uses " + first +
                         ", which belongs to a model that was optimised for one machine; save it "
                         "before optimize_for_inference()");
    if (!is_known_here(first) && first.compare(0, 6, "aten::") == 0)
        refuse(path, std::string("needs another LibTorch than ") + this_version +
                         ", which has no " + first + "; save it with a PyTorch of this version");
    if (!is_known_here(first))
        refuse(path, "needs the operators of " + first.substr(0, first.find("::")) + " (" + first +
                         "), which " + this_version +
                         " does not have; export the model without them");
    const std::string others =
        names.size() > 1 ? " and " + std::to_string(names.size() - 1) + " more" : "";
    refuse(path, "uses " + first + others +
                     ", not among the operators that are known to only compute; write allow=" +
                     names_to_allow(names) + " if you trust the file");
}

// Refuses code that runs during loading even if it only uses permitted operators: their arguments
// are not bounded yet, and nothing should run when a user only inspects a file.
void refuse_code_while_loading(const std::string &path)
{
    refuse(path, std::string("runs code while it is loaded (") + loading_code +
                     "); save it without, or write allow=" + loading_code +
                     " if you trust the file");
}

[[noreturn]] void refuse_unloadable(const std::string &path, const std::exception &error)
{
    if (is_out_of_memory(error))
        throw std::bad_alloc();
    const Fault fault = fault_of(error);
    if (fault == Fault::newer_file)
        refuse(path, std::string("was saved by a newer PyTorch than ") + this_version +
                         " reads; save it with an older one or use a newer LibTorch");
    if (fault == Fault::no_operator)
        refuse(path, std::string("needs another LibTorch than ") + this_version + ": " +
                         words_of(error) +
                         "; save it with a PyTorch of this version, without operators of others");
    refuse(path, "cannot be loaded by " + std::string(this_version) + ": " + words_of(error));
}

// Otherwise a model's print() would write into the video of `ffmpeg ... -`.  Keeps a handler that
// the program has set.
void print_to_stderr()
{
    if (torch::jit::getPrintHandler() == torch::jit::getDefaultPrintHandler())
        torch::jit::setPrintHandler([](const std::string &text) {
            if (dnn_torch_has_standard_error())
                std::cerr << engine_kit::printable(text);
        });
}

// Calls `read`.  Turns what LibTorch throws into a failure of the file.
template <class Read> auto reading(const std::string &path, Read &&read)
{
    try {
        return read();
    } catch (const Failure &) {
        throw;
    } catch (const WeightFault &) {
        throw;
    } catch (const std::bad_alloc &) {
        throw;
    } catch (const std::exception &error) {
        refuse_unloadable(path, error);
    }
}

using Arguments = std::vector<c10::Argument>;

std::string names_of(const Arguments &arguments)
{
    std::string names;
    for (const c10::Argument &argument : arguments)
        dnn_torch::add_to_list(names, argument.name());
    return names;
}

bool is_given(const c10::Argument &argument, const GivenConstants &given)
{
    return std::any_of(given.begin(), given.end(),
                       [&](const auto &each) { return each.first == argument.name(); });
}

bool takes_tensor(const c10::Argument &argument)
{
    return c10::TensorType::get()->isSubtypeOf(*argument.type());
}

bool takes_list(const c10::Argument &argument)
{
    const auto list = argument.type()->cast<c10::ListType>();
    return list && list->getElementType()->kind() == c10::TypeKind::TensorType;
}

bool takes_pictures(const c10::Argument &argument)
{
    return takes_tensor(argument) || takes_list(argument);
}

const c10::Argument &find_input(const Arguments &arguments, const std::string &wanted,
                                const GivenConstants &given)
{
    for (const c10::Argument &argument : arguments)
        if (argument.name() == wanted)
            return argument;
    for (const auto takes : {takes_tensor, takes_list})
        for (const c10::Argument &argument : arguments)
            if (!is_given(argument, given) && takes(argument))
                return argument;
    for (const c10::Argument &argument : arguments)
        if (!is_given(argument, given))
            return argument;
    return arguments.front();
}

// Returns the other arguments that have no default and are not given.
Arguments missing_arguments(const c10::Argument &input, const Arguments &arguments,
                            const GivenConstants &given)
{
    Arguments missing;
    for (const c10::Argument &argument : arguments)
        if (argument.name() != input.name() && !argument.default_value() &&
            !is_given(argument, given))
            missing.push_back(argument);
    return missing;
}

[[noreturn]] void refuse_without(const Arguments &missing, const Arguments &arguments,
                                 const std::string &input, const std::string &path)
{
    std::string option, types;
    bool takes_tensor = false;
    for (const c10::Argument &argument : missing) {
        takes_tensor |= argument.type()->kind() == c10::TypeKind::TensorType;
        dnn_torch::add_to_list(option, argument.name() + "=VALUE", "|");
        dnn_torch::add_to_list(types, argument.name() + " of type " + argument.type()->repr_str(),
                               " and ");
    }
    refuse(path, "has a forward() of " + dnn_torch::counted(arguments.size(), "input") + " (" +
                     names_of(arguments) + "); the filter gives " + input +
                     ", and needs inputs=" + option + " for " + types +
                     (takes_tensor ? " (a name alone is a picture, from a second input)" : ""));
}

// Applies to every module, no matter what kind of file it comes from.
void accept(Module &module, const std::string &path, const Permissions &permissions)
{
    reading(path, [&] {
        refuse_names(path, find_refused(module, permissions));
        if (const auto call = find_unsound_call(module))
            refuse(path, "uses " + call->name + " with " + call->with);
        inline_forks(module);
        guard_arguments(module);
        clear_raw_memory(module);
    });
    if (!module.find_method("forward"))
        refuse(path, "has no forward(); export the model's own module");
    module.eval();
}

} // namespace

Module load_any_module(const Archive &archive, const c10::Device &device)
{
    print_to_stderr();
    if (const std::string fault = provide_torchvision(archive.facts()); !fault.empty())
        refuse(archive.name(), fault);
    return reading(archive.name(), [&] {
        Module module = torch::jit::import_ir_module(
            std::make_shared<torch::jit::CompilationUnit>(), adapt(archive), device);
        if (const std::string fault = find_wrong_value(module); !fault.empty())
            refuse(archive.name(), fault);
        return module;
    });
}

Module load_module(const Archive &archive, const c10::Device &device,
                   const Permissions &permissions)
{
    const std::string &path = archive.name();
    if (runs_while_loading(archive.facts(), permissions))
        refuse_code_while_loading(path);
    refuse_names(path, find_refused(archive.facts(), permissions));
    Module module = load_any_module(archive, device);
    accept(module, path, permissions);
    return module;
}

Recognised recognise(const Checkpoint &checkpoint)
{
    try {
        return recognise(checkpoint.candidates());
    } catch (const WeightFault &fault) {
        refuse(checkpoint.name(), fault.what());
    }
}

Module load_network(const Checkpoint &checkpoint, const Recognised &recognised,
                    const c10::Device &device, const Permissions &permissions)
{
    return load_network(checkpoint.name(), recognised.network, recognised.candidate->weights,
                        device, permissions);
}

Module load_network(const std::string &path, const Blueprint &network, const Weights &weights,
                    const c10::Device &device, const Permissions &permissions)
{
    try {
        Module module = reading(path, [&] {
            return build_module(network, weights, device, names_of_generated_code());
        });
        accept(module, path, permissions);
        return module;
    } catch (const WeightFault &fault) {
        refuse(path, fault.what());
    }
}

OperatorLookup lookup_of(const Permissions &permissions)
{
    return {.is_here = [](const std::string &name) { return is_known_here("aten::" + name); },
            .is_allowed =
                [&permissions](const std::string &name) {
                    return permissions.has_operator("aten::" + name);
                }};
}

Module load_plain_network(const std::string &path, const Blueprint &network, const Weights &weights)
{
    try {
        return reading(path, [&] {
            Module module = build_module(network, weights, c10::kCPU, names_of_generated_code());
            module.eval();
            return module;
        });
    } catch (const WeightFault &fault) {
        refuse(path, fault.what());
    }
}

Arguments arguments_of(const Module &module)
{
    Arguments arguments = module.get_method("forward").function().getSchema().arguments();
    arguments.erase(arguments.begin());
    return arguments;
}

bool takes_list(const Module &module, const std::string &input_name)
{
    const Arguments arguments = arguments_of(module);
    return std::any_of(arguments.begin(), arguments.end(), [&](const c10::Argument &argument) {
        return argument.name() == input_name && takes_list(argument);
    });
}

bool returns_one_tensor(const Module &module)
{
    const auto &results = module.get_method("forward").function().getSchema().returns();
    return results.size() == 1 && results.front().type()->kind() == c10::TypeKind::TensorType;
}

std::string choose_input(const Module &module, const std::string &path, const std::string &wanted,
                         const GivenConstants &given)
{
    const Arguments arguments = arguments_of(module);
    if (arguments.empty())
        refuse(path, "has a forward() without input; the filter gives one");
    const c10::Argument &input = find_input(arguments, wanted, given);
    if (const Arguments missing = missing_arguments(input, arguments, given); !missing.empty())
        refuse_without(missing, arguments, input.name(), path);
    if (is_given(input, given))
        refuse(path, "gets its picture as " + input.name() +
                         ", which inputs= gives a value to; "
                         "leave that out");
    if (!takes_pictures(input))
        refuse(path, "has a forward() whose input " + input.name() + " is a " +
                         input.type()->repr_str() +
                         "; the filter gives a Tensor, or a List[Tensor]");
    return input.name();
}

} // namespace engine_torch
