// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A model in a child, and its plans.
#pragma once

#include "child.h"
#include "run_gate.h"
#include "settings.h"
#include "texts.h"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unistd.h>

// Every member function may be called from several threads at once.
struct DnnTorchModel final {
public:
    using ChildHandle = std::shared_ptr<isolation::Child>;

    // Starts a child, as Child::start() does.
    using Start = std::function<ChildHandle(isolation::Child::OnNotice,
                                            std::shared_ptr<engine_torch::TuningBroker>)>;

    // Throws a Failure.
    explicit DnnTorchModel(isolation::Settings settings, Start start = isolation::Child::start);
    ~DnnTorchModel();
    DnnTorchModel(const DnnTorchModel &) = delete;
    DnnTorchModel &operator=(const DnnTorchModel &) = delete;

    // False in a forked copy of the process that opened the model.  There nothing of it may be
    // touched: the child is the parent's, and a lock may be held for ever.
    bool is_ours() const { return owner_ == getpid(); }

    // The child that runs the model now.
    ChildHandle child() const;

    // Calls `act`.  If the child ends meanwhile and may be restarted, calls it once more, alone in
    // a new child, and returns how the first one had ended.
    template <class Act>
    std::optional<isolation::Crash> with_retry(const std::atomic<bool> &stopped, Act act);
    template <class Act> void with_retry(Act act)
    {
        const std::atomic<bool> never{false};
        with_retry(never, act);
    }

    size_t tensors(DnnTorchDirection direction, DnnTorchTensorInfo *infos, size_t capacity);
    const char *metadata(const std::string &key);
    void probe(const DnnTorchTensor *in, size_t in_count, DnnTorchTensor *out, size_t out_count);

    const isolation::Limits &limits() const { return settings_.limits; }
    isolation::Results results() const { return settings_.results; }
    bool may_start_anew() const { return settings_.restarts != 0; }
    int64_t new_id() { return ++last_id_; }

    isolation::RunGate &run_gate() { return run_gate_; }

    // Notes that the model runs, or might: its child serves no other opening.
    void note_use() { is_used_ = true; }

private:
    isolation::Child::OnNotice notice_reader();
    ChildHandle start_child();
    // Returns a child that waits to open the model: one that did so before, or a new one.
    ChildHandle ready_child();
    // Begins to open the model; the child's cage is closed afterwards.  Throws a Failure.
    void request_opening(isolation::Child &child, const isolation::Limits::Limit &limit);
    void await_opening(isolation::Child &child) const;
    // Restarts the model in a new child, unless another thread did so since `ended` was the child.
    // Throws `crash` if no restart is left.  Call it alone in the run gate.
    void start_anew(const ChildHandle &ended, const isolation::Crash &crash);

    const pid_t owner_ = getpid();
    isolation::Settings settings_; // never changes once the model is open
    const Start start_;
    const std::shared_ptr<engine_torch::TuningBroker> broker_;
    isolation::Texts texts_;
    std::atomic<int64_t> last_id_{0};
    std::atomic<bool> is_used_{false};

    isolation::RunGate run_gate_;

    mutable std::mutex mutex_;
    // ---- under mutex_
    ChildHandle child_;
    int restarts_ = 0;
};

template <class Act>
std::optional<isolation::Crash> DnnTorchModel::with_retry(const std::atomic<bool> &stopped, Act act)
{
    using namespace isolation;
    if (settings_.restarts == 0) {
        act();
        return std::nullopt;
    }
    const ChildHandle used = child();
    std::optional<Crash> crash;
    try {
        const Inside inside(run_gate_, RunGate::Turn::with_others, stopped);
        act();
        return std::nullopt;
    } catch (const Crash &first) {
        crash = first;
    }
    const Inside alone(run_gate_, RunGate::Turn::alone, stopped);
    start_anew(used, *crash);
    const ChildHandle second = child();
    try {
        act();
    } catch (const Crash &again) {
        // Waiting runs go on at once in the new child.
        start_anew(second, again);
        throw;
    }
    return crash;
}

// A plan in the child of its model.  Every member function may be called from several threads at
// once.
struct DnnTorchPlan final {
public:
    // Throws a Failure.
    DnnTorchPlan(DnnTorchModel &model, const DnnTorchTensor *in, size_t in_count,
                 const DnnTorchPlanParameters &parameters);
    ~DnnTorchPlan();
    DnnTorchPlan(const DnnTorchPlan &) = delete;
    DnnTorchPlan &operator=(const DnnTorchPlan &) = delete;

    DnnTorchModel &model() const { return model_; }
    int64_t id() const { return id_; }
    const DnnTorchPlanFacts &facts() const { return facts_; }
    const char *metadata(const std::string &key) const;

    // Makes the plan in that child too, unless it is the child already.
    void follow(const DnnTorchModel::ChildHandle &child) const;
    // Notes that the model runs as it was saved by now: a plan that is made anew must do so from
    // the first run on.
    void keep_as_saved() const { is_as_saved_ = true; }
    // Whether the plan was made anew: runs may follow others that the new child never sees.
    bool has_moved() const { return has_moved_; }

private:
    // Makes the plan in that child.  Throws a Failure.
    isolation::PlanReply make_in(isolation::Child &child) const;

    DnnTorchModel &model_;
    const int64_t id_;
    isolation::ShapesRequest request_;
    isolation::Descriptor samples_; // memory that no child can change, or none
    DnnTorchPlanFacts facts_ = {};
    mutable isolation::Texts texts_;
    mutable std::atomic<bool> has_moved_{false}, is_as_saved_{false};

    mutable std::mutex mutex_; // held while the plan is made anew
    mutable DnnTorchModel::ChildHandle child_;
};
