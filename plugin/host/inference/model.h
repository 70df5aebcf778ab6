// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// C++ owners for what include/dnn_torch/engine.h offers.  Everything here
// throws Error with the engine's own message.
#pragma once

#include "host/error.h"
#include "host/size.h"

#include "dnn_torch/engine.h"

#include <chrono>
#include <memory>
#include <optional>
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
DnnTorchDescription describe_model(const DnnTorchEngine &engine, const std::string &path,
                                   std::chrono::microseconds timeout);

struct ModelOptions {
    std::string path, device, input_name, output_name, precision, optimize, allow;
    std::chrono::microseconds timeout{0}; // of one run; 0 has no limit

    bool operator==(const ModelOptions &) const = default;
};

// May be shared by threads, except during probe() and tune(), which belong to one.
//
// Opening, probing and tuning run the model on threads of their own and with a
// limit: one run's time to probe; that, but 10 s at least, to open; that of four
// runs and what measuring may take to tune.  What exceeds it throws Error, as do
// all such calls after it; a thread that never comes back keeps what it uses.
class Model
{
public:
    Model(const DnnTorchEngine &engine, const ModelOptions &options);
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
    template <class Work>
    auto within(std::chrono::microseconds limit, const std::string &doing, Work work);

    const DnnTorchEngine &engine_;
    const std::chrono::microseconds timeout_;
    std::optional<Error> lost_; // where a call did not come back
    std::shared_ptr<DnnTorchModel> model_;
};

// Belongs to one thread, but for stop().
class Session
{
public:
    Session(std::shared_ptr<Model> model, int threads);
    ~Session();
    Session(const Session &) = delete;
    Session &operator=(const Session &) = delete;

    // The view holds until the next run.  Its elements are floats, or like those
    // of the input if the engine gives such.
    DnnTorchImages run(const DnnTorchImages &input);

    // Memory from which input is taken fastest, until the next call; null: any is as good.
    void *memory(int64_t bytes);
    void stop() noexcept { model_->engine_.session_stop(session_); }
    void warm(const DnnTorchShape &shape);

private:
    std::shared_ptr<Model> model_;
    DnnTorchSession *session_ = nullptr;
};

// A view of floats without gaps, batch by batch: plane by plane, or with the
// channels side by side.
DnnTorchImages float_planes(float *data, int batch, int channels, Size size);
DnnTorchImages float_pixels(float *data, int batch, int channels, Size size);

} // namespace dnn_torch
