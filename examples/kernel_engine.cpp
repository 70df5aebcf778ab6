// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// An engine whose model is a text file of ten numbers: the weights of a 3x3
// kernel, row by row, and what is added.  docs/engines.md goes through it.
#include "dnn_torch/engine.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <exception>
#include <fstream>
#include <new>
#include <set>
#include <string>
#include <utility>
#include <vector>

struct DnnTorchModel final {
    std::array<float, 10> numbers = {};
};

struct DnnTorchSession final {
    const std::array<float, 10> &numbers;
    std::vector<float> samples = {}; // what the last run gave out
    std::atomic<bool> stopped = false;
};

namespace
{

struct Failure {
    int status;
    std::string text;
};

// The one place where exceptions become what the ABI knows.
template <typename Body> int guarded(DnnTorchMessage *message, Body body) noexcept
{
    auto fail = [message](int status, const char *text) {
        std::snprintf(message->text, sizeof message->text, "%s", text);
        return status;
    };
    try {
        body();
        return DNN_TORCH_OK;
    } catch (const Failure &failure) {
        return fail(failure.status, failure.text.c_str());
    } catch (const std::bad_alloc &) {
        return fail(DNN_TORCH_OUT_OF_MEMORY, "out of memory");
    } catch (const std::exception &error) {
        return fail(DNN_TORCH_INTERNAL, error.what());
    }
}

void expect(int status, const char *name, const char *given, const std::set<std::string> &known)
{
    if (given && !known.count(given))
        throw Failure{status, std::string(name) + "=" + given + " is not known to this engine"};
}

DnnTorchModel read_model(const std::string &path)
{
    std::ifstream file(path);
    if (!file)
        throw Failure{DNN_TORCH_NO_FILE, "'" + path + "' cannot be read"};
    DnnTorchModel model;
    for (float &number : model.numbers)
        file >> number;
    if (!file || !(file >> std::ws).eof())
        throw Failure{DNN_TORCH_BAD_MODEL, "'" + path + "' is not ten numbers"};
    return model;
}

DnnTorchModel open_model(const DnnTorchModelOptions &options)
{
    expect(DNN_TORCH_NO_DEVICE, "device", options.device, {"", "cpu"});
    expect(DNN_TORCH_BAD_OPTION, "precision", options.precision, {"", "auto", "fp32"});
    expect(DNN_TORCH_BAD_OPTION, "optimize", options.optimize, {"", "0", "1"});
    return read_model(options.path);
}

void describe(const char *path, DnnTorchDescription &description)
{
    description.parameters = static_cast<std::int64_t>(read_model(path).numbers.size());
    description.parameter_bytes = description.parameters * std::int64_t{sizeof(float)};
    description.parameters_known = 1;
    std::snprintf(description.format, sizeof description.format, "3x3 kernel");
    std::snprintf(description.precision, sizeof description.precision, "fp32");
}

// Beyond an edge, the sample on it.
float sample(const DnnTorchImages &images, int n, int c, int y, int x)
{
    const char *data = static_cast<const char *>(images.data);
    data += n * images.batch_stride + c * images.channel_stride;
    data += std::clamp(y, 0, images.height - 1) * images.row_stride;
    data += std::clamp(x, 0, images.width - 1) * images.column_stride;
    return *reinterpret_cast<const float *>(data);
}

void append_row(DnnTorchSession &session, const DnnTorchImages &input, int n, int c, int y)
{
    for (int x = 0; x < input.width; ++x) {
        float sum = session.numbers.back();
        for (int i = 0; i < 9; ++i)
            sum += session.numbers[static_cast<std::size_t>(i)] *
                   sample(input, n, c, y + i / 3 - 1, x + i % 3 - 1);
        session.samples.push_back(sum);
    }
}

DnnTorchImages run(DnnTorchSession &session, const DnnTorchImages &input)
{
    if (input.element != DNN_TORCH_F32)
        throw Failure{DNN_TORCH_BAD_INPUT, "the pictures are not of float32"};
    session.samples.clear();
    for (int n = 0; n < input.batch; ++n)
        for (int c = 0; c < input.channels; ++c)
            for (int y = 0; y < input.height; ++y)
                if (session.stopped)
                    throw Failure{DNN_TORCH_STOPPED, "the run was stopped"};
                else
                    append_row(session, input, n, c, y);
    DnnTorchImages output = input;
    output.data = session.samples.data();
    output.column_stride = sizeof(float);
    output.row_stride = output.column_stride * output.width;
    output.channel_stride = output.row_stride * output.height;
    output.batch_stride = output.channel_stride * output.channels;
    return output;
}

constexpr DnnTorchDevice cpu = {"cpu", "this machine's processor", 0, 1, ""};

// Zeros for what model_tune() did not find out, NULL and "" for nothing special.
constexpr DnnTorchEngine engine = {
    .abi = DNN_TORCH_ENGINE_ABI,
    .name = "3x3 kernels",
    .version = "1",
    .model_open =
        [](const DnnTorchModelOptions *options, DnnTorchModel **model, DnnTorchMessage *message) {
            return guarded(message, [&] { *model = new DnnTorchModel(open_model(*options)); });
        },
    .model_describe =
        [](const char *path, DnnTorchDescription *description, DnnTorchMessage *message) {
            return guarded(message, [&] { describe(path, *description); });
        },
    .model_close = [](DnnTorchModel **model) { delete std::exchange(*model, nullptr); },
    .model_probe =
        [](DnnTorchModel *, const DnnTorchShape *shape, DnnTorchShape *result, DnnTorchMessage *) {
            *result = *shape; // a kernel keeps the size, so that nothing need run
            return int(DNN_TORCH_OK);
        },
    .model_tune =
        [](DnnTorchModel *, const DnnTorchShape *, double, DnnTorchTuning *tuning,
           DnnTorchMessage *) {
            *tuning = {};
            return int(DNN_TORCH_OK);
        },
    .model_notice = [](const DnnTorchModel *) { return ""; },
    .model_form = [](const DnnTorchModel *) { return "fp32, plain loops"; },
    .model_advice = [](const DnnTorchModel *) { return ""; },
    .session_open =
        [](DnnTorchModel *model, std::int32_t, DnnTorchSession **session,
           DnnTorchMessage *message) {
            return guarded(message, [&] { *session = new DnnTorchSession{model->numbers}; });
        },
    .session_warm = [](DnnTorchSession *, const DnnTorchShape *) {},
    .session_run =
        [](DnnTorchSession *session, const DnnTorchImages *input, DnnTorchImages *output,
           DnnTorchMessage *message) {
            return guarded(message, [&] { *output = run(*session, *input); });
        },
    .session_memory = [](DnnTorchSession *, std::int64_t) -> void * { return nullptr; },
    .session_stop = [](DnnTorchSession *session) { session->stopped = true; },
    .session_close = [](DnnTorchSession **session) { delete std::exchange(*session, nullptr); },
    .list_devices =
        [](DnnTorchDevice *devices, std::int32_t capacity) {
            std::copy_n(&cpu, std::min(capacity, 1), devices);
            return 1;
        },
};

} // namespace

extern "C" __attribute__((visibility("default"))) const DnnTorchEngine *
dnn_torch_engine(std::uint32_t host_abi)
{
    return host_abi == DNN_TORCH_ENGINE_ABI ? &engine : nullptr;
}
