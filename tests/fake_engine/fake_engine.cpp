// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// An engine without LibTorch, which does what its model's script says.
//
// FAKE_ENGINE_ABI in the environment makes it an engine of that ABI, or, with
// "none", one that serves no host.
#include "dnn_torch/engine.h"

#include "script.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

using fake_engine::Failure;
using fake_engine::Script;

struct DnnTorchModel final {
    explicit DnnTorchModel(const Script &read) : script(read) {}

    const Script script;
    std::atomic<int> sessions{0};
    std::atomic<uint64_t> runs{0};
    std::mutex log_mutex; // around appending to the log's file
};

struct DnnTorchSession final {
public:
    explicit DnnTorchSession(DnnTorchModel &model) : model_(model), script_(model.script) {}

    DnnTorchImages run(const DnnTorchImages &input, const DnnTorchImages &wish);
    void stop();

private:
    void sleep_until_due(uint64_t run);
    void hang();
    void log_run(const DnnTorchImages &input);

    DnnTorchModel &model_;
    const Script &script_;
    std::vector<float> output_;
    std::vector<uint16_t> codes_; // bytes, or numbers of 16 bits

    std::mutex mutex_;
    std::condition_variable changed_;
    // ---- under mutex_
    bool stopped_ = false;
};

namespace
{

void check_input(const Script &script, const DnnTorchImages &input)
{
    if (!input.data || input.element < DNN_TORCH_U8 || input.element > DNN_TORCH_F32)
        throw Failure(DNN_TORCH_BAD_INPUT, "the input has no samples that are known");
    if (input.element != DNN_TORCH_F32 && input.white < 1)
        throw Failure(DNN_TORCH_BAD_INPUT, "the input does not say which code is white");
    if (input.batch < 1 || input.channels < 1 || input.height < 1 || input.width < 1)
        throw Failure(DNN_TORCH_BAD_INPUT, "the input is empty");
    if (script.channels != 0 && script.channels != input.channels)
        throw Failure(DNN_TORCH_BAD_INPUT, "the model takes " + std::to_string(script.channels) +
                                               " channels and got " +
                                               std::to_string(input.channels));
}

char *address(const DnnTorchImages &images, int n, int c, int y, int x)
{
    return static_cast<char *>(images.data) + n * images.batch_stride + c * images.channel_stride +
           y * images.row_stride + x * images.column_stride;
}

float sample(const DnnTorchImages &images, int n, int c, int y, int x)
{
    const char *at = address(images, n, c, y, x);
    const auto white = static_cast<float>(images.white);
    if (images.element == DNN_TORCH_U8)
        return static_cast<float>(*reinterpret_cast<const uint8_t *>(at)) / white;
    if (images.element == DNN_TORCH_U16)
        return static_cast<float>(*reinterpret_cast<const uint16_t *>(at)) / white;
    return *reinterpret_cast<const float *>(at);
}

int picture_number(const DnnTorchImages &input, int n)
{
    return static_cast<int>(std::lround(255.0F * sample(input, n, 0, 0, 0)));
}

bool holds(const DnnTorchImages &input, int number)
{
    for (int n = 0; n < input.batch; n++)
        if (number >= 0 && picture_number(input, n) == number)
            return true;
    return false;
}

int extent_of(const Script &script, int input)
{
    const int padded = (input + script.pad_to - 1) / script.pad_to * script.pad_to;
    const int extent = padded * script.enlarge / script.reduce - script.shrink;
    return script.longest > 0 ? std::min(extent, script.longest) : extent;
}

// The view that comes out, still without memory.
DnnTorchImages shape_of(const Script &script, const DnnTorchImages &input)
{
    DnnTorchImages output = {};
    output.element = DNN_TORCH_F32;
    output.batch = input.batch + (holds(input, script.wrong_batch_at) ? 1 : 0);
    output.channels = script.output_channels ? script.output_channels : input.channels;
    output.height = extent_of(script, input.height);
    output.width = extent_of(script, input.width);
    if (script.turn)
        std::swap(output.width, output.height);
    if (output.height < 1 || output.width < 1)
        throw Failure(DNN_TORCH_RUN_FAILED, "nothing is left of a picture of the size " +
                                                std::to_string(input.width) + "x" +
                                                std::to_string(input.height));
    output.width += holds(input, script.wrong_size_at) ? 1 : 0;
    output.column_stride = sizeof(float);
    output.row_stride = output.column_stride * output.width;
    output.channel_stride = output.row_stride * output.height;
    output.batch_stride = output.channel_stride * output.channels;
    return output;
}

int source_of(const Script &script, int position, int extent)
{
    return std::min(position * script.reduce / script.enlarge, extent - 1);
}

void fill_plane(const Script &script, const DnnTorchImages &input, int n, int c,
                const DnnTorchImages &output, float *plane)
{
    const bool is_nan = picture_number(input, n) == script.nan_at;
    for (int y = 0; y < output.height; y++)
        for (int x = 0; x < output.width; x++) {
            const float value = sample(input, n, c, source_of(script, y, input.height),
                                       source_of(script, x, input.width));
            *plane++ = is_nan ? std::numeric_limits<float>::quiet_NaN()
                              : value * script.gain + script.offset;
        }
}

void fill(const Script &script, const DnnTorchImages &input, const DnnTorchImages &output,
          std::vector<float> &samples)
{
    const size_t plane_size =
        static_cast<size_t>(output.height) * static_cast<size_t>(output.width);
    samples.resize(plane_size * static_cast<size_t>(output.channels) *
                   static_cast<size_t>(output.batch));
    float *plane = samples.data();
    for (int n = 0; n < output.batch; n++)
        for (int c = 0; c < output.channels; c++, plane += plane_size)
            fill_plane(script, input, std::min(n, input.batch - 1), std::min(c, input.channels - 1),
                       output, plane);
}

// The same images in codes, with channels side by side or not as in `input`.
DnnTorchImages in_codes(const DnnTorchImages &floats, const DnnTorchImages &input,
                        const DnnTorchImages &wish, std::vector<uint16_t> &memory)
{
    DnnTorchImages codes = floats;
    const int64_t bytes = wish.element == DNN_TORCH_U8 ? 1 : 2;
    const bool side_by_side = input.column_stride > input.channel_stride && input.channels > 1;
    codes.element = wish.element;
    codes.white = wish.white;
    codes.column_stride = bytes * (side_by_side ? codes.channels : 1);
    codes.row_stride = codes.column_stride * codes.width;
    codes.channel_stride = side_by_side ? bytes : codes.row_stride * codes.height;
    codes.batch_stride = bytes * codes.channels * codes.height * codes.width;
    memory.resize(static_cast<size_t>(codes.batch_stride * codes.batch));
    codes.data = memory.data();
    for (int n = 0; n < codes.batch; n++)
        for (int c = 0; c < codes.channels; c++)
            for (int y = 0; y < codes.height; y++)
                for (int x = 0; x < codes.width; x++) {
                    const float value = sample(floats, n, c, y, x);
                    codes.had_nan |= std::isnan(value);
                    const auto white = static_cast<float>(wish.white);
                    const long code =
                        std::isnan(value) ? 0 : std::lrint(std::clamp(value * white, 0.0F, white));
                    char *at = address(codes, n, c, y, x);
                    if (bytes == 1)
                        *reinterpret_cast<uint8_t *>(at) = static_cast<uint8_t>(code);
                    else
                        *reinterpret_cast<uint16_t *>(at) = static_cast<uint16_t>(code);
                }
    return codes;
}

// The same for the same seed and run, and spread evenly (SplitMix64).
uint64_t random_number(uint64_t seed, uint64_t run)
{
    uint64_t bits = seed * 0xbf58476d1ce4e5b9U + (run + 1) * 0x9e3779b97f4a7c15U;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
    return bits ^ (bits >> 31);
}

} // namespace

