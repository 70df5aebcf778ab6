// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// An engine opened the way the host opens it, with owners that fail a test
// where the engine breaks what engine.h says of every call.
#pragma once

#include "dnn_torch/engine.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <iterator>
#include <mutex>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

// Opens the engine once; ends the program where it is none.
inline const DnnTorchEngine &engine(const std::string &path = "")
{
    static const DnnTorchEngine *const opened = [&path] {
        void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        void *symbol = library ? dlsym(library, DNN_TORCH_ENGINE_SYMBOL) : nullptr;
        if (!symbol) {
            std::fprintf(stderr, "%s is no engine: %s\n", path.c_str(), dlerror());
            std::exit(1);
        }
        return reinterpret_cast<DnnTorchEngineFunction *>(symbol)(DNN_TORCH_ENGINE_ABI);
    }();
    return *opened;
}

// Options that every model is opened with, beside its own.
inline std::vector<DnnTorchOption> &further_options()
{
    static std::vector<DnnTorchOption> options;
    return options;
}

// What a failing call must leave behind: a line, without a full stop.
inline void expect_message(const DnnTorchMessage &message)
{
    const std::string text(message.text, strnlen(message.text, sizeof message.text));
    EXPECT_GT(text.size(), 5U);
    EXPECT_LT(text.size(), 700U) << text;
    EXPECT_EQ(text.find_first_of("\n\r\t"), std::string::npos) << text;
    EXPECT_NE(text.back(), '.') << text;
    for (const char *noise : {"Traceback", "Exception raised from", "frame #", ".cpp:", ".cc:"})
        EXPECT_EQ(text.find(noise), std::string::npos) << text;
}

struct Outcome {
    int status = DNN_TORCH_OK;
    std::string message;
};

inline Outcome outcome(int status, const DnnTorchMessage &message)
{
    if (status == DNN_TORCH_OK)
        return {};
    expect_message(message);
    return {status, message.text};
}

// A failure with this status whose message has all these parts.
inline void expect_failure(const Outcome &outcome, DnnTorchStatus status,
                           const std::vector<std::string> &parts)
{
    EXPECT_EQ(outcome.status, status) << outcome.message;
    for (const std::string &part : parts)
        EXPECT_NE(outcome.message.find(part), std::string::npos)
            << "no '" << part << "' in: " << outcome.message;
}

// What a batch of pictures measures.
struct Shape {
    int32_t batch, channels, height, width;
};

// A batch of pictures; all strides are in bytes.
struct Images {
    void *data;
    int32_t element; // a DnnTorchType
    int32_t batch, channels, height, width;
    int64_t batch_stride, channel_stride, row_stride, column_stride;
    int32_t white, had_nan;
    int64_t number;
};

inline DnnTorchTensor tensor_of(const Shape &shape)
{
    return {.size = sizeof(DnnTorchTensor),
            .data = nullptr,
            .type = DNN_TORCH_F32,
            .rank = 4,
            .dims = {shape.batch, shape.channels, shape.height, shape.width},
            .strides = {},
            .white = 0};
}

inline DnnTorchTensor tensor_of(const Images &images)
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

inline Images images_of(const DnnTorchTensor &tensor)
{
    const auto extent = [&](int i) { return static_cast<int32_t>(tensor.dims[i]); };
    Images images = {};
    images.data = tensor.data;
    images.element = tensor.type;
    images.batch = extent(0);
    images.channels = extent(1);
    images.height = extent(2);
    images.width = extent(3);
    images.batch_stride = tensor.strides[0];
    images.channel_stride = tensor.strides[1];
    images.row_stride = tensor.strides[2];
    images.column_stride = tensor.strides[3];
    images.white = tensor.white;
    return images;
}

// The options of model_open(), and the file.
struct Options {
    const char *path, *device, *input_name, *output_name, *precision, *optimize, *allow, *inspect;
};

constexpr Shape usual_shape = {1, 3, 32, 48};

// A model with the plans that were made of it.  The last one counts.
class Model
{
public:
    explicit Model(const Options &options)
    {
        const std::string path = options.path ? options.path : "";
        const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        const DnnTorchSource source = {
            .size = sizeof source, .name = path.c_str(), .fd = fd, .data = nullptr, .data_size = 0};
        const DnnTorchOption given[] = {
            {"device", options.device},      {"input", options.input_name},
            {"output", options.output_name}, {"precision", options.precision},
            {"optimize", options.optimize},  {"allow", options.allow},
            {"inspect", options.inspect},
        };
        open_with(source, given, std::size(given));
        close(fd);
    }
    Model(const DnnTorchSource &source, const std::vector<DnnTorchOption> &options)
    {
        open_with(source, options.data(), options.size());
    }
    ~Model()
    {
        for (DnnTorchPlan *plan : plans_) {
            engine().plan_close(&plan);
            EXPECT_EQ(plan, nullptr);
        }
        engine().model_close(&model_);
        EXPECT_EQ(model_, nullptr);
    }
    Model(const Model &) = delete;
    Model &operator=(const Model &) = delete;

