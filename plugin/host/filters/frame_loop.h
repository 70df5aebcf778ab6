// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Passes frames from libavfilter to the workers and back.  Only this class talks to libavfilter's
// scheduler; LoopState decides what to do next.
#pragma once

#include "chosen_every.h"
#include "continuity.h"
#include "deadlines.h"
#include "extra_inputs.h"
#include "host/error.h"
#include "host/libavfilter/gate.h"
#include "host/tasks/duplicate_runs.h"
#include "host/tasks/every_nth.h"
#include "host/tasks/frame_gatherer.h"
#include "host/workers/end_signals.h"
#include "late_frames.h"
#include "loop_state.h"
#include "planner.h"
#include "run_log.h"

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace dnn_torch
{

// Belongs to the thread that runs the graph.
class FrameLoop
{
public:
    struct Settings {
        bool async;                   // work on several jobs at once
        float strength = 1;           // with which results are mixed with their frames
        std::chrono::seconds timeout; // for one job; 0 is no limit
        ContinuitySettings continuity = {};
        int64_t start_number = 0; // of the first frame, in a stream that this one is a part of
        DeadlineSettings deadline = {};
        int every = 1;      // the model gets every n-th frame, and the others the last result;
                            // 0: chosen
        bool hides = false; // a frame is hidden unless the model has seen it
        Hiding hiding = Hiding::black;
    };

    // `ctx`, `planner` and `log` must outlive it.
    FrameLoop(AVFilterContext *ctx, const Settings &settings, Planner &planner, RunLog &log);
    ~FrameLoop();
    FrameLoop(const FrameLoop &) = delete;
    FrameLoop &operator=(const FrameLoop &) = delete;

    // Opens the loop for that many extra inputs.  Throws Error.
    void open(size_t extra_inputs = 0);

    // Returns the formats of the extra inputs.  Throws Error if their frames have another size than
    // those of the first input.
    std::vector<AVPixelFormat> configure_extra_inputs();

    // For the configuration of links.  Throws Error.
    AVRational frame_rate(AVFilterLink *in) { return gate_.frame_rate(in); }
    void set_frame_rate(AVFilterLink *out, AVRational rate);

    // Sets the shape of the frames that will come.
    void expect(const FrameShape &input) { input_ = input; }

    // Returns the shape of the current frames.
    const FrameShape &input() const { return input_; }

    // Returns a frame with which a later model can be calibrated, or null.
    std::shared_ptr<const FrameItem> first() const { return first_; }

    // Returns the size of output frames.  May be called only while is_running().
    Size output() const { return work_->plan->output; }

    // Sets the strength for frames from now on.  Throws Error if results cannot be mixed.
    void set_strength(float strength);

    // The next frame has nothing to do with those before it.
    void start_anew() { continuity_.start_anew(); }

    // Whether frames pass, and another plan may take over.
    bool is_running() const { return work_ && state_.phase() == Phase::running && !is_orphaned(); }

    // Whether a signal asks the program to end.  Then turns drop what is in flight, and end.
    bool is_asked_to_end() const { return signals_.came(); }

    // libavfilter's turn: takes frames in, hands results out.  Returns an AVERROR, but neither
    // EAGAIN, which programs take for "later" and wait for ever, nor EOF, which means success.
    int take_turn();

    // Switches to that work in the next turn, between two frames: earlier frames belong to the old
    // work, later ones to the new one.  If the work was prepared for frames of another shape,
    // warns and drops it.
    void switch_to(Work work) { offered_ = std::move(work); }

    // ---- for a graph that is freed in mid-stream, outside of turns ----
    // Whether it has frames for downstream, or a failure to report.
    bool holds_frames() const;

    // Hands out all of these frames, whether or not downstream wants them.  The input stays open.
    // Returns whether there were any.
    bool hand_out_all();

    // Releases the workers and what the task has open, and reports the statistics.  Returns what
    // failed.
    std::optional<AnyError> leave();

    // Fails with the failure of an earlier graph, once all older frames are out.
    void inherit(const AnyError &failure);

    // Returns a word for the statistics.
    const char *state() const;
    size_t in_flight() const; // frames

private:
    // A result that waits until downstream wants it.
    struct Result {
        FramePointer frame;
        Clock::time_point arrival;
        double job_seconds;
        bool excluded; // it bypassed the model, as the user wanted
        Fate fate;
    };

    // How a result came about.
    struct Origin {
        double job_seconds = 0;
        Fate fate = Fate::ran;
        bool in_doubt = false; // the model may not have seen what is to be hidden
    };

    // frame_loop.cpp: turns, failures and the end.
    int pass_frames_or_report();
    int pass_frames();
    int go_on_failing();
    bool drop_input();
    void hand_out();
    void send_one();
    size_t others() const;
    Load load() const;
    bool is_orphaned() const { return pool_ && pool_->orphaned(); }
    void fail(const AnyError &error);
    int finish();
    int finish_or_fail();
    int abandon();
    int give_up();
    void check_end();
    void end_task();
    void finish_running_jobs();
    void drop_waiting();
    bool empty_once();
    int report(const AnyError &error);
    int end_with(int code);

    // frame_loop_work.cpp: frames to and from the workers.
    void process_available();
    void take_in();
    bool request();
    void take_frame();
    void note_arrival(const FrameItem &item, double seconds);
    void accept(FrameItem item);
    bool complete_waiting(bool asks);
    void add(FrameItem item);
    void add_as_new(FrameItem item);
    void gather(FrameItem item);
    void flush(const Successor &successor = {.kind = Successor::Kind::end});
    void find_start(FrameItem &item);
    void begin();
    void keep_first(const FrameItem &item);
    void undo_strength();
    void submit_ready();
    void end_input(int status);
    int64_t end_at_rate();
    void hold();
    void change();
    void change_shape();
    void take_over();
    void continue_with(Work work);
    bool collect();
    std::unique_ptr<FrameJob> take();
    void keep(std::unique_ptr<FrameJob> job);
    void keep_item(FrameItem &item, const FrameJob &job);
    void queue(FrameItem &item, const Origin &origin);
    bool complete(FrameItem &item);

    // frame_loop_deadline.cpp: frames that leave without the model's result.
    void promise(FrameJob &job);
    void note_run(const FrameJob &job);
    bool collect_by_deadline();
    Clock::time_point waits_until(const FrameItem &oldest) const;
    void learn_late_results();
    Fate fate_of(const FrameItem &item) const;
    void replace(FrameItem item);

    AVFilterContext *ctx_;
    Settings settings_;
    Planner &planner_;
    RunLog &log_;
    Gate gate_;
    FramePointer frame_; // the one being received
    ExtraInputs extra_;

    LoopState state_;
    FrameShape input_{};
    std::optional<Work> work_; // set from the first frame on, like pool_
    std::unique_ptr<OrderedPool<FrameJob>> pool_;
    DuplicateRuns duplicates_;
    FrameGatherer gatherer_;
    std::unique_ptr<FrameJob> rest_; // of the job that was submitted last, not scheduled yet
    std::deque<Result> results_;
    Deadlines deadlines_;
    EveryNth every_;
    ChosenEvery chosen_every_;
    LateFrames late_frames_;
    std::deque<FrameItem> spares_; // with a deadline: references to the frames in the pool
    int64_t next_number_ = 0;
    int64_t latest_pts_ = AV_NOPTS_VALUE; // of the frames received
    int64_t last_pts_ = AV_NOPTS_VALUE;   // of the last frame sent
    int64_t end_pts_ = 0;                 // where that frame ends
    double last_seconds_ = 0;             // the time of the last frame received
    Continuity continuity_;

    std::vector<FrameItem> early_;           // until the planner has seen them
    std::optional<float> strength_at_first_; // before a command changed it, if without a plan yet
    std::shared_ptr<const FrameItem> first_; // the last one the planner saw, if it wants that kept

    std::optional<FrameItem> waiting_; // for its frames of the extra inputs

    // While changing, one of the two is set: what comes next.
    std::optional<FrameItem> held_;
    std::optional<Work> next_work_;

    std::optional<Work> offered_;     // by switch_to()
    std::optional<AnyError> failure_; // while failing
    int input_status_ = 0;            // how the input ended
    int result_ = 0;                  // what turns return after the end
    bool has_ended_task_ = false;
    const EndSignals signals_;
};

} // namespace dnn_torch