void DnnTorchSession::stop()
{
    const std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
}

void DnnTorchSession::sleep_until_due(uint64_t run)
{
    int64_t latency_us = script_.latency_us;
    if (script_.latency_random_us > 0)
        latency_us += static_cast<int64_t>(random_number(static_cast<uint64_t>(script_.seed), run) %
                                           (static_cast<uint64_t>(script_.latency_random_us) + 1));
    std::unique_lock<std::mutex> lock(mutex_);
    if (changed_.wait_for(lock, std::chrono::microseconds(latency_us), [&] { return stopped_; }))
        throw Failure(DNN_TORCH_STOPPED, "stopped");
}

void DnnTorchSession::hang()
{
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return stopped_; });
    throw Failure(DNN_TORCH_STOPPED, "stopped");
}

void DnnTorchSession::log_run(const DnnTorchImages &input)
{
    if (script_.log.empty())
        return;
    const std::lock_guard<std::mutex> lock(model_.log_mutex);
    std::ofstream(script_.log, std::ios::app)
        << std::this_thread::get_id() << ' ' << input.batch << ' ' << input.number << '\n';
}

DnnTorchImages DnnTorchSession::run(const DnnTorchImages &input, const DnnTorchImages &wish)
{
    check_input(script_, input);
    const bool wide = script_.rgb_from > 0 && input.width >= script_.rgb_from;
    if (input.channels == 3 && !script_.fail_rgb.empty() && !wide)
        throw Failure(DNN_TORCH_RUN_FAILED, script_.fail_rgb);
    const uint64_t run = model_.runs++;
    sleep_until_due(run);
    log_run(input);
    if (holds(input, script_.hang_at))
        hang();
    if (holds(input, script_.fail_at) || static_cast<int64_t>(run) == script_.fail_at_run)
        throw Failure(DNN_TORCH_RUN_FAILED, script_.fail_text);
    if (holds(input, script_.out_of_memory_at))
        throw Failure(DNN_TORCH_OUT_OF_MEMORY, "the script says that memory ran out");
    DnnTorchImages output = shape_of(script_, input);
    fill(script_, input, output, output_);
    output.data = output_.data();
    if (script_.takes_codes && (wish.element == DNN_TORCH_U8 || wish.element == DNN_TORCH_U16))
        output = in_codes(output, input, wish, codes_);
    if (holds(input, script_.wrong_element_at))
        output.element = 99;
    return output;
}

