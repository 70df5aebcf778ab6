// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// C++ owners of the objects of include/dnn_torch/engine.h.  Everything here
// throws Error with the engine's own message.
#pragma once

#include "base/descriptor.h"
#include "file_identity.h"
#include "host/error.h"
#include "memo.h"
#include "samples.h"

#include "dnn_torch/engine.h"

#include <atomic>
#include <chrono>
#include <cstddef>
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
    // The contract's fields about tensors; "" is found out.
    std::string input_type = {}, input_layout = {}, output_layout = {}, inputs = {};
    std::string frames = {};              // "-2..2": in a picture, one after the other
    std::string length = {};              // "15": pictures are segments of so many frames
    std::string weights = {};             // "node": a copy on each node of memory
    std::string results = {};             // "tensors": all that the model returns
    bool inspect = false;                 // the model is inspected and never run on frames
    std::chrono::microseconds timeout{0}; // of one run; 0 is no limit

    // The engine that runs the model in a separate process; "" if it runs in this one.
    std::string isolated;
    bool cage_required = false; // fails unless that process is fully sandboxed
    int restarts = 0;           // how often it may be restarted

    // If set, the file is converted to this format, written to the descriptor, and never run.
    std::string export_as;
    std::shared_ptr<const Descriptor> sink;

    bool operator==(const ModelOptions &) const = default;
};

// A file beside the first one, for a model in several files.
struct ModelPart {
    std::string name; // without a folder
    std::shared_ptr<const Descriptor> file;
    std::optional<FileStamp> stamp; // when it was opened; nullopt if it was just written

    // What identifies it.
    bool operator==(const ModelPart &other) const
    {
        return name == other.name && stamp && stamp == other.stamp;
    }
};

// Returns "models/net.onnx.data" for "models/net.onnx" and "net.onnx.data".
std::string path_beside(const std::string &model_path, const std::string &name);

// Opens files beside a model.  Throws Error that names the file.
std::vector<ModelPart> open_parts(const std::string &model_path,
                                  const std::vector<std::string> &names);

// Throws Error with the reason.  A named pipe is opened without waiting for a writer.
Descriptor open_model_file(const std::string &path);

// How a plan is made.
struct PlanParameters {
    double tuning_seconds = 0;                        // about how long it may measure
    std::shared_ptr<const Samples> samples = nullptr; // to calibrate int8 with; null: none
    bool as_saved = false; // the model runs as it was saved, whatever the options say
    // Not null: nothing is planned.  Sessions of the plan add their input here instead of running
    // it, and throw SampleTaken.
    std::shared_ptr<Samples> gathered = nullptr;
};

// How the engine runs a model.  What an engine does not tell is "".
struct Variant {
    std::string words = {};     // for people: "fp32, frozen (measured)"
    std::string precision = {}; // "fp32"
    std::string optimize = {};  // the value of that option: "frozen"; "saved": unchanged
    std::string details = {};   // what was found out about it
};

struct Variants {
    Variant single_threaded;
    Variant threaded = {}; // with several threads for one run; without words if it is the same

    const Variant &with(size_t threads) const
    {
        return threads > 1 && !threaded.words.empty() ? threaded : single_threaded;
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
    std::string metadata(const char *key) const;          // a key of engine.h; "" if there is none
    std::string hint() const { return metadata("hint"); } // what other options would gain
    // Multiplications and additions for one picture; 0 if they are not known.
    double operations_for_picture() const { return operations_for_picture_; }

private:
    friend class Session;

    const DnnTorchEngine &engine_;
    const std::shared_ptr<DnnTorchModel> model_; // outlives the plan
    const std::shared_ptr<Samples> gathered_;    // if not null, there is no plan_
    DnnTorchPlan *plan_ = nullptr;
    double operations_for_picture_ = 0;
    mutable std::atomic<bool> was_warmed_{false};
};

// May be used by any number of threads at once.
//
// Opening, probing and planning run the model on separate threads, with a time limit.
// Probing may take the time limit of one run; opening as long, but at least 10 s; planning
// that of four runs, and twice the time for measuring.  A call that exceeds its limit throws
// Error, as do all such calls after it.  A thread that never returns keeps what it uses.
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

    // Returns whether a call or a run of the model did not return.  It may hold locks that others
    // need, so nobody else should begin to use the model.
    bool is_lost() const { return lost_; }
    void give_up() { lost_ = true; }

    // Returns whether it was probed or planned, and not only described.
    bool was_tried() const { return was_tried_; }

    // Returns the shapes of the outputs for inputs of the shapes `in`, and remembers them.
    // Does not affect later results.
    std::vector<DnnTorchTensor> probe(std::span<const DnnTorchTensor> in, size_t out_count);

    // Decides how tensors of those shapes are run.  Other plans of the model may be running
    // meanwhile.  The last two plans are remembered.  A plan is reused only once nobody uses
    // it, because it watches the first frames of one stream.
    std::shared_ptr<const ModelPlan> plan(std::span<const DnnTorchTensor> in,
                                          const PlanParameters &parameters);

    // Returns whether the option `precision` is int8, which needs calibration.
    bool is_in_int8() const { return is_in_int8_; }

    // Runs `work`, which runs a few sessions of the model, on a separate thread, with planning's
    // time limit.  `work` must own, or share, all that it uses.
    void try_out(const std::string &doing, std::function<void()> work);

    std::vector<DnnTorchTensorInfo> tensors(DnnTorchDirection direction) const;

    // The files beside the first one that the model was read from.
    const std::vector<ModelPart> &parts() const { return parts_; }

    // Returns the value of a key of engine.h; "" if there is none.
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
    std::vector<ModelPart> parts_;
    // Errors are remembered like shapes, because they tell as much about the model.
    Memo<ShapeKey, std::variant<Shapes, Error>> probed_{16};
    std::atomic<bool> lost_{false}, was_tried_{false};
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

    // The views in `out` are valid until the next run.  They have the types that the caller
    // requested, or those that the engine returns instead.
    // Throws Crash if the model's process has ended, and SampleTaken (see PlanParameters).
    void run(std::span<const DnnTorchTensor> in, std::span<DnnTorchTensor> out, DnnTorchRun &run);

    // Return how often the last run was tried again in a new process of the model, and how
    // the previous process had ended.
    int retries() const { return retries_; }
    const std::string &crash() const { return crash_; }
    // Multiplications and additions of the last run; 0 if they are not known.
    double operations() const { return operations_; }

    // Returns memory from which input is taken fastest, valid until the next call.
    // Returns null if any memory is as good.
    void *memory(size_t bytes);
    // Works only once per plan, because all sessions share what LibTorch compiles in its first
    // runs.
    void warm();
    // Clears the state of earlier runs.
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

// The memory for the input pictures of a session's runs.  Belongs to the session's thread.
class InputMemory
{
public:
    // Returns the session's own memory, which its runs take fastest, or else this object's.  The
    // first call fixes the size, so pass the bytes of the largest run.
    void *of(Session &session, size_t bytes)
    {
        if (!memory_)
            memory_ = session.memory(bytes);
        if (!memory_) {
            own_.resize(bytes / sizeof(std::max_align_t) + 1);
            memory_ = own_.data();
        }
        return memory_;
    }

private:
    void *memory_ = nullptr; // the session's, or own_
    std::vector<std::max_align_t> own_;
};

} // namespace dnn_torch
