// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "load.h"

#include "archive.h"
#include "failure.h"
#include "graph_checks.h"
#include "text.h"

#include <iostream>
#include <new>
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

void refuse_denied(const std::string &path, const Names &names)
{
    if (!names.empty())
        refuse(path, "uses " + names.front() +
                         ", which reaches outside the tensors; take a model that only computes");
}

void refuse_denied_while_loading(const std::string &path, const Names &names)
{
    if (!names.empty())
        refuse(path, "runs code while it is loaded (__setstate__), and that code has " +
                         names.front() + "; take a model that only computes");
}

constexpr const char *this_version = "LibTorch " TORCH_VERSION;

[[noreturn]] void refuse_unloadable(const std::string &path, const std::string &text)
{
    if (tells_of_memory(text))
        throw std::bad_alloc();
    const std::string line = short_message(text);
    if (text.find("maximum supported version") != std::string::npos)
        refuse(path, std::string("was saved by a newer PyTorch than ") + this_version +
                         " reads; save it with an older one or use a newer LibTorch");
    if (text.find("Unknown builtin op") != std::string::npos)
        refuse(path, std::string("needs another LibTorch than ") + this_version + ": " + line +
                         "; save it with a PyTorch of this version");
    refuse(path, "cannot be loaded by " + std::string(this_version) + ": " + line);
}

// A model's print() would otherwise land in the video of `ffmpeg ... -`.  One
// that somebody else in the program has set is left alone.
void print_to_stderr()
{
    if (torch::jit::getPrintHandler() == torch::jit::getDefaultPrintHandler())
        torch::jit::setPrintHandler([](const std::string &text) { std::cerr << text; });
}

// Runs what reads the file; whatever LibTorch throws meanwhile is about the file.
template <typename Read> auto reading(const std::string &path, Read &&read)
{
    try {
        return read();
    } catch (const Failure &) {
        throw;
    } catch (const std::bad_alloc &) {
        throw;
    } catch (const c10::Error &error) {
        refuse_unloadable(path, error.what_without_backtrace());
    } catch (const std::exception &error) {
        refuse_unloadable(path, error.what());
    }
}

using Arguments = std::vector<c10::Argument>;

std::string names_of(const Arguments &arguments)
{
    std::string names;
    for (const c10::Argument &argument : arguments)
        names += (names.empty() ? "" : ", ") + argument.name();
    return names;
}

const c10::Argument &find_input(const Arguments &arguments, const std::string &wanted)
{
    for (const c10::Argument &argument : arguments)
        if (argument.name() == wanted)
            return argument;
    return arguments.front();
}

std::size_t count_needed(const Arguments &arguments)
{
    std::size_t needed = 0;
    for (const c10::Argument &argument : arguments)
        needed += argument.default_value() ? 0 : 1;
    return needed;
}

} // namespace

void check_options(const DnnTorchModelOptions &options)
{
    if (!options.path || !*options.path)
        throw Failure(DNN_TORCH_BAD_OPTION, "no model is given; name one with model=FILE");
}

std::vector<std::string> denied_while_loading(const std::string &path)
{
    check_model_file(path);
    return reading(path, [&] { return find_denied_in_loading_code(path); });
}

Module load_any_module(const std::string &path, const c10::Device &device)
{
    print_to_stderr();
    return reading(path, [&] { return torch::jit::load(path, device); });
}

Module load_module(const std::string &path, const c10::Device &device)
{
    refuse_denied_while_loading(path, denied_while_loading(path));
    Module module = load_any_module(path, device);
    refuse_denied(path, reading(path, [&] { return find_denied_operators(module); }));
    if (!module.find_method("forward"))
        refuse(path, "has no forward(); export the model's own module");
    module.eval();
    return module;
}

Arguments arguments_of(const Module &module)
{
    Arguments arguments = module.get_method("forward").function().getSchema().arguments();
    arguments.erase(arguments.begin());
    return arguments;
}

std::string choose_input(const Module &module, const std::string &path, const std::string &wanted)
{
    const Arguments arguments = arguments_of(module);
    if (arguments.empty())
        refuse(path, "has a forward() without input; the filter gives one");
    const c10::Argument &input = find_input(arguments, wanted);
    const std::size_t needed = count_needed(arguments);
    if (needed > 1 || (needed == 1 && input.default_value()))
        refuse(path, "has a forward() that wants " + std::to_string(needed) + " inputs (" +
                         names_of(arguments) + "); the filter gives one");
    if (!c10::TensorType::get()->isSubtypeOf(*input.type()))
        refuse(path, "has a forward() whose input " + input.name() + " is a " +
                         input.type()->repr_str() + "; the filter gives a Tensor");
    return input.name();
}

} // namespace engine_torch