namespace fake_engine
{

// A run like any other on a grey picture.
static DnnTorchShape probe(DnnTorchModel &model, const DnnTorchShape &shape)
{
    std::vector<float> grey(static_cast<size_t>(shape.batch) * static_cast<size_t>(shape.channels) *
                                static_cast<size_t>(shape.height) *
                                static_cast<size_t>(shape.width),
                            0.5F);
    DnnTorchImages input = {};
    input.data = grey.data();
    input.element = DNN_TORCH_F32;
    input.batch = shape.batch;
    input.channels = shape.channels;
    input.height = shape.height;
    input.width = shape.width;
    input.column_stride = sizeof(float);
    input.row_stride = input.column_stride * shape.width;
    input.channel_stride = input.row_stride * shape.height;
    input.batch_stride = input.channel_stride * shape.channels;
    DnnTorchSession session(model);
    const DnnTorchImages output = session.run(input, {});
    return {output.batch, output.channels, output.height, output.width};
}

} // namespace fake_engine

namespace
{

void say(DnnTorchMessage &message, const char *text)
{
    std::strncpy(message.text, text, sizeof message.text - 1);
    message.text[sizeof message.text - 1] = '\0';
}

template <class Body> int guarded(DnnTorchMessage *message, Body &&body) noexcept
{
    try {
        body();
        return DNN_TORCH_OK;
    } catch (const Failure &failure) {
        say(*message, failure.what());
        return failure.status();
    } catch (const std::exception &error) {
        say(*message, error.what());
        return DNN_TORCH_INTERNAL;
    }
}

void check_options(const DnnTorchModelOptions &options)
{
    const std::string device = options.device ? options.device : "";
    if (!options.path || !*options.path)
        throw Failure(DNN_TORCH_BAD_OPTION, "no model is given; name one with model=FILE");
    if (!device.empty() && device != "cpu")
        throw Failure(DNN_TORCH_NO_DEVICE, "device '" + device + "' is not available");
}

[[noreturn]] void hang_for_ever()
{
    for (;;)
        std::this_thread::sleep_for(std::chrono::hours(1));
}

void log_load(const Script &script, const char *event)
{
    if (script.loads.empty())
        return;
    // One write to its end: opens at the same time do not mix.
    std::ofstream(script.loads, std::ios::app) << (std::string(event) + '\n');
}

int model_open(const DnnTorchModelOptions *options, DnnTorchModel **model,
               DnnTorchMessage *message) noexcept
{
    return guarded(message, [&] {
        check_options(*options);
        const Script script = fake_engine::read_script(options->path);
        log_load(script, "open");
        std::this_thread::sleep_for(std::chrono::microseconds(script.open_us));
        if (!script.fail_open.empty())
            throw Failure(DNN_TORCH_BAD_MODEL, script.fail_open);
        if (script.hang_open)
            hang_for_ever();
        *model = std::make_unique<DnnTorchModel>(script).release();
    });
}

// A script tells nothing but that it is one.
int model_describe(const char *path, DnnTorchDescription *description,
                   DnnTorchMessage *message) noexcept
{
    return guarded(message, [&] {
        fake_engine::read_script(path);
        std::strcpy(description->format, "script");
    });
}

void model_close(DnnTorchModel **model) noexcept
{
    if (*model)
        log_load((*model)->script, "close");
    delete *model;
    *model = nullptr;
}

const char *model_notice(const DnnTorchModel *model) noexcept
{
    return model->script.notice.c_str();
}

// It counts as a run, and not as a session.
int model_probe(DnnTorchModel *model, const DnnTorchShape *shape, DnnTorchShape *result,
                DnnTorchMessage *message) noexcept
{
    return guarded(message, [&] { *result = fake_engine::probe(*model, *shape); });
}

int model_tune(DnnTorchModel *model, const DnnTorchShape *, double, DnnTorchTuning *tuning,
               DnnTorchMessage *message) noexcept
{
    return guarded(message, [&] {
        const Script &script = model->script;
        if (!script.fail_tune.empty())
            throw Failure(DNN_TORCH_RUN_FAILED, script.fail_tune);
        if (script.hang_tune)
            hang_for_ever();
        *tuning = {static_cast<double>(script.tuned_us) / 1e6, script.tuned_bytes,
                   script.interleaved, script.takes_codes, script.in_order};
    });
}

const char *model_form(const DnnTorchModel *) noexcept
{
    return "scripted";
}

const char *model_advice(const DnnTorchModel *model) noexcept
{
    return model->script.advice.c_str();
}

int session_open(DnnTorchModel *model, int32_t threads, DnnTorchSession **session,
                 DnnTorchMessage *message) noexcept
{
    return guarded(message, [&] {
        if (threads < 1)
            throw Failure(DNN_TORCH_BAD_OPTION, "threads is below 1");
        if (++model->sessions == model->script.fail_session_open)
            throw Failure(DNN_TORCH_RUN_FAILED, "the script says that this session fails");
        *session = std::make_unique<DnnTorchSession>(*model).release();
    });
}

// Warming would count as a run, and scripts count runs.
void session_warm(DnnTorchSession *, const DnnTorchShape *) noexcept {}

int session_run(DnnTorchSession *session, const DnnTorchImages *input, DnnTorchImages *output,
                DnnTorchMessage *message) noexcept
{
    return guarded(message, [&] { *output = session->run(*input, *output); });
}

void *session_memory(DnnTorchSession *, int64_t) noexcept
{
    return nullptr;
}

int32_t list_devices(DnnTorchDevice *devices, int32_t capacity) noexcept
{
    if (capacity > 0)
        *devices = {"cpu", "", 0, 1, ""};
    return 1;
}

void session_stop(DnnTorchSession *session) noexcept
{
    session->stop();
}

void session_close(DnnTorchSession **session) noexcept
{
    delete *session;
    *session = nullptr;
}

constexpr DnnTorchEngine engine = {
    .abi = DNN_TORCH_ENGINE_ABI,
    .name = "fake",
    .version = "1",
    .model_open = model_open,
    .model_describe = model_describe,
    .model_close = model_close,
    .model_probe = model_probe,
    .model_tune = model_tune,
    .model_notice = model_notice,
    .model_form = model_form,
    .model_advice = model_advice,
    .session_open = session_open,
    .session_warm = session_warm,
    .session_run = session_run,
    .session_memory = session_memory,
    .session_stop = session_stop,
    .session_close = session_close,
    .list_devices = list_devices,
};

DnnTorchEngine engine_of_abi(const char *abi)
{
    DnnTorchEngine other = engine;
    other.abi = static_cast<uint32_t>(std::strtoul(abi, nullptr, 10));
    return other;
}

} // namespace

extern "C" __attribute__((visibility("default"))) const DnnTorchEngine *
dnn_torch_engine(uint32_t host_abi)
{
    const char *abi = std::getenv("FAKE_ENGINE_ABI");
    if (!abi)
        return host_abi == DNN_TORCH_ENGINE_ABI ? &engine : nullptr;
    if (std::strcmp(abi, "none") == 0)
        return nullptr;
    static const DnnTorchEngine other = engine_of_abi(abi);
    return &other;
}