    // Makes another plan.  Without a budget nothing is measured.
    Outcome tune(const Shape &shape, double budget_seconds = 0,
                 const DnnTorchTensor *samples = nullptr)
    {
        const DnnTorchTensor in = tensor_of(shape);
        const DnnTorchPlanParameters parameters = {
            .size = sizeof parameters, .budget_seconds = budget_seconds, .samples = samples};
        DnnTorchMessage message = {};
        DnnTorchPlan *plan = nullptr;
        const int status = engine().plan_make(model_, &in, 1, &parameters, &plan, &message);
        EXPECT_EQ(status == DNN_TORCH_OK, plan != nullptr);
        if (plan)
            keep(plan);
        return planned = outcome(status, message);
    }

    // Leaves `probed` as it was on failure.
    Outcome probe(const Shape &shape)
    {
        const DnnTorchTensor in = tensor_of(shape);
        DnnTorchTensor out = {.size = sizeof out};
        DnnTorchMessage message = {};
        const int status = engine().model_probe(model_, &in, 1, &out, 1, &message);
        if (status == DNN_TORCH_OK) {
            const Images found = images_of(out);
            probed = {found.batch, found.channels, found.height, found.width};
        }
        return outcome(status, message);
    }

    // The last one, or one for the usual shape.
    const DnnTorchPlan *plan()
    {
        const std::lock_guard<std::recursive_mutex> lock(mutex_);
        if (plans_.empty())
            tune(usual_shape);
        return plans_.empty() ? nullptr : plans_.back();
    }

    std::vector<DnnTorchTensorInfo> tensors(DnnTorchDirection direction) const
    {
        const size_t count = engine().model_tensors(model_, direction, nullptr, 0);
        std::vector<DnnTorchTensorInfo> infos(count, DnnTorchTensorInfo{.size = sizeof infos[0]});
        EXPECT_EQ(engine().model_tensors(model_, direction, infos.data(), count), count);
        return infos;
    }

    // "" for what is not known.
    std::string metadata(const char *key) const
    {
        const char *text = engine().model_metadata(model_, key);
        return text ? text : "";
    }
    std::string notice() const { return metadata("notice"); }
    std::string variant() const { return of_plan("variant"); }
    std::string threaded_variant() const { return of_plan("threaded_variant"); }
    // "fp32, fused, frozen": precision, `optimize`, and that of sessions with several threads.
    std::string options_of_variant() const
    {
        return of_plan("variant_precision") + ", " + of_plan("variant_optimize") + ", " +
               of_plan("threaded_optimize");
    }
    std::string hint() const { return of_plan("hint"); }
    DnnTorchModel *get() { return model_; }

    Outcome opened, planned; // planned: the last plan, or why there is none
    DnnTorchPlanFacts tuning = {};
    Shape probed = {};

private:
    void open_with(const DnnTorchSource &source, const DnnTorchOption *options, size_t count)
    {
        std::vector<DnnTorchOption> all(options, options + count);
        all.insert(all.end(), further_options().begin(), further_options().end());
        DnnTorchMessage message = {};
        opened = outcome(engine().model_open(&source, all.data(), all.size(), &model_, &message),
                         message);
        EXPECT_EQ(opened.status == DNN_TORCH_OK, model_ != nullptr);
    }

    void keep(DnnTorchPlan *plan)
    {
        const std::lock_guard<std::recursive_mutex> lock(mutex_);
        plans_.push_back(plan);
        tuning.size = sizeof tuning;
        engine().plan_facts(plan, &tuning);
    }

    std::string of_plan(const char *key) const
    {
        const char *text = plans_.empty() ? nullptr : engine().plan_metadata(plans_.back(), key);
        return text ? text : "";
    }

    DnnTorchModel *model_ = nullptr;
    mutable std::recursive_mutex mutex_;
    std::vector<DnnTorchPlan *> plans_;
};

inline Options options_for(const std::string &path, const char *optimize = "1",
                           const char *precision = nullptr)
{
    Options options = {};
    options.path = path.c_str();
    options.optimize = optimize;
    options.precision = precision;
    return options;
}

