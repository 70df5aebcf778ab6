// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A loaded model, which any number of plans share.
#pragma once

#include "dnn_torch/engine.h"
#include "engine_kit/notices.h"
#include "engine_kit/options.h"
#include "engines/torch/architectures/blueprint.h"
#include "engines/torch/failure.h"
#include "engines/torch/file/operators.h"
#include "engines/torch/loading/describe.h"
#include "engines/torch/machine/allocator.h"
#include "engines/torch/program/state_copy.h"
#include "engines/torch/program/traits.h"
#include "engines/torch/program/variants.h"
#include "engines/torch/tuning/tuning.h"

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

// Every member function may be called from several threads at once.
struct DnnTorchModel final {
public:
    // Throws a Failure or what LibTorch throws.
    DnnTorchModel(const DnnTorchSource &source, const engine_kit::Options &options);

    // Throws a Failure if the model was only opened to be looked at.
    void expect_runnable() const;

    // Runs forward() of the saved model on pictures that are not part of the stream.  Later runs
    // are not affected.  `source` says how pictures are given, here and below: it is source(), or
    // a copy with a binding to try.
    c10::IValue rehearse(const engine_torch::Source &source, const at::Tensor &images,
                         const engine_torch::RunArguments &given = {}) const;

    // Returns a copy of the state that one session's runs change, or null if they change nothing.
    std::unique_ptr<engine_torch::StateCopy> new_state() const;

    // Runs the model once and changes `state`.  The result shares no memory with it.
    c10::IValue run_with(const engine_torch::Source &source, engine_torch::StateCopy &state,
                         const at::Tensor &images, const engine_torch::RunArguments &given) const;

    // Runs a model that needs no copy.
    c10::IValue run_as_saved(const engine_torch::Source &source, const at::Tensor &images,
                             const engine_torch::RunArguments &given) const;

    // Returns how the model is run: as set_binding() has set it, or before that as the options say.
    // The object never changes.
    std::shared_ptr<const engine_torch::Source> source() const;

    // Held by the thread that finds out how the model is run.
    std::unique_lock<std::mutex> lock_binding() const { return std::unique_lock(binding_mutex_); }
    bool has_binding() const { return source()->output.has_value(); }
    // Sets how the model is run from now on.  Call it once, with that lock held.
    void set_binding(const engine_torch::Binding &binding,
                     const engine_torch::OutputChoice &output);
    // Trials so far, at all sizes together.  Use it with that lock held.
    struct Trials {
        std::chrono::steady_clock::duration time = {};
        int failed_sizes = 0; // sizes at which the model took no binding
        // By channels: its words at one of those sizes, where they were the same for all bindings.
        std::map<int32_t, std::string> refusals = {};
    };
    Trials &trials() { return trials_; }

    std::shared_ptr<const engine_torch::Variant> share(const engine_torch::Variant &variant)
    {
        return forms_.share(variant);
    }

    // Adds a notice for the user that a plan or a run has found.
    void note(const std::string &notice) { notices_.add(notice); }

    const engine_torch::Description &description() const noexcept { return description_; }
    // Looks up a key of model_metadata().  Returns null for what is not known.
    const char *metadata(std::string_view key) const noexcept;

    const std::string &output_name() const noexcept { return output_name_; }
    const c10::Device &device() const noexcept { return source_.device; }
    bool keeps_state() const noexcept { return traits_.keeps_state; }
    // What is known of a checkpoint's network without running it; or null.
    const engine_torch::Blueprint *network() const noexcept
    {
        return network_ ? &*network_ : nullptr;
    }
    // Whether the first of the tensors that the model returns is the result.
    bool returns_first() const noexcept { return output_name_.empty() || ignores_output_; }
    // Calls `check` once for each model.  Throws the Failure with which it said that the model is
    // bad, each time.  After another one it is called again.
    template <class Check> void check_network(const Check &check)
    {
        std::call_once(network_checked_, [&] {
            try {
                check();
            } catch (const engine_torch::Failure &failure) {
                if (failure.status() != DNN_TORCH_BAD_MODEL)
                    throw;
                network_fault_ = failure;
            }
        });
        if (network_fault_)
            throw engine_torch::Failure(*network_fault_);
    }
    const engine_torch::Requested &requested() const noexcept { return requested_; }

private:
    void open_archive(const engine_torch::Archive &archive,
                      const engine_torch::Permissions &permissions);
    void open_onnx(const engine_torch::OnnxFile &file,
                   const engine_torch::Permissions &permissions);
    void open_compiled(const engine_torch::CompiledPackage &package,
                       const engine_torch::Permissions &permissions, int memory);
    void expect_plain_run(const std::string &how);
    void open_export(const engine_torch::ExportFile &file,
                     const engine_torch::Permissions &permissions);
    void open_checkpoint(const engine_torch::Checkpoint &checkpoint,
                         const engine_torch::Permissions &permissions);
    void export_file(const DnnTorchSource &source, engine_torch::FileBytes file,
                     const std::string &format);
    void take_module(const engine_kit::Options &options);
    void prepare();
    void note_state();
    void note_blas();
    void note_random();
    void note_meaningless(const engine_torch::Permissions &permissions);
    void note_output();
    const char *type_of(bool input) const noexcept;
    bool needs_reach() const;
    void find_reach() const;
    const char *nonlocal_operator() const noexcept;
    const char *kernel_reach() const noexcept;
    std::unique_lock<std::mutex> lock_constants() const;
    c10::IValue run_state(const engine_torch::Source &source, engine_torch::StateCopy &state,
                          const at::Tensor &images, const engine_torch::RunArguments &given) const;

    // Declared first, so that it outlives the memory of all tensors.
    engine_torch::AllocatorUse allocator_;
    engine_torch::Requested requested_;
    std::string output_name_;
    bool ignores_input_ = false, ignores_output_ = false; // the names that were requested
    const bool is_inspected_;                             // and never run
    engine_kit::Notices notices_;
    engine_torch::Description description_;
    mutable std::once_flag reach_known_;
    mutable std::string nonlocal_operator_, kernel_reach_; // set once reach_known_
    std::optional<engine_torch::Blueprint> network_;       // without code and tensors
    std::once_flag network_checked_;
    std::optional<engine_torch::Failure> network_fault_; // set once network_checked_
    // A network that LibTorch only calls: its owner, and what it is called; or null.
    std::shared_ptr<const void> callee_;
    const char *callee_name_ = nullptr;
    engine_torch::Source source_; // as it was opened; never run if the model keeps state
    engine_torch::Traits traits_;
    engine_torch::SharedVariants forms_;
    mutable std::mutex constants_; // held by runs that write to tensors in the code
    mutable std::mutex binding_mutex_;
    Trials trials_; // under binding_mutex_
    mutable std::mutex current_mutex_;
    // ---- under current_mutex_
    std::shared_ptr<const engine_torch::Source> current_;
};
