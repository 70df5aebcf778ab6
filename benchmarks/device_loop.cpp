// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The rate at which LibTorch alone takes 8-bit frames through a device: upload,
// floats, forward, bytes, download.  One line of JSON.  It shares no code with the
// engine, so that it can tell what the engine leaves on the table.
//
// usage: device_loop MODEL DEVICE PRECISION WIDTH HEIGHT WORKERS SECONDS

#include "race.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/core/StreamGuard.h>
#include <cstdio>
#include <dlfcn.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/serialization/import.h>
#include <torch/version.h>

namespace
{

using c10::impl::VirtualGuardImpl;

struct Settings {
    std::string model;
    c10::Device device;
    at::ScalarType type;
    int64_t width, height;
    int workers;
    double seconds;
};

constexpr int warm_up_runs = 5;

// Weights side by side in memory, as convolutions on a GPU have them.
torch::jit::Module load(const Settings &settings)
{
    const at::NoGradGuard no_gradients;
    at::globalContext().setAllowTF32CuDNN(false); // fp32 is fp32, as in the filter
    torch::jit::Module module = torch::jit::load(settings.model, settings.device);
    module.eval();
    module.to(settings.type);
    for (at::Tensor weights : module.parameters())
        if (weights.dim() == 4)
            weights.set_data(weights.contiguous(at::MemoryFormat::ChannelsLast));
    const torch::jit::Module frozen = torch::jit::freeze(module);
    // The workers read the weights on streams of their own.
    if (!settings.device.is_cpu())
        VirtualGuardImpl(settings.device.type()).getStream(settings.device).synchronize();
    return frozen;
}

at::Tensor memory(at::IntArrayRef sizes, const Settings &settings)
{
    return at::zeros(sizes, at::TensorOptions(at::kByte).pinned_memory(!settings.device.is_cpu()));
}

class Worker
{
public:
    Worker(const Settings &settings, const torch::jit::Module &module)
        : settings_(settings), module_(module),
          frame_(memory({1, settings.height, settings.width, 3}, settings))
    {
        at::get_num_threads(); // LibTorch's own first setting must not come after ours
        at::set_num_threads(1);
        if (!settings.device.is_cpu()) {
            stream_ =
                VirtualGuardImpl(settings.device.type()).getStreamFromGlobalPool(settings.device);
            guard_.reset_stream(*stream_);
        }
    }

    void run()
    {
        const at::Tensor input = frame_.to(settings_.device, at::kByte, true)
                                     .permute({0, 3, 1, 2})
                                     .to(settings_.type)
                                     .div_(255);
        const at::Tensor output = module_.get_method("forward")({input}).toTensor();
        const at::Tensor bytes = output.mul(255)
                                     .round_()
                                     .clamp_(0, 255)
                                     .to(at::kByte)
                                     .permute({0, 2, 3, 1})
                                     .contiguous();
        if (!result_.defined())
            result_ = memory(bytes.sizes(), settings_);
        result_.copy_(bytes, true);
        if (stream_)
            stream_->synchronize();
    }

private:
    const Settings &settings_;
    torch::jit::Module module_;
    at::Tensor frame_, result_;
    std::optional<c10::Stream> stream_;
    c10::OptionalStreamGuard guard_;
    at::NoGradGuard no_gradients_;
    torch::jit::GraphOptimizerEnabledGuard no_profiling_{false};
};

Settings read_settings(int count, char **words)
{
    if (count != 8)
        throw std::runtime_error("usage: MODEL DEVICE PRECISION WIDTH HEIGHT WORKERS SECONDS");
    // A program that is linked with libtorch alone has not the part for the device.
    for (const char *library : {"libtorch_cuda.so", "libtorch_hip.so", "libtorch_xpu.so"})
        if (std::string(words[2]) != "cpu")
            dlopen(library, RTLD_NOW | RTLD_GLOBAL);
    return {words[1],
            c10::Device(words[2]),
            std::string(words[3]) == "fp16" ? at::kHalf : at::kFloat,
            std::stoll(words[4]),
            std::stoll(words[5]),
            std::stoi(words[6]),
            std::stod(words[7])};
}

} // namespace

int main(int count, char **words)
{
    try {
        const Settings settings = read_settings(count, words);
        const torch::jit::Module module = load(settings);
        const double rate =
            Race(settings.workers, warm_up_runs, settings.seconds).frames_per_second([&] {
                return Worker(settings, module);
            });
        std::printf("{\"fps\": %.6g, \"libtorch\": \"%s\"}\n", rate, TORCH_VERSION);
        return 0;
    } catch (const c10::Error &error) {
        std::fprintf(stderr, "device_loop: %s\n", error.what_without_backtrace());
    } catch (const std::exception &error) {
        std::fprintf(stderr, "device_loop: %s\n", error.what());
    }
    return 1;
}