// Float samples of one's own without gaps, at first as planes.
struct Pictures {
    Pictures(int batch, int channels, int height, int width)
        : samples(static_cast<size_t>(batch) * static_cast<size_t>(channels) *
                  static_cast<size_t>(height) * static_cast<size_t>(width)),
          view()
    {
        for (size_t i = 0; i < samples.size(); i++)
            samples[i] = static_cast<float>(i * 37 % 256) / 255.0F;
        view.data = samples.data();
        view.element = DNN_TORCH_F32;
        view.batch = batch;
        view.channels = channels;
        view.height = height;
        view.width = width;
        view.column_stride = sizeof(float);
        view.row_stride = view.column_stride * width;
        view.channel_stride = view.row_stride * height;
        view.batch_stride = view.channel_stride * channels;
    }
    // The same pictures with their channels side by side.
    void interleave()
    {
        const std::vector<float> planes = samples;
        const Images from = view;
        view.column_stride = sample_bytes * from.channels;
        view.row_stride = view.column_stride * from.width;
        view.channel_stride = sample_bytes;
        for (size_t i = 0; i < planes.size(); i++) {
            const auto at = static_cast<int64_t>(i);
            const int64_t x = at % from.width, y = at / from.width % from.height;
            const int64_t c = at / from.width / from.height % from.channels;
            const int64_t n = at / from.width / from.height / from.channels;
            const int64_t bytes = n * view.batch_stride + c * view.channel_stride +
                                  y * view.row_stride + x * view.column_stride;
            samples[static_cast<size_t>(bytes / sample_bytes)] = planes[i];
        }
    }
    Pictures(const Pictures &) = delete;
    Pictures &operator=(const Pictures &) = delete;

    Shape shape() const { return {view.batch, view.channels, view.height, view.width}; }

    static constexpr int64_t sample_bytes = sizeof(float);
    std::vector<float> samples;
    Images view;
};

inline float sample(const Images &images, int n, int c, int y, int x)
{
    float value = 0;
    std::memcpy(&value,
                static_cast<const char *>(images.data) + n * images.batch_stride +
                    c * images.channel_stride + y * images.row_stride + x * images.column_stride,
                sizeof value);
    return value;
}

// All samples of a view in the order n, c, y, x.
inline std::vector<float> samples_of(const Images &images)
{
    std::vector<float> samples;
    for (int n = 0; n < images.batch; n++)
        for (int c = 0; c < images.channels; c++)
            for (int y = 0; y < images.height; y++)
                for (int x = 0; x < images.width; x++)
                    samples.push_back(sample(images, n, c, y, x));
    return samples;
}

// A session of the model's last plan: where another is made, it goes over to that one.
class Session
{
public:
    explicit Session(Model &model, int threads = 1) : model_(model), threads_(threads)
    {
        if (!model.get())
            throw std::runtime_error("no model: " + model.opened.message);
        follow();
    }
    ~Session()
    {
        for (DnnTorchSession *session : sessions_) {
            engine().session_close(&session);
            EXPECT_EQ(session, nullptr);
        }
    }
    Session(const Session &) = delete;
    Session &operator=(const Session &) = delete;

    // The picture goes in and must be what it was.
    Outcome run(const Pictures &pictures)
    {
        const std::vector<float> before = pictures.samples;
        const Outcome result = run(pictures.view);
        EXPECT_EQ(before, pictures.samples) << "the engine wrote into its input";
        return result;
    }

    // `wish` says which elements are to come out, if not floats.
    Outcome run(const Images &view, const Images &wish = {})
    {
        const DnnTorchTensor in = tensor_of(view);
        DnnTorchTensor out = {.size = sizeof out, .type = wish.element, .white = wish.white};
        DnnTorchRun report = {.size = sizeof report, .number = view.number, .had_nan = 0};
        DnnTorchMessage message = {};
        DnnTorchSession *session = follow();
        if (!session)
            return model_.planned;
        const int status = engine().session_run(session, &in, 1, &out, 1, &report, &message);
        EXPECT_EQ(status == DNN_TORCH_OK, out.data != nullptr);
        output = images_of(out);
        output.had_nan = report.had_nan;
        return outcome(status, message);
    }

    Outcome reset()
    {
        DnnTorchMessage message = {};
        return outcome(engine().session_reset(follow(), &message), message);
    }
    void warm() { engine().session_warm(follow()); }
    void stop() { engine().session_stop(sessions_.back()); }
    void *memory(size_t bytes) { return engine().session_memory(follow(), bytes); }
    DnnTorchSession *get() { return follow(); }

    Outcome opened;
    Images output = {};

private:
    // What an earlier session gave out is still looked at.
    DnnTorchSession *follow()
    {
        const DnnTorchPlan *plan = model_.plan();
        if (plan && plan != plan_) {
            DnnTorchMessage message = {};
            DnnTorchSession *session = nullptr;
            opened = outcome(engine().session_open(plan, threads_, &session, &message), message);
            EXPECT_EQ(opened.status == DNN_TORCH_OK, session != nullptr);
            if (session)
                sessions_.push_back(session);
        }
        plan_ = plan;
        return sessions_.empty() ? nullptr : sessions_.back();
    }

    Model &model_;
    const int threads_;
    const DnnTorchPlan *plan_ = nullptr;
    std::vector<DnnTorchSession *> sessions_;
};
