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
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
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

class Model
{
public:
    explicit Model(const DnnTorchModelOptions &options)
    {
        DnnTorchMessage message = {};
        opened = outcome(engine().model_open(&options, &model_, &message), message);
        EXPECT_EQ(opened.status == DNN_TORCH_OK, model_ != nullptr);
    }
    ~Model()
    {
        engine().model_close(&model_);
        EXPECT_EQ(model_, nullptr);
    }
    Model(const Model &) = delete;
    Model &operator=(const Model &) = delete;

    // Without a budget nothing is measured.
    Outcome tune(const DnnTorchShape &shape, double budget_seconds = 0)
    {
        DnnTorchMessage message = {};
        return outcome(engine().model_tune(model_, &shape, budget_seconds, &tuning, &message),
                       message);
    }

    // Leaves `probed` as it was on failure.
    Outcome probe(const DnnTorchShape &shape)
    {
        DnnTorchMessage message = {};
        return outcome(engine().model_probe(model_, &shape, &probed, &message), message);
    }

    std::string notice() const { return engine().model_notice(model_); }
    std::string form() const { return engine().model_form(model_); }
    std::string advice() const { return engine().model_advice(model_); }
    DnnTorchModel *get() { return model_; }

    Outcome opened;
    DnnTorchTuning tuning = {};
    DnnTorchShape probed = {};

private:
    DnnTorchModel *model_ = nullptr;
};

inline DnnTorchModelOptions options_for(const std::string &path, const char *optimize = "1",
                                        const char *precision = nullptr)
{
    DnnTorchModelOptions options = {};
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
        const DnnTorchImages from = view;
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

    DnnTorchShape shape() const { return {view.batch, view.channels, view.height, view.width}; }

    static constexpr int64_t sample_bytes = sizeof(float);
    std::vector<float> samples;
    DnnTorchImages view;
};

inline float sample(const DnnTorchImages &images, int n, int c, int y, int x)
{
    float value = 0;
    std::memcpy(&value,
                static_cast<const char *>(images.data) + n * images.batch_stride +
                    c * images.channel_stride + y * images.row_stride + x * images.column_stride,
                sizeof value);
    return value;
}

// All samples of a view in the order n, c, y, x.
inline std::vector<float> samples_of(const DnnTorchImages &images)
{
    std::vector<float> samples;
    for (int n = 0; n < images.batch; n++)
        for (int c = 0; c < images.channels; c++)
            for (int y = 0; y < images.height; y++)
                for (int x = 0; x < images.width; x++)
                    samples.push_back(sample(images, n, c, y, x));
    return samples;
}

class Session
{
public:
    explicit Session(Model &model, int threads = 1)
    {
        if (!model.get())
            throw std::runtime_error("no model: " + model.opened.message);
        DnnTorchMessage message = {};
        opened = outcome(engine().session_open(model.get(), threads, &session_, &message), message);
        EXPECT_EQ(opened.status == DNN_TORCH_OK, session_ != nullptr);
    }
    ~Session()
    {
        engine().session_close(&session_);
        EXPECT_EQ(session_, nullptr);
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
    Outcome run(const DnnTorchImages &view, const DnnTorchImages &wish = {})
    {
        DnnTorchMessage message = {};
        output = {};
        output.element = wish.element;
        output.white = wish.white;
        const int status = engine().session_run(session_, &view, &output, &message);
        EXPECT_EQ(status == DNN_TORCH_OK, output.data != nullptr);
        return outcome(status, message);
    }

    void warm(const DnnTorchShape &shape) { engine().session_warm(session_, &shape); }
    void stop() { engine().session_stop(session_); }
    void *memory(int64_t bytes) { return engine().session_memory(session_, bytes); }

    Outcome opened;
    DnnTorchImages output = {};

private:
    DnnTorchSession *session_ = nullptr;
};
