// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// An engine without LibTorch, which does what its model's script says.
//
// FAKE_ENGINE_ABI in the environment makes it an engine of that ABI, or, with
// "none", one that serves no host.
#include "dnn_torch/engine.h"

#include "death.h"
#include "engine_kit/options.h"
#include "engine_kit/sized.h"
#include "script.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

using engine_kit::Failure;
using engine_kit::sized;
using engine_kit::taken;
using fake_engine::Script;

struct DnnTorchModel final {
    DnnTorchModel(const Script &read, bool is_looked_at, bool all)
        : script(read), is_inspected(is_looked_at), returns_all(all)
    {
    }

    const Script script;
    const bool is_inspected;
    const bool returns_all; // and not one picture alone
    std::atomic<int> sessions{0};
    std::atomic<uint64_t> runs{0};
    std::mutex log_mutex; // around appending to the log's file
};

struct DnnTorchPlan final {
    explicit DnnTorchPlan(DnnTorchModel &planned) : model(planned) {}

    DnnTorchModel &model;
    float offset = 0; // what results grow by
    mutable std::atomic<bool> has_given_up{false};
};

namespace
{

// The same elements as a tensor of [batch, channels, height, width].
struct Images {
    void *data;
    int32_t element;
    int32_t batch, channels, height, width;
    int64_t batch_stride, channel_stride, row_stride, column_stride;
    int32_t white;
    int32_t had_nan;
    int64_t number, predecessor_distance;
    int32_t more;
};

} // namespace

struct DnnTorchSession final {
public:
    explicit DnnTorchSession(const DnnTorchPlan &plan)
        : plan_(plan), model_(plan.model), script_(model_.script),
          offset_(script_.offset + plan.offset), tensors_(script_.tensors)
    {
    }

    Images run(const Images &input, const Images &wish);
    // Runs as run() does, and returns the script's tensors or that picture.
    std::vector<DnnTorchTensor> run_for_all(const Images &input);
    bool returns_all() const { return model_.returns_all; }
    void reset() { own_runs_ = 0; }
    void stop();

private:
    void sleep_until_due(uint64_t run);
    void hang();
    void log_run(const Images &input);

    const DnnTorchPlan &plan_;
    DnnTorchModel &model_;
    const Script &script_;
    const float offset_;
    int own_runs_ = 0; // since the session was opened or reset
    std::vector<fake_engine::ScriptedTensor> tensors_;
    std::vector<float> output_;
    std::vector<uint16_t> codes_; // bytes, or numbers of 16 bits

    std::mutex mutex_;
    std::condition_variable changed_;
    // ---- under mutex_
    bool stopped_ = false;
};

