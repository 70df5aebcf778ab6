// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "compiled_network.h"

#include "base/compose.h"
#include "base/descriptor.h"
#include "engine_kit/text.h"
#include "engines/torch/architectures/element_types.h"
#include "engines/torch/failure.h"
#include "engines/torch/graphs/called_objects.h"
#include "engines/torch/graphs/graph_code.h"

#include <algorithm>
#include <ATen/core/Tensor.h>
#include <ATen/ops/clone.h>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <torch/csrc/inductor/aoti_runner/model_container_runner_cpu.h>
#include <torch/library.h>
#include <torch/version.h>
#include <unistd.h>
#include <utility>

namespace engine_torch
{
namespace
{

using dnn_torch::concat;
using dnn_torch::Descriptor;
using Runner = torch::inductor::AOTIModelContainerRunnerCpu;

// ---- the library, in memory that has a name

Descriptor new_memory(size_t bytes)
{
    Descriptor memory(memfd_create("dnn-torch-code", MFD_CLOEXEC));
    if (!memory.is_open() || ftruncate(memory.get(), static_cast<off_t>(bytes)) != 0)
        throw std::system_error(errno, std::generic_category(), "no memory for compiled code");
    return memory;
}

Descriptor filled(Descriptor memory, std::string_view code)
{
    struct stat about = {};
    if (fstat(memory.get(), &about) != 0 || static_cast<size_t>(about.st_size) < code.size())
        throw std::system_error(ENOSPC, std::generic_category(), "no memory for compiled code");
    void *const start =
        mmap(nullptr, code.size(), PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
    if (start == MAP_FAILED)
        throw std::system_error(errno, std::generic_category(), "no memory for compiled code");
    std::memcpy(start, code.data(), code.size());
    munmap(start, code.size());
    return memory;
}

// ---- running

std::vector<std::vector<int64_t>> shapes_of(at::TensorList tensors)
{
    std::vector<std::vector<int64_t>> shapes;
    for (const at::Tensor &tensor : tensors)
        shapes.push_back(tensor.sizes().vec());
    return shapes;
}

// A library that is open.  Any thread.
class OpenedCode
{
public:
    OpenedCode(const CompiledPackage &package, Descriptor memory);
    ~OpenedCode();
    OpenedCode(const OpenedCode &) = delete;
    OpenedCode &operator=(const OpenedCode &) = delete;

    std::vector<at::Tensor> run(at::TensorList inputs) const;

private:
    Descriptor memory_;
    const std::string path_;
    const CompiledInterface interface_;
    std::unique_ptr<Runner> runner_;
};

std::mutex opening_mutex; // LibTorch cannot open two libraries at once

OpenedCode::OpenedCode(const CompiledPackage &package, Descriptor memory)
    : memory_(filled(std::move(memory), package.code())),
      path_(concat("/proc/self/fd/", memory_.get())), interface_(package.interface())
{
    const std::lock_guard<std::mutex> lock(opening_mutex);
    const size_t runs_at_once = std::max(1u, std::thread::hardware_concurrency());
    try {
        runner_ = std::make_unique<Runner>(path_, runs_at_once);
    } catch (const std::exception &error) {
        package.refuse(concat("is an AOTInductor package whose code cannot be opened: ",
                              engine_kit::short_message(error.what())));
    }
}

OpenedCode::~OpenedCode()
{
    const std::lock_guard<std::mutex> lock(opening_mutex);
    runner_.reset();
    // The dynamic linker knows a library by its path, and cannot close every one.
    if (dlopen(path_.c_str(), RTLD_NOLOAD | RTLD_LAZY))
        memory_.release();
}

std::vector<at::Tensor> OpenedCode::run(at::TensorList inputs) const
{
    if (const std::string fault = fault_of_shapes(interface_, shapes_of(inputs)); !fault.empty())
        throw std::runtime_error(fault);
    std::vector<at::Tensor> given;
    for (size_t i = 0; i < inputs.size(); i++)
        given.push_back(
            inputs[i].detach().to(at::kCPU, scalar_type(interface_.inputs[i].type)).contiguous());
    std::vector<at::Tensor> results = runner_->run(given);
    if (results.size() != interface_.outputs.size())
        throw std::runtime_error(concat("the package says that its code returns ",
                                        dnn_torch::counted(interface_.outputs.size(), "tensor"),
                                        "; it returns ", results.size()));
    for (at::Tensor &result : results)
        if (std::any_of(given.begin(), given.end(),
                        [&](const at::Tensor &input) { return result.is_alias_of(input); }))
            result = result.clone();
    return results;
}

// ---- the operator

CalledObjects<OpenedCode> &opened()
{
    static CalledObjects<OpenedCode> all;
    return all;
}

std::vector<at::Tensor> run_code(at::TensorList inputs, int64_t number)
{
    const auto code = opened().find(number);
    if (!code)
        throw std::runtime_error("there is no such compiled code");
    return code->run(inputs);
}

void register_compiled_operator()
{
    static const torch::Library ours = [] {
        torch::Library made(torch::Library::FRAGMENT, "dnn_torch", {}, __FILE__, __LINE__);
        made.def("run_compiled(Tensor[] inputs, int network) -> Tensor[]", &run_code);
        return made;
    }();
}

Blueprint network_that_calls(int64_t number, const CompiledInterface &interface)
{
    OutsideCall call = {
        .function = run_compiled, .number = number, .inputs = {}, .outputs = interface.outputs};
    for (const CompiledInput &input : interface.inputs)
        call.inputs.push_back(input.name);
    return network_that_calls(call, "AOTInductor");
}

} // namespace

CompiledNetwork open_compiled(const CompiledPackage &package, int memory)
{
    package.expect_for(TORCH_VERSION);
    register_compiled_operator();
    try {
        Descriptor own = memory > 0 ? Descriptor(dup(memory)) : new_memory(package.code().size());
        const auto code = std::make_shared<const OpenedCode>(package, std::move(own));
        return {.code = code,
                .network = network_that_calls(opened().add(code), package.interface())};
    } catch (const std::system_error &error) {
        package.refuse(concat("is an AOTInductor package that cannot be opened: ", error.what()));
    }
}

} // namespace engine_torch
