// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// One request to the pool, a batch of frames, and the worker that serves it.
#pragma once

#include "host/ffmpeg_pointers.h"
#include "host/frames/codes.h"
#include "host/frames/frame_pool.h"
#include "host/frames/frame_scaler.h"
#include "host/inference/model.h"
#include "host/inference/ordered_pool.h"
#include "host/inference/statistics.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace dnn_torch
{

struct FrameJob : AnyJob {
    struct Item {
        FramePointer frame; // the input, then the output
        bool bypass;        // the timeline excludes it from the model
        Clock::time_point arrival;
        int64_t number; // in the stream, from 0 on
    };
    std::vector<Item> items; // of successive numbers; all bypass the model, or none does
    StageSeconds stages;
    bool saw_nan = false;
};

// What all workers of a filter share; read only, but for the pool.
struct FramePlan {
    std::shared_ptr<Model> model;
    int threads = 1;          // of one run
    bool interleaved = false; // the model takes its channels best side by side
    bool codes = false;       // the model takes and gives frames in their own codes
    bool in_order = false;    // results depend on earlier runs
    AVPixelFormat format;
    int channels;
    Size input, output;
    AVRational time_base;
    size_t batch_size;
    FramePool frames;

    AVPixelFormat code_format() const { return format_of_codes(format, channels); }
};

// Brings frames to the model as it takes them best.
void follow_tuning(FramePlan &plan, const DnnTorchTuning &tuning);

// Converts in, runs the model, converts out.
class FrameWorker : public PoolWorker<FrameJob>
{
public:
    explicit FrameWorker(std::shared_ptr<const FramePlan> plan);

    void run(FrameJob &frames) override;
    void stop() noexcept override { session_.stop(); }

private:
    DnnTorchImages input_for(const FrameJob &job);
    void *memory_of(int64_t bytes);
    void run_model(FrameJob &job);
    void convert_in(FrameJob &job, const DnnTorchImages &input);
    void convert_out(FrameJob &job, const DnnTorchImages &output);
    FramePointer frame_like(const AVFrame *input) const;
    static void replace(FramePointer &frame, FramePointer by);
    void bypass(FrameJob &job);
    void finish(FrameJob::Item &item, const DnnTorchImages &output, int index, bool &saw_nan);
    void check_size(const DnnTorchImages &output) const;

    std::shared_ptr<const FramePlan> plan_;
    Session session_;
    FrameScaler scaler_;
    void *memory_ = nullptr; // the input's: the session's, or
    std::vector<std::max_align_t> own_memory_;
};

} // namespace dnn_torch
