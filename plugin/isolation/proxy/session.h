// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A session in the child of its model, with the memory that both share.
#pragma once

#include "isolation/protocol/shared_memory.h"
#include "model.h"

#include <array>
#include <atomic>
#include <vector>

// Belongs to one thread at a time, except for stop().
struct DnnTorchSession final {
public:
    // Throws a Failure.
    DnnTorchSession(const DnnTorchPlan &plan, int32_t threads);
    ~DnnTorchSession();
    DnnTorchSession(const DnnTorchSession &) = delete;
    DnnTorchSession &operator=(const DnnTorchSession &) = delete;

    bool is_ours() const { return plan_.model().is_ours(); }

    // Returns how the process had ended if the run was tried again, and else "".
    std::string run(const DnnTorchTensor *in, size_t in_count, DnnTorchTensor *out,
                    size_t out_count, DnnTorchRun &run);
    void warm();
    void reset();
    void *memory(size_t bytes);
    void stop() noexcept;

private:
    // Memory for inputs, and whether the child has it.
    struct InputArea {
        isolation::SharedMemory memory;
        bool is_sent = false;

        bool reserve(size_t bytes);
    };

    void follow_model();
    void open_in(const DnnTorchModel::ChildHandle &child);
    void check_stopped() const;
    isolation::Patience patience() const;

    template <class Act> std::optional<isolation::Crash> with_retry(Act act);
    template <class Act> void on_channel(Act act);
    void ask_plainly(isolation::Kind kind);
    void run_once(const DnnTorchTensor *in, size_t in_count, DnnTorchTensor *out, size_t out_count,
                  DnnTorchRun &run);
    isolation::RunReply exchange(const isolation::RunRequest &request);
    int give_output_memory(uint64_t bytes);
    void forget_channel();

    bool lies_in_given(const DnnTorchTensor &tensor, int64_t span, int64_t &offset) const;
    void place_inputs(const DnnTorchTensor *in, size_t in_count, isolation::RunRequest &request);
    void take_outputs(const isolation::RunReply &reply, DnnTorchTensor *out, size_t out_count);
    char *memory_of_outputs(const isolation::WireOutputs &outputs, size_t count);

    const DnnTorchPlan &plan_;
    const int32_t threads_;
    const int64_t id_;
    const isolation::Descriptor stop_event_;
    DnnTorchModel::ChildHandle child_;
    isolation::Descriptor channel_; // closed once the child is lost
    std::array<InputArea, isolation::area_count> areas_;
    isolation::SharedMemory output_; // the child may change it at any time
    std::vector<uint64_t> copied_;   // of it
    std::atomic<bool> stopped_{false};

    std::mutex mutex_;
    // ---- under mutex_
    DnnTorchModel::ChildHandle child_to_stop_;
};