namespace
{

void check_input(const Script &script, const Images &input)
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

char *address(const Images &images, int n, int c, int y, int x)
{
    return static_cast<char *>(images.data) + n * images.batch_stride + c * images.channel_stride +
           y * images.row_stride + x * images.column_stride;
}

float sample(const Images &images, int n, int c, int y, int x)
{
    const char *at = address(images, n, c, y, x);
    const auto white = static_cast<float>(images.white);
    if (images.element == DNN_TORCH_U8)
        return static_cast<float>(*reinterpret_cast<const uint8_t *>(at)) / white;
    if (images.element == DNN_TORCH_U16)
        return static_cast<float>(*reinterpret_cast<const uint16_t *>(at)) / white;
    return *reinterpret_cast<const float *>(at);
}

int picture_number(const Images &input, int n)
{
    return static_cast<int>(std::lround(255.0F * sample(input, n, 0, 0, 0)));
}

bool holds(const Images &input, int number)
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
Images shape_of(const Script &script, const Images &input)
{
    Images output = {};
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

void fill_plane(const Script &script, const Images &input, int n, int c, float offset,
                const Images &output, float *plane)
{
    // Samples of YUV may lie below 0, and a number that is not set is -1.
    const bool is_nan = script.nan_at >= 0 && picture_number(input, n) == script.nan_at;
    for (int y = 0; y < output.height; y++)
        for (int x = 0; x < output.width; x++) {
            const float value = sample(input, n, c, source_of(script, y, input.height),
                                       source_of(script, x, input.width));
            *plane++ =
                is_nan ? std::numeric_limits<float>::quiet_NaN() : value * script.gain + offset;
        }
}

void fill(const Script &script, const Images &input, float offset, const Images &output,
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
                       offset, output, plane);
}

// The same images in codes, with channels side by side or not as in `input`.
Images in_codes(const Images &floats, const Images &input, const Images &wish,
                std::vector<uint16_t> &memory)
{
    Images codes = floats;
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

void DnnTorchSession::log_run(const Images &input)
{
    if (script_.log.empty())
        return;
    const std::lock_guard<std::mutex> lock(model_.log_mutex);
    std::ofstream(script_.log, std::ios::app)
        << std::this_thread::get_id() << ' ' << input.batch << ' ' << input.number << ' '
        << input.predecessor_distance << ' ' << input.more << '\n';
}

Images DnnTorchSession::run(const Images &input, const Images &wish)
{
    check_input(script_, input);
    if (!script_.print.empty())
        std::printf("%s\n", script_.print.c_str());
    if (holds(input, script_.die_at))
        fake_engine::die(script_.die_run);
    const bool wide = script_.rgb_from > 0 && input.width >= script_.rgb_from;
    if (input.channels == 3 && !script_.fail_rgb.empty() && !wide)
        throw Failure(static_cast<DnnTorchStatus>(script_.fail_rgb_status), script_.fail_rgb);
    const uint64_t run = model_.runs++;
    sleep_until_due(run);
    log_run(input);
    if (holds(input, script_.hang_at))
        hang();
    if (holds(input, script_.fail_at) || static_cast<int64_t>(run) == script_.fail_at_run)
        throw Failure(DNN_TORCH_RUN_FAILED, script_.fail_text);
    if (holds(input, script_.out_of_memory_at))
        throw Failure(DNN_TORCH_OUT_OF_MEMORY, "the script says that memory ran out");
    plan_.has_given_up = script_.gives_up != 0;
    Images output = shape_of(script_, input);
    const auto own_run = static_cast<float>(own_runs_++);
    float offset = offset_ + own_run * script_.each_run;
    if (script_.tells_turn)
        offset += static_cast<float>(input.predecessor_distance) + (input.more ? 100.0F : 0.0F);
    fill(script_, input, offset, output, output_);
    output.data = output_.data();
    if (script_.takes_integers && (wish.element == DNN_TORCH_U8 || wish.element == DNN_TORCH_U16))
        output = in_codes(output, input, wish, codes_);
    if (holds(input, script_.wrong_element_at))
        output.element = 99;
    return output;
}

namespace
{

Images images_of(const DnnTorchTensor &tensor)
{
    if (tensor.rank != 4)
        throw Failure(DNN_TORCH_BAD_INPUT, "the input is not of rank 4");
    const auto extent = [&](int i) { return static_cast<int32_t>(tensor.dims[i]); };
    return {.data = tensor.data,
            .element = tensor.type,
            .batch = extent(0),
            .channels = extent(1),
            .height = extent(2),
            .width = extent(3),
            .batch_stride = tensor.strides[0],
            .channel_stride = tensor.strides[1],
            .row_stride = tensor.strides[2],
            .column_stride = tensor.strides[3],
            .white = tensor.white,
            .had_nan = 0,
            .number = 0,
            .predecessor_distance = 0,
            .more = 0};
}

DnnTorchTensor tensor_of(const Images &images)
{
    return {.size = sizeof(DnnTorchTensor),
            .data = images.data,
            .type = images.element,
            .rank = 4,
            .dims = {images.batch, images.channels, images.height, images.width},
            .strides = {images.batch_stride, images.channel_stride, images.row_stride,
                        images.column_stride},
            .white = images.white};
}

} // namespace

std::vector<DnnTorchTensor> DnnTorchSession::run_for_all(const Images &input)
{
    const Images picture = run(input, {});
    if (tensors_.empty())
        return {tensor_of(picture)};
    std::vector<DnnTorchTensor> views;
    for (fake_engine::ScriptedTensor &tensor : tensors_)
        views.push_back(tensor.view());
    return views;
}

namespace
{

// Where there are fewer tensors than `capacity`, the others get no type.
void give_all(const std::vector<DnnTorchTensor> &tensors, DnnTorchTensor *out, size_t capacity)
{
    if (tensors.size() > capacity)
        throw Failure(DNN_TORCH_BAD_OUTPUT, "the script has " + std::to_string(tensors.size()) +
                                                " tensors, where at most " +
                                                std::to_string(capacity) + " are taken");
    for (size_t i = 0; i < capacity; i++)
        engine_kit::give_element(i < tensors.size() ? tensors[i] : sized<DnnTorchTensor>(), out, i);
}

// A run like any other on a grey picture.
std::vector<DnnTorchTensor> probe(DnnTorchModel &model, const DnnTorchTensor &shape)
{
    Images input = images_of(shape);
    std::vector<float> grey(static_cast<size_t>(input.batch) * static_cast<size_t>(input.channels) *
                                static_cast<size_t>(input.height) *
                                static_cast<size_t>(input.width),
                            0.5F);
    input.data = grey.data();
    input.element = DNN_TORCH_F32;
    input.column_stride = sizeof(float);
    input.row_stride = input.column_stride * input.width;
    input.channel_stride = input.row_stride * input.height;
    input.batch_stride = input.channel_stride * input.channels;
    const DnnTorchPlan plan(model);
    DnnTorchSession session(plan);
    std::vector<DnnTorchTensor> outputs = session.returns_all()
                                              ? session.run_for_all(input)
                                              : std::vector{tensor_of(session.run(input, {}))};
    for (DnnTorchTensor &output : outputs)
        output.data = nullptr;
    return outputs;
}

void expect_one(size_t count)
{
    if (count != 1)
        throw Failure(DNN_TORCH_BAD_INPUT, "a script takes one tensor and returns one");
}

void expect_outputs(size_t count, bool returns_all)
{
    if (!returns_all || count == 0)
        expect_one(count);
}

void expect_runnable(const DnnTorchModel &model)
{
    if (model.is_inspected)
        throw Failure(DNN_TORCH_BAD_MODEL, "the model was opened to be looked at");
}

template <class Body> int guarded(DnnTorchMessage *message, Body &&body) noexcept
{
    return engine_kit::guarded(engine_kit::Phase::running, engine_kit::failure_in_words, message,
                               std::forward<Body>(body));
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

DnnTorchModel *open(const DnnTorchSource &source, const engine_kit::Options &options)
{
    const std::string device = options.value("device");
    if (!device.empty() && device != "cpu")
        throw Failure(DNN_TORCH_NO_DEVICE, "device '" + device + "' is not available");
    const Script script = fake_engine::read_script(source);
    const bool is_inspected = options.value("inspect") == "1";
    log_load(script, "open");
    std::this_thread::sleep_for(std::chrono::microseconds(script.open_us));
    fake_engine::die(script.die_open);
    if (!script.fail_open.empty() && !is_inspected)
        throw Failure(DNN_TORCH_BAD_MODEL, script.fail_open);
    if (script.hang_open)
        hang_for_ever();
    return std::make_unique<DnnTorchModel>(script, is_inspected,
                                           options.value("results") == "tensors")
        .release();
}

int model_open(const DnnTorchSource *source, const DnnTorchOption *options, size_t option_count,
               DnnTorchModel **model, DnnTorchMessage *message) noexcept
{
    return guarded(message, [&] {
        const engine_kit::Options known(
            options, option_count,
            {"device", "input", "output", "precision", "optimize", "allow", "inspect", "results"});
        *model = open(taken(source), known);
    });
}

void model_close(DnnTorchModel **model) noexcept
{
    if (*model)
        log_load((*model)->script, "close");
    delete *model;
    *model = nullptr;
}

// A script tells nothing of its tensors.
size_t model_tensors(const DnnTorchModel *, DnnTorchDirection, DnnTorchTensorInfo *,
                     size_t) noexcept
{
    return 0;
}

const char *model_metadata(const DnnTorchModel *model, const char *key) noexcept
{
    if (!key)
        return nullptr;
    if (std::strcmp(key, "format") == 0)
        return "script";
    if (std::strcmp(key, "exclusive") == 0)
        return model->script.exclusive ? "1" : nullptr;
    if (std::strcmp(key, "precision_values") == 0)
        return "auto, fp32, bf16";
    if (std::strcmp(key, "small_samples") == 0) // as LibTorch's
        return "20480";
    if (std::strcmp(key, "refused") == 0)
        return model->script.fail_open.c_str();
    return std::strcmp(key, "notice") == 0 ? model->script.notice.c_str() : nullptr;
}

// It counts as a run, and not as a session.
int model_probe(DnnTorchModel *model, const DnnTorchTensor *in, size_t in_count,
                DnnTorchTensor *out, size_t out_count, DnnTorchMessage *message) noexcept
{
    return guarded(message, [&] {
        expect_one(in_count);
        expect_outputs(out_count, model->returns_all);
        expect_runnable(*model);
        fake_engine::die(model->script.die_probe);
        give_all(probe(*model, taken(in)), out, out_count);
    });
}

void log_samples(const std::string &path, const Images &samples)
{
    std::ofstream log(path, std::ios::app);
    log << samples.channels << 'x' << samples.height << 'x' << samples.width;
    for (int n = 0; n < samples.batch; n++)
        log << ' ' << picture_number(samples, n);
    log << std::endl;
}

int plan_make(DnnTorchModel *model, const DnnTorchTensor *in, size_t in_count,
              const DnnTorchPlanParameters *parameters, DnnTorchPlan **plan,
              DnnTorchMessage *message) noexcept
{
    return guarded(message, [&] {
        const Script &script = model->script;
        expect_one(in_count);
        expect_runnable(*model);
        images_of(taken(in));
        fake_engine::die(script.die_tune);
        if (!script.fail_tune.empty())
            throw Failure(DNN_TORCH_RUN_FAILED, script.fail_tune);
        if (script.hang_tune)
            hang_for_ever();
        auto made = std::make_unique<DnnTorchPlan>(*model);
        if (script.gives_up && taken(parameters).as_saved)
            made->offset += 1000;
        if (const DnnTorchTensor *given = taken(parameters).samples) {
            const Images samples = images_of(taken(given));
            if (script.tells_samples)
                made->offset += sample(samples, 0, 0, 0, 0);
            if (!script.samples_log.empty())
                log_samples(script.samples_log, samples);
        }
        *plan = made.release();
    });
}

void plan_close(DnnTorchPlan **plan) noexcept
{
    delete *plan;
    *plan = nullptr;
}

void plan_facts(const DnnTorchPlan *plan, DnnTorchPlanFacts *facts) noexcept
{
    const Script &script = plan->model.script;
    engine_kit::give({.size = sizeof *facts,
                      .run_seconds = static_cast<double>(script.tuned_us) / 1e6,
                      .run_bytes = script.tuned_bytes,
                      .interleaved = script.interleaved,
                      .takes_integers = script.takes_integers,
                      .in_order = script.in_order,
                      .as_saved = plan->has_given_up},
                     facts);
}

const char *plan_metadata(const DnnTorchPlan *plan, const char *key) noexcept
{
    if (!key)
        return nullptr;
    if (std::strcmp(key, "variant") == 0)
        return "scripted";
    return std::strcmp(key, "hint") == 0 ? plan->model.script.hint.c_str() : nullptr;
}

int session_open(const DnnTorchPlan *plan, int32_t threads, DnnTorchSession **session,
                 DnnTorchMessage *message) noexcept
{
    return guarded(message, [&] {
        DnnTorchModel &model = plan->model;
        if (threads < 1)
            throw Failure(DNN_TORCH_BAD_OPTION, "threads is below 1");
        if (++model.sessions == model.script.fail_session_open)
            throw Failure(DNN_TORCH_RUN_FAILED, "the script says that this session fails");
        *session = std::make_unique<DnnTorchSession>(*plan).release();
    });
}

// Warming would count as a run, and scripts count runs.
void session_warm(DnnTorchSession *) noexcept {}

int session_run(DnnTorchSession *session, const DnnTorchTensor *in, size_t in_count,
                DnnTorchTensor *out, size_t out_count, DnnTorchRun *run,
                DnnTorchMessage *message) noexcept
{
    return guarded(message, [&] {
        expect_one(in_count);
        expect_outputs(out_count, session->returns_all());
        DnnTorchRun report = taken(run);
        const DnnTorchTensor wish = taken(out);
        Images input = images_of(taken(in));
        input.number = report.number;
        input.predecessor_distance = report.predecessor_distance;
        input.more = report.more;
        if (session->returns_all())
            return give_all(session->run_for_all(input), out, out_count);
        Images wished = {};
        wished.element = wish.type;
        wished.white = wish.white;
        const Images output = session->run(input, wished);
        report.had_nan = output.had_nan;
        engine_kit::give(tensor_of(output), out);
        engine_kit::give(report, run);
    });
}

int session_reset(DnnTorchSession *session, DnnTorchMessage *) noexcept
{
    session->reset();
    return DNN_TORCH_OK;
}

void *session_memory(DnnTorchSession *, size_t) noexcept
{
    return nullptr;
}

size_t list_devices(DnnTorchDevice *devices, size_t capacity) noexcept
{
    auto cpu = sized<DnnTorchDevice>();
    std::strcpy(cpu.name, "cpu");
    cpu.state = DNN_TORCH_DEVICE_USABLE;
    if (capacity > 0)
        engine_kit::give_element(cpu, devices, 0);
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
    .size = sizeof(DnnTorchEngine),
    .name = "fake",
    .version = "1",
    .model_open = model_open,
    .model_close = model_close,
    .model_tensors = model_tensors,
    .model_metadata = model_metadata,
    .model_probe = model_probe,
    .plan_make = plan_make,
    .plan_close = plan_close,
    .plan_facts = plan_facts,
    .plan_metadata = plan_metadata,
    .session_open = session_open,
    .session_warm = session_warm,
    .session_run = session_run,
    .session_reset = session_reset,
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
