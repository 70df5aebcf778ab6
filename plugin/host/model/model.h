// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// C++ owners for what include/dnn_torch/engine.h offers.  Everything here
// throws Error with the engine's own message.
#pragma once

#include "base/descriptor.h"
#include "host/error.h"
#include "memo.h"
#include "samples.h"

#include "dnn_torch/engine.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace dnn_torch
{

struct ModelOptions {
    std::string path, device, input_name, output_name, precision, optimize, allow;
    // What the contract says of tensors; "" is found out.
    std::string input_type = {}, input_layout = {}, output_layout = {}, inputs = {};
    std::string weights = {};             // "node": a copy on each node of memory
    std::string results = {};             // "tensors": all that the model returns
    bool inspect = false;                 // the model is looked at and never run on frames
    std::chrono::microseconds timeout{0}; // of one run; 0 is no limit

    // The engine that runs the model in a process of its own; "" if it runs in this one.
    std::string isolated;
    bool cage_required = false; // that process must be closed in altogether
    int restarts = 0;           // how often it may be started anew

    // The file is converted to this format and written to the descriptor, and the model never run.
    std::string export_as;
    std::shared_ptr<const Descriptor> sink;

    bool operator==(const ModelOptions &) const = default;
};

// Throws Error with the reason.  A named pipe is opened without waiting for a writer.
Descriptor open_model_file(const std::string &path);

// How a plan is made.
struct PlanParameters {
    double tuning_seconds = 0;                        // to measure for about so long
    std::shared_ptr<const Samples> samples = nullptr; // to calibrate int8 with; null: none
    bool as_saved = false; // the model runs as it was saved, whatever was asked for
    // Not null: nothing is planned.  Sessions of the plan add here what they are to run, and throw
    // SampleTaken.
    std::shared_ptr<Samples> gathered = nullptr;
};

// How the engine runs a model.
struct Variants {
    std::string usual;    // "fp32, frozen"
    std::string threaded; // with several threads for one run; "" if it is the same

    const std::string &with(size_t threads) const
    {
        return threads > 1 && !threaded.empty() ? threaded : usual;
    }
};

// How a model is run for tensors of some shapes.  Never changes; any thread may use it.
class ModelPlan
{
public:
    ModelPlan(const DnnTorchEngine &engine, std::shared_ptr<DnnTorchModel> model,
              std::span<const DnnTorchTensor> shapes, const PlanParameters &parameters);
    ~ModelPlan();
    ModelPlan(const ModelPlan &) = delete;
    ModelPlan &operator=(const ModelPlan &) = delete;

    DnnTorchPlanFacts facts() const;
    Variants variants() const;
    std::string hint() const; // what would be gained by other options; may be empty
    // Multiplications and additions for one picture; 0 if they are not known.
    double operations_for_picture() const { return operations_for_picture_; }

private:
    friend class Session;

    const DnnTorchEngine &engine_;
    const std::shared_ptr<DnnTorchModel> model_; // outlives the plan
    const std::shared_ptr<Samples> gathered_;    // null, or there is no plan of the engine's
    DnnTorchPlan *plan_ = nullptr;
    double operations_for_picture_ = 0;
    mutable std::atomic<bool> was_warmed_{false};
};

// May be used by any number of threads at once.
//
// Opening, probing and planning run the model on threads of their own and with a limit.
// Probing may take the time of one run; opening as long, but 10 s at least; planning the
// time of four runs and what measuring may take.  A call that exceeds its limit throws
// Error, as do all such calls after it.  A thread that never comes back keeps what it
// uses.
class Model
{
public:
    // Opens the file; the engine gets its descriptor.
    Model(const DnnTorchEngine &engine, const ModelOptions &options);
    // The same for a file that is open.
    Model(const DnnTorchEngine &engine, const ModelOptions &options,
          const std::shared_ptr<const Descriptor> &file);
    Model(const Model &) = delete;
    Model &operator=(const Model &) = delete;

    // Whether a call or a run of the model did not come back.  It may hold what others wait
    // for, so nobody else should begin to use the model.
    bool is_lost() const { return lost_; }
    void give_up() { lost_ = true; }

    // Returns the shapes that come out for tensors of the shapes `in`, and remembers them.
    // Leaves no trace in later results.
    std::vector<DnnTorchTensor> probe(std::span<const DnnTorchTensor> in, size_t out_count);

    // Settles how tensors of those shapes are run.  Other plans of the model may be running
    // meanwhile.  The last two plans are remembered.  A plan is used again only once nobody
    // uses it, because it watches the first frames of one stream.
    std::shared_ptr<const ModelPlan> plan(std::span<const DnnTorchTensor> in,
                                          const PlanParameters &parameters);

    // Whether it is to be computed in int8, which is calibrated.
    bool is_in_int8() const { return is_in_int8_; }

    // Runs `work`, which runs a few sessions of the model, on a thread of its own, with the limit
    // that planning has.  `work` must own, or share, all that it uses.
    void try_out(const std::string &doing, std::function<void()> work);

    std::vector<DnnTorchTensorInfo> tensors(DnnTorchDirection direction) const;

    // Returns what is known by a key of engine.h; empty if nothing is.
    std::string metadata(const char *key) const;
    std::string notice() const { return metadata("notice"); }

private:
    using Shapes = std::vector<DnnTorchTensor>;
    using ShapeKey = std::vector<int64_t>;
    struct RememberedPlan {
        ShapeKey key;
        std::shared_ptr<const ModelPlan> plan;
    };

    template <class Work>
    auto within(std::chrono::microseconds limit, const std::string &doing, Work work);
    Shapes run_probe(const Shapes &in, size_t out_count);
    std::shared_ptr<const ModelPlan> make_plan(const Shapes &in, const PlanParameters &parameters);
    std::shared_ptr<const ModelPlan> find_idle_plan(const ShapeKey &key);
    void remember(RememberedPlan plan);

    const DnnTorchEngine &engine_;
    const std::chrono::microseconds timeout_;
    const bool is_in_int8_;
    std::shared_ptr<DnnTorchModel> model_;
    // An error is remembered as a shape is: it tells as much about the model.
    Memo<ShapeKey, std::variant<Shapes, Error>> probed_{16};
    std::atomic<bool> lost_{false};
    std::mutex mutex_;
    // ---- under mutex_
    std::list<RememberedPlan> plans_;
};

// Belongs to one thread, except for stop().
class Session
{
public:
    Session(std::shared_ptr<const ModelPlan> plan, int threads);
    ~Session();
    Session(const Session &) = delete;
    Session &operator=(const Session &) = delete;

    // The views in `out` hold until the next run.  They have the types that the caller asked
    // for, or those that the engine gives instead.
    // Throws Crash if the model's process has ended, and SampleTaken as PlanParameters says.
    void run(std::span<const DnnTorchTensor> in, std::span<DnnTorchTensor> out, DnnTorchRun &run);

    // Returns how often the last run was tried again in a new process of the model, and how
    // the process before had ended.
    int retries() const { return retries_; }
    const std::string &crash() const { return crash_; }
    // Multiplications and additions of the last run; 0 if they are not known.
    double operations() const { return operations_; }

    // Returns memory from which input is taken fastest.  It holds until the next call.
    // Returns null if any memory is as good.
    void *memory(size_t bytes);
    // Does its work once for each plan: all sessions share what LibTorch compiles in its
    // first runs.
    void warm();
    // Forgets what earlier runs left behind.
    void reset();
    void stop() noexcept
    {
        if (session_)
            plan_->engine_.session_stop(session_);
    }

private:
    const std::shared_ptr<const ModelPlan> plan_;
    DnnTorchSession *session_ = nullptr;
    int retries_ = 0;
    std::string crash_;
    double operations_ = 0;
};

} // namespace dnn_torch
