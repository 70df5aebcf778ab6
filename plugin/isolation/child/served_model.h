// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The model of this process, with its plans and sessions by the numbers that the host gave them.
#pragma once

#include "dnn_torch/engine.h"
#include "isolation/protocol/messages.h"

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>

namespace isolation
{

// Frees the plan with its last session.
using SharedPlan = std::shared_ptr<DnnTorchPlan>;

// Every member function may be called from several threads at once.
class ServedModel
{
public:
    // `model` is the engine's; close() closes it.
    ServedModel(const DnnTorchEngine &engine, DnnTorchModel *model) : engine_(engine), model_(model)
    {
    }

    const DnnTorchEngine &engine() const { return engine_; }
    DnnTorchModel *get() const { return model_; }

    void add_plan(int64_t id, DnnTorchPlan *plan);
    void close_plan(int64_t id);
    // Null if there is none.
    SharedPlan plan(int64_t id) const;

    void add_session(int64_t id, DnnTorchSession *session);
    // After this stop() does not find it.
    void forget_session(int64_t id);
    void stop(int64_t id);

    // Closes the model.  Returns false if something of it is open, or in use after that time.
    bool close(std::chrono::milliseconds patience);

    // Keeps the model from being closed.
    class Use
    {
    public:
        explicit Use(ServedModel &model) : model_(model) { model_.count_use(1); }
        ~Use() { model_.count_use(-1); }
        Use(const Use &) = delete;
        Use &operator=(const Use &) = delete;

    private:
        ServedModel &model_;
    };

private:
    void count_use(int more)
    {
        const std::lock_guard lock(mutex_);
        uses_ += more;
        if (uses_ == 0)
            unused_.notify_all();
    }

    const DnnTorchEngine &engine_;
    DnnTorchModel *model_;

    mutable std::mutex mutex_;
    std::condition_variable unused_;
    // ---- under mutex_
    std::map<int64_t, SharedPlan> plans_;
    std::map<int64_t, DnnTorchSession *> sessions_;
    int uses_ = 0;
};

} // namespace isolation
