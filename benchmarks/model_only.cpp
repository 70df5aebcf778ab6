// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The rate at which LibTorch runs a model, in one configuration and with nothing
// around it: one line of JSON.  It shares no code with the engine, so that it can
// tell what the engine leaves on the table.
//
// usage: model_only KEY=VALUE...      (the keys are those of `fields`)

#include "model_forms.h"
#include "race.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <malloc.h>
#include <map>
#include <optional>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <variant>
#include <vector>

namespace
{

struct Settings {
    std::string model, form = "saved", precision = "fp32";
    std::string malloc = "default";  // or tuned
    std::string executor = "simple"; // or profiling, which is LibTorch's default
    std::string picture;             // a raw frame, 8 bits, channels side by side
    int channels = 3, height = 0, width = 0;
    int workers = 1, threads = 1;
    int compare = 0; // 1: tells the distance to the model as it was saved
    double seconds = 5;
    int warm_up = 3; // runs of each worker
};

using Field = std::variant<std::string Settings::*, int Settings::*, double Settings::*>;

const std::map<std::string, Field> fields = {
    {"model", &Settings::model},         {"form", &Settings::form},
    {"precision", &Settings::precision}, {"malloc", &Settings::malloc},
    {"executor", &Settings::executor},   {"picture", &Settings::picture},
    {"channels", &Settings::channels},   {"height", &Settings::height},
    {"width", &Settings::width},         {"workers", &Settings::workers},
    {"threads", &Settings::threads},     {"compare", &Settings::compare},
    {"seconds", &Settings::seconds},     {"warm_up", &Settings::warm_up},
};

void assign(std::string &field, const std::string &value)
{
    field = value;
}

void assign(int &field, const std::string &value)
{
    field = std::stoi(value);
}

void assign(double &field, const std::string &value)
{
    field = std::stod(value);
}

Settings read_settings(int count, char **words)
{
    Settings settings;
    for (int i = 1; i < count; i++) {
        const std::string word = words[i];
        const size_t equals = word.find('=');
        const auto field = fields.find(word.substr(0, equals));
        if (equals == std::string::npos || field == fields.end())
            throw std::runtime_error("unknown: " + word);
        std::visit([&](auto member) { assign(settings.*member, word.substr(equals + 1)); },
                   field->second);
    }
    return settings;
}

// glibc gives large blocks back to the kernel at once, and every layer then
// begins with page faults.  Its threshold for that cannot be set above 32 MiB,
// and its arenas beside the first one hold no more than 64 MiB.
void tune_malloc()
{
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_TRIM_THRESHOLD, -1);
    mallopt(M_TOP_PAD, 64 << 20);
}

// What LibTorch keeps for each thread.
class RunScope
{
public:
    RunScope(int threads, const std::string &executor)
    {
        if (executor != "profiling")
            no_profiling_.emplace(false);
        at::get_num_threads(); // LibTorch's own first setting must not come after ours
        at::set_num_threads(threads);
    }

private:
    at::NoGradGuard no_gradients_;
    std::optional<torch::jit::GraphOptimizerEnabledGuard> no_profiling_;
};

at::Tensor read_picture(const Settings &settings)
{
    const int64_t count = int64_t{settings.channels} * settings.height * settings.width;
    if (settings.picture.empty())
        return at::arange(count, at::kFloat)
            .mul_(0.6180339887)
            .frac_()
            .view({1, settings.channels, settings.height, settings.width});
    std::vector<uint8_t> bytes(static_cast<size_t>(count));
    std::ifstream file(settings.picture, std::ios::binary);
    if (!file.read(reinterpret_cast<char *>(bytes.data()), count))
        throw std::runtime_error("too short: " + settings.picture);
    return at::from_blob(bytes.data(), {1, settings.height, settings.width, settings.channels},
                         at::kByte)
        .permute({0, 3, 1, 2})
        .to(at::kFloat)
        .div_(255)
        .contiguous();
}

class Worker
{
public:
    Worker(const Settings &settings, const Model &model, const at::Tensor &picture)
        : scope_(settings.threads, settings.executor), model_(model), input_(model.prepare(picture))
    {
    }

    void run() { model_.forward(input_); }

private:
    const RunScope scope_;
    const Model &model_;
    const at::Tensor input_;
};

at::Tensor as_seen(const at::Tensor &output)
{
    return output.to(at::kFloat).clamp(0, 1);
}

double psnr_db(const Settings &settings, const Model &model, const at::Tensor &picture)
{
    const RunScope scope(settings.workers * settings.threads, settings.executor);
    const Model saved(settings.model, "saved", "fp32");
    const at::Tensor expected = as_seen(saved.forward(saved.prepare(picture)));
    const at::Tensor got = as_seen(model.forward(model.prepare(picture)));
    const double error = (expected - got).square().mean().item<double>();
    return error > 0 ? -10 * std::log10(error) : 999;
}

int measure(const Settings &settings)
{
    if (settings.malloc == "tuned")
        tune_malloc();
    const Model model(settings.model, settings.form, settings.precision);
    const at::Tensor picture = read_picture(settings);
    const double rate =
        Race(settings.workers, settings.warm_up, settings.seconds).frames_per_second([&] {
            return Worker(settings, model, picture);
        });
    std::printf("{\"fps\": %.6g", rate);
    if (settings.compare)
        std::printf(", \"psnr_db\": %.2f", psnr_db(settings, model, picture));
    std::printf(", \"libtorch\": \"%s\"}\n", TORCH_VERSION);
    return 0;
}

} // namespace

int main(int count, char **words)
{
    try {
        return measure(read_settings(count, words));
    } catch (const c10::Error &error) {
        std::fprintf(stderr, "model_only: %s\n", error.what_without_backtrace());
    } catch (const std::exception &error) {
        std::fprintf(stderr, "model_only: %s\n", error.what());
    }
    return 1;
}
