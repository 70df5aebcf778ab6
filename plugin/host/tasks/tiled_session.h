// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Runs frames that are padded, cut into tiles or scaled, and scales the results to the output size.
// Tiles are read from the frame and written into the result; no float buffer holds a whole
// picture.  A batch is the same tile of several frames.
#pragma once

#include "host/frames/blend.h"
#include "host/frames/frame_scaler.h"
#include "host/frames/frame_window.h"
#include "host/model/model.h"
#include "host/tiling/tiling_state.h"
#include "picture_session.h"
#include "picture_task.h"

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace dnn_torch
{

class TiledSession : public TaskSession
{
public:
    // `plan` must live during run() and bypass(); it may be gone after them.
    TiledSession(const PicturePlan &plan, std::shared_ptr<const PictureTiling> tiling);

    void run(FrameJob &job) override;
    void bypass(FrameJob &job) override;
    void reset() override { session_.reset(); }
    void stop() noexcept override { session_.stop(); }

private:
    struct Picture {
        FrameItem *item;
        FramePointer scaled;  // null if the model gets the frame as it is
        const AVFrame *input; // `scaled`, or the frame
        FramePointer result;
        FramePointer depth; // raw depth, converted to `result` after the last tile
    };

    void begin(FrameJob &job);
    void run_tile(FrameJob &job, const TileSpan &across, const TileSpan &down);
    Images input_for(const FrameJob &job);
    void read_tile(const FrameJob &job, const Images &input, const TileSpan &across,
                   const TileSpan &down);
    void read_extra(const FrameJob &job, const Picture &picture, const Images &part,
                    const Region &region, int index);
    void check(const Images &output, const TileSpan &across, const TileSpan &down);
    void write_tile(FrameJob &job, const Images &output, const TileSpan &across,
                    const TileSpan &down);
    bool write_part(const FrameItem &item, const Picture &picture, const Images &part, int index,
                    const Region &region, const BlendEdges &edges);
    void write_depth_part(const Picture &picture, const Images &part, int index,
                          const Region &region, const BlendEdges &edges);
    const AVFrame *kept_for(const FrameItem &item, const Picture &picture) const;
    bool mixes_parts() const;
    void finish(FrameJob &job);
    FramePointer finished(const FrameItem &item, Picture &picture);

    const PicturePlan &plan_;
    const std::shared_ptr<const PictureTiling> tiling_;
    const PictureFit &fit_;
    bool interleaved_, integers_;
    Session session_;
    Components input_components_, result_components_;
    PassBy pass_by_;
    FrameScaler frame_scaler_, input_scaler_;
    ResultScaler result_scaler_;
    FrameWindow frame_window_, kept_window_, result_window_;
    TileBlender blender_;
    Mixer mixer_;
    std::vector<Picture> pictures_; // of the job
    Size tile_output_ = {0, 0};     // of the model for one tile; 0x0 before the first
    InputMemory memory_;
};

// Runs frames with the current tiling of their plan.  If memory runs out, it continues with smaller
// tiles, from the same frame.
class AdaptiveSession : public TaskSession
{
public:
    // `plan` must live during run() and bypass(); it may be gone after them.
    explicit AdaptiveSession(const PicturePlan &plan);

    void run(FrameJob &job) override;
    void bypass(FrameJob &job) override;
    void reset() override { session_->reset(); }
    void stop() noexcept override;

private:
    void follow(std::shared_ptr<const PictureTiling> tiling);

    const PicturePlan &plan_;
    std::shared_ptr<const PictureTiling> tiling_; // of the session

    std::mutex mutex_;
    // ---- under mutex_; written only by the session's own thread
    std::unique_ptr<TaskSession> session_;
    bool is_stopped_ = false;
};

} // namespace dnn_torch
