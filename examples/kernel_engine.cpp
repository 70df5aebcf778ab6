// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// An engine whose model is a text file of ten numbers: the weights of a 3x3
// kernel, row by row, and the bias.  docs/engines.md explains it.
#include "dnn_torch/engine.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <exception>
#include <map>
#include <new>
#include <set>
#include <sstream>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

struct DnnTorchModel final {
    std::array<float, 10> numbers = {};
};

// Kernels run the same way for every shape.
struct DnnTorchPlan final {
    const DnnTorchModel &model;
};

struct DnnTorchSession final {
    const std::array<float, 10> &numbers;
    std::vector<float> samples = {}; // the last run's output
    std::atomic<bool> stopped = false;
};

namespace
{

struct Failure {
    int status;
    std::string text;
};

// The only place where exceptions become status codes.
template <class Body> int guarded(DnnTorchMessage *message, Body body) noexcept
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

// Copies the caller's struct; members that it lacks are zero.
template <class Struct> Struct taken(const Struct *given)
{
    Struct copy = {};
    std::memcpy(&copy, given, std::min(given->size, sizeof copy));
    return copy;
}

// Copies as much as the caller's struct has room for.
template <class Struct> void give(Struct value, Struct *to)
{
    value.size = to->size;
    std::memcpy(to, &value, std::min(to->size, sizeof value));
}

void expect_one(size_t count)
{
    if (count != 1)
        throw Failure{DNN_TORCH_BAD_INPUT, "a kernel takes one tensor and returns one"};
}

// The values that each option may have; none listed: any.  An empty value is the default.
const std::map<std::string, std::set<std::string>> known_options = {
    {"device", {"cpu"}},
    {"precision", {"auto", "fp32"}},
    {"optimize", {"0", "1"}},
    {"inspect", {"0", "1"}},
    {"input", {}},
    {"output", {}},
    {"allow", {}},
};

void check(const DnnTorchOption &option)
{
    const std::string key = option.key, value = option.value ? option.value : "";
    const auto known = known_options.find(key);
    if (known == known_options.end())
        throw Failure{DNN_TORCH_BAD_OPTION, "this engine has no option '" + key + "'"};
    if (!value.empty() && !known->second.empty() && !known->second.count(value))
        throw Failure{key == "device" ? DNN_TORCH_NO_DEVICE : DNN_TORCH_BAD_OPTION,
                      key + "=" + value + " is not known to this engine"};
}

// Reads the descriptor: the host has opened the file, and the name is only for messages.
std::string text_of(const DnnTorchSource &source)
{
    if (source.fd < 0)
        return {static_cast<const char *>(source.data), source.data_size};
    std::string text;
    char part[4096];
    ssize_t got = 0;
    while ((got = pread(source.fd, part, sizeof part, static_cast<off_t>(text.size()))) > 0)
        text.append(part, static_cast<size_t>(got));
    if (got < 0)
        throw Failure{DNN_TORCH_NO_FILE, "'" + std::string(source.name) + "' cannot be read"};
    return text;
}

DnnTorchModel read_model(const DnnTorchSource &source)
{
    std::istringstream text(text_of(source));
    DnnTorchModel model;
    for (float &number : model.numbers)
        text >> number;
    if (!text || !(text >> std::ws).eof())
        throw Failure{DNN_TORCH_BAD_MODEL, "'" + std::string(source.name) + "' is not ten numbers"};
    return model;
}

const char *metadata(const char *key)
{
    static const std::map<std::string, const char *> known = {
        {"format", "3x3 kernel"},     {"parameters", "10"}, {"parameter_bytes", "40"},
        {"precision", "fp32"},        {"refused", ""},      {"variant", "fp32, plain loops"},
        {"variant_precision", "fp32"}};
    const auto found = known.find(key ? key : "");
    return found == known.end() ? nullptr : found->second;
}

// Beyond an edge, returns the sample on it.
float sample(const DnnTorchTensor &images, int64_t n, int64_t c, int64_t y, int64_t x)
{
    const char *data = static_cast<const char *>(images.data);
    data += n * images.strides[0] + c * images.strides[1];
    data += std::clamp<int64_t>(y, 0, images.dims[2] - 1) * images.strides[2];
    data += std::clamp<int64_t>(x, 0, images.dims[3] - 1) * images.strides[3];
    return *reinterpret_cast<const float *>(data);
}

void append_row(DnnTorchSession &session, const DnnTorchTensor &input, int64_t n, int64_t c,
                int64_t y)
{
    for (int64_t x = 0; x < input.dims[3]; x++) {
        float sum = session.numbers.back();
        for (int i = 0; i < 9; i++)
            sum += session.numbers[static_cast<size_t>(i)] *
                   sample(input, n, c, y + i / 3 - 1, x + i % 3 - 1);
        session.samples.push_back(sum);
    }
}

// Returns [batch, channels, height, width] without gaps.
DnnTorchTensor run(DnnTorchSession &session, const DnnTorchTensor &input)
{
    const bool is_empty =
        std::any_of(input.dims, input.dims + 4, [](int64_t it) { return it < 1; });
    if (input.type != DNN_TORCH_F32 || input.rank != 4 || is_empty)
        throw Failure{DNN_TORCH_BAD_INPUT, "the input is no batch of float32 pictures"};
    session.samples.clear();
    for (int64_t n = 0; n < input.dims[0]; n++)
        for (int64_t c = 0; c < input.dims[1]; c++)
            for (int64_t y = 0; y < input.dims[2]; y++)
                if (session.stopped)
                    throw Failure{DNN_TORCH_STOPPED, "the run was stopped"};
                else
                    append_row(session, input, n, c, y);
    DnnTorchTensor output = input;
    output.data = session.samples.data();
    output.strides[3] = sizeof(float);
    for (int i = 2; i >= 0; i--)
        output.strides[i] = output.strides[i + 1] * output.dims[i + 1];
    return output;
}

constexpr DnnTorchEngine engine = {
    .abi = DNN_TORCH_ENGINE_ABI,
    .size = sizeof(DnnTorchEngine),
    .name = "3x3 kernels",
    .version = "1",
    .model_open =
        [](const DnnTorchSource *source, const DnnTorchOption *options, size_t count,
           DnnTorchModel **model, DnnTorchMessage *message) {
            return guarded(message, [&] {
                std::for_each(options, options + count, check);
                *model = new DnnTorchModel(read_model(taken(source)));
            });
        },
    .model_close = [](DnnTorchModel **model) { delete std::exchange(*model, nullptr); },
    .model_tensors = [](const DnnTorchModel *, DnnTorchDirection, DnnTorchTensorInfo *,
                        size_t) { return size_t{0}; }, // no tensor has a name
    .model_metadata = [](const DnnTorchModel *, const char *key) { return metadata(key); },
    .model_probe =
        [](DnnTorchModel *, const DnnTorchTensor *in, size_t in_count, DnnTorchTensor *out,
           size_t out_count, DnnTorchMessage *message) {
            return guarded(message, [&] {
                expect_one(in_count);
                expect_one(out_count);
                DnnTorchTensor shape = taken(in); // a kernel keeps the size, so nothing runs
                shape.data = nullptr;
                give(shape, out);
            });
        },
    .plan_make =
        [](DnnTorchModel *model, const DnnTorchTensor *, size_t count,
           const DnnTorchPlanParameters *, DnnTorchPlan **plan, DnnTorchMessage *message) {
            return guarded(message, [&] {
                expect_one(count);
                *plan = new DnnTorchPlan{*model};
            });
        },
    .plan_close = [](DnnTorchPlan **plan) { delete std::exchange(*plan, nullptr); },
    .plan_facts =
        [](const DnnTorchPlan *, DnnTorchPlanFacts *facts) {
            give(DnnTorchPlanFacts{}, facts); // zeros: nothing was measured, nothing is special
        },
    .plan_metadata = [](const DnnTorchPlan *, const char *key) { return metadata(key); },
    .session_open =
        [](const DnnTorchPlan *plan, int32_t, DnnTorchSession **session, DnnTorchMessage *message) {
            return guarded(message, [&] { *session = new DnnTorchSession{plan->model.numbers}; });
        },
    .session_warm = [](DnnTorchSession *) {},
    .session_run =
        [](DnnTorchSession *session, const DnnTorchTensor *in, size_t in_count, DnnTorchTensor *out,
           size_t out_count, DnnTorchRun *, DnnTorchMessage *message) {
            return guarded(message, [&] {
                expect_one(in_count);
                expect_one(out_count);
                give(run(*session, taken(in)), out);
            });
        },
    .session_reset = [](DnnTorchSession *, DnnTorchMessage *) { return int(DNN_TORCH_OK); },
    .session_memory = [](DnnTorchSession *, size_t) -> void * { return nullptr; },
    .session_stop = [](DnnTorchSession *session) { session->stopped = true; },
    .session_close = [](DnnTorchSession **session) { delete std::exchange(*session, nullptr); },
    .list_devices =
        [](DnnTorchDevice *devices, size_t capacity) {
            DnnTorchDevice cpu = {};
            std::snprintf(cpu.name, sizeof cpu.name, "cpu");
            cpu.state = DNN_TORCH_DEVICE_USABLE;
            if (capacity > 0)
                give(cpu, devices);
            return size_t{1};
        },
};

} // namespace

extern "C" __attribute__((visibility("default"))) const DnnTorchEngine *
dnn_torch_engine(uint32_t host_abi)
{
    return host_abi == DNN_TORCH_ENGINE_ABI ? &engine : nullptr;
}
