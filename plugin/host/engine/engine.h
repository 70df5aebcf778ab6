// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// C++ owners for what include/dnn_torch/engine.h offers.  Everything here
// throws Error with the engine's own message.
#pragma once

#include "../pipeline/size_rule.h"

#include "dnn_torch/engine.h"

#include <memory>
#include <string>

namespace dnn_torch
{

// Opens `engine-NAME.so`, which then stays open: no LibTorch survives being unloaded.
const DnnTorchEngine *open_engine(const std::string &name);

// The device that an engine is to be given for the option `device`.  Asks another
// process, so that no driver hangs or crashes in this one.
struct DeviceChoice {
    std::string device;
    std::string why; // for the log; may be empty
};
// Throws Error with what is in the way and what to do.
DeviceChoice choose_device(const std::string &device, const std::string &engine);

// What the file holds, as far as the engine can tell without running it.
DnnTorchDescription describe_model(const DnnTorchEngine &engine, const std::string &path);

struct ModelOptions {
    std::string path, device, input_name, output_name, precision, optimize, allow;
};

// May be shared by threads, except during tune().
class Model
{
public:
    Model(const DnnTorchEngine &engine, const ModelOptions &options);
    ~Model() { engine_.model_close(&model_); }
    Model(const Model &) = delete;
    Model &operator=(const Model &) = delete;

    // The size that comes out for pictures of `size`; leaves no trace in later results.
    // Throws as well where the channels that come out differ from those that go in.
    Size probe(Size size, int channels);

    // Settles how pictures of that shape are run; measures for about that long.
    DnnTorchTuning tune(const DnnTorchShape &shape, double budget_seconds);

    // What the engine noticed, and what would be gained by other options; empty for nothing.
    std::string notice() const;
    std::string advice() const;
    std::string form() const;

private:
    friend class Session;
    const DnnTorchEngine &engine_;
    DnnTorchModel *model_ = nullptr;
};

// Belongs to one thread, but for stop().
class Session
{
public:
    Session(std::shared_ptr<Model> model, int threads);
    ~Session() { model_->engine_.session_close(&session_); }
    Session(const Session &) = delete;
    Session &operator=(const Session &) = delete;

    // The view holds until the next run.  Its elements are floats, or like those
    // of the input if the engine gives such.
    DnnTorchImages run(const DnnTorchImages &input);

    // Memory from which input is taken fastest, until the next call; null: any is as good.
    void *memory(int64_t bytes) { return model_->engine_.session_memory(session_, bytes); }
    void stop() noexcept { model_->engine_.session_stop(session_); }
    void warm(const DnnTorchShape &shape) { model_->engine_.session_warm(session_, &shape); }

private:
    std::shared_ptr<Model> model_;
    DnnTorchSession *session_ = nullptr;
};

// A view of floats without gaps, batch by batch: plane by plane, or with the
// channels side by side.
DnnTorchImages float_planes(float *data, int batch, int channels, Size size);
DnnTorchImages float_pixels(float *data, int batch, int channels, Size size);

} // namespace dnn_torch
