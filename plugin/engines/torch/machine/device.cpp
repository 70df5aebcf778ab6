// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "device.h"

#include "base/compose.h"
#include "base/device_name.h"
#include "engine_kit/sized.h"
#include "engine_kit/text.h"
#include "engines/torch/failure.h"

#include <array>
#include <ATen/Context.h>
#include <ATen/ops/ones.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>
#include <torch/version.h>

#define TO_TEXT_LITERALLY(word) #word
#define TO_TEXT(macro)          TO_TEXT_LITERALLY(macro)

namespace engine_torch
{
namespace
{

struct Kind {
    const char *name, *title;
    c10::DeviceType type;
    // A program that is linked with libtorch alone has not loaded these.
    std::array<const char *, 2> libraries;
    const char *remedy; // for a LibTorch that was built without it
};

// ROCm's build of LibTorch calls its devices CUDA as well.
constexpr std::array<Kind, 2> kinds = {{
    {"cuda",
     "CUDA",
     c10::DeviceType::CUDA,
     {"libtorch_cuda.so", "libtorch_hip.so"},
     "use a LibTorch that was built with CUDA or ROCm, such as pytorch.org's; Debian's is not"},
    {"xpu",
     "XPU",
     c10::DeviceType::XPU,
     {"libtorch_xpu.so", nullptr},
     "use a LibTorch from 2.5 on that was built with XPU support, such as pytorch.org's for Intel "
     "GPUs; Debian's is not"},
}};

[[noreturn]] void refuse_device(const std::string &words)
{
    throw Failure(DNN_TORCH_NO_DEVICE, words);
}

const Kind *find_kind(std::string_view name)
{
    for (const Kind &kind : kinds)
        if (name == kind.name)
            return &kind;
    return nullptr;
}

// Debian's libraries have the version in their names; PyTorch's do not.
constexpr std::array<const char *, 2> endings = {
    "", "." TO_TEXT(TORCH_VERSION_MAJOR) "." TO_TEXT(TORCH_VERSION_MINOR)};

// Loads the library that registers the backend with LibTorch, for good.  Returns why an existing
// library cannot be loaded, or "".
std::string load(const Kind &kind)
{
    std::string fault;
    for (const char *library : kind.libraries)
        for (const char *ending : endings) {
            if (!library || c10::impl::hasDeviceGuardImpl(kind.type))
                continue;
            const std::string name = std::string(library) + ending;
            if (dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE))
                continue;
            // If the library exists but needs one that is missing, dlerror() begins with the
            // missing one.
            const std::string words = dlerror();
            if (words.rfind(name + ": cannot open shared object file", 0) != 0)
                fault = words;
        }
    return fault;
}

// Whether something can be used, and if not, why.
struct State {
    DnnTorchDeviceState code = DNN_TORCH_DEVICE_USABLE;
    std::string words = "";

    bool is_usable() const { return code == DNN_TORCH_DEVICE_USABLE; }
};

// Whether there are devices of the kind.
State state_of(const Kind &kind)
{
    const std::string fault = load(kind);
    if (!c10::impl::hasDeviceGuardImpl(kind.type) && !fault.empty())
        return {DNN_TORCH_DEVICE_LIBRARY_BROKEN,
                dnn_torch::concat("the ", kind.title,
                                  " part of LibTorch " TORCH_VERSION " cannot be loaded: ", fault)};
    if (!c10::impl::hasDeviceGuardImpl(kind.type))
        return {DNN_TORCH_DEVICE_BUILT_WITHOUT,
                dnn_torch::concat("LibTorch " TORCH_VERSION " was built without ", kind.title)};
    if (c10::impl::VirtualGuardImpl(kind.type).deviceCount() < 1)
        return {DNN_TORCH_DEVICE_ABSENT,
                dnn_torch::concat("LibTorch " TORCH_VERSION " finds no ", kind.title, " device")};
    return {};
}

State state_of(const c10::Device &device)
{
    try {
        at::ones({1}, at::TensorOptions(device)).add_(1).item();
        return {};
    } catch (const std::exception &error) {
        return {DNN_TORCH_DEVICE_FAILED, words_of(error)};
    }
}

struct Wanted {
    const Kind &kind;
    int index;
};

Wanted parse(const std::string &text)
{
    const auto name = dnn_torch::parse_device_name(text);
    const Kind *kind = name ? find_kind(name->kind) : nullptr;
    if (!kind)
        refuse_device("device=" + text +
                      " is unknown; choose among cpu, cuda, cuda:N, xpu and xpu:N");
    return {.kind = *kind, .index = name->index.value_or(0)};
}

DnnTorchDevice entry(const std::string &name, const State &state)
{
    auto device = engine_kit::sized<DnnTorchDevice>();
    engine_kit::copy_as_line(name, device.name, sizeof device.name);
    engine_kit::copy_as_line(state.words, device.reason, sizeof device.reason);
    device.state = state.code;
    return device;
}

void add_devices(const Kind &kind, std::vector<DnnTorchDevice> &devices)
{
    if (const State state = state_of(kind); !state.is_usable()) {
        devices.push_back(entry(kind.name, state));
        if (state.code == DNN_TORCH_DEVICE_BUILT_WITHOUT)
            engine_kit::copy_as_line(kind.remedy, devices.back().remedy,
                                     sizeof devices.back().remedy);
        return;
    }
    const int count = c10::impl::VirtualGuardImpl(kind.type).deviceCount();
    for (int i = 0; i < count; i++) {
        const c10::Device device(kind.type, static_cast<c10::DeviceIndex>(i));
        devices.push_back(entry(device.str(), state_of(device)));
    }
}

} // namespace

c10::Device open_device(const std::string &text)
{
    if (text.empty() || text == "cpu")
        return c10::Device(c10::DeviceType::CPU);
    const Wanted wanted = parse(text);
    if (const State state = state_of(wanted.kind); !state.is_usable())
        refuse_device("device=" + text + " cannot be used: " + state.words +
                      "; use device=cpu, or see dnn-torch devices");
    const int count = c10::impl::VirtualGuardImpl(wanted.kind.type).deviceCount();
    if (wanted.index >= count)
        refuse_device(dnn_torch::concat("device=", text, " is not there: the last one is ",
                                        wanted.kind.name, ":", count - 1));
    const c10::Device device(wanted.kind.type, static_cast<c10::DeviceIndex>(wanted.index));
    if (const State state = state_of(device); !state.is_usable())
        refuse_device("device=" + text + " does not work: " + state.words);
    // cuDNN would round the operands of fp32 convolutions to 19 bits (TF32).  For speed there is
    // precision=auto, which is fp16 here.
    at::globalContext().setAllowTF32CuDNN(false);
    return device;
}

std::vector<DnnTorchDevice> known_devices()
{
    std::vector<DnnTorchDevice> devices = {entry("cpu", {})};
    for (const Kind &kind : kinds)
        add_devices(kind, devices);
    return devices;
}

std::optional<c10::Stream> make_stream(const c10::Device &device)
{
    if (device.is_cpu())
        return std::nullopt;
    return c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device);
}

void wait_for(const c10::Device &device)
{
    if (!device.is_cpu())
        c10::impl::VirtualGuardImpl(device.type()).getStream(device).synchronize();
}

} // namespace engine_torch
