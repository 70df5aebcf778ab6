// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Converts frames to model inputs, runs the model, and converts its outputs to frames.
#pragma once

#include "host/frames/blend.h"
#include "host/frames/frame_converter.h"
#include "host/frames/frame_scaler.h"
#include "host/frames/frame_window.h"
#include "host/frames/picture.h"
#include "host/model/model.h"
#include "host/tiling/tiling_state.h"
#include "picture_task.h"

#include <memory>
#include <mutex>
#include <vector>

namespace dnn_torch
{

// Passes frames on without the model.  Belongs to one thread.
class PassBy
{
public:
    // Passes frames as they are, or converted to the size and format of the plan's results.
    void pass(const PicturePlan &plan, FrameJob &job);

private:
    FrameScaler scaler_;
    FrameConverter converter_;
};

// Returns a frame of the pool with the properties of `like`.  Throws Error or std::bad_alloc.
FramePointer taken_from(const FramePool &pool, const AVFrame *like);

// Replaces the item's frame with `result`.
void set_result(FrameItem &item, FramePointer result);

// Runs frames with the current tiling of their plan; a whole frame is one tile.  Tiles are read
// from the frame, which may be padded or scaled for the model, and written into the result; no
// float buffer holds a picture of several tiles.  A batch is the same tile of several frames.  If
// memory runs out, the session continues with smaller tiles, from the same frame.
class PictureSession : public TaskSession
{
public:
    // `plan` must live during run() and bypass(); it may be gone after them.
    explicit PictureSession(const PicturePlan &plan);

    void run(FrameJob &job) override;
    void bypass(FrameJob &job) override;
    void reset() override;
    void stop() noexcept override;

private:
    // What runs one tiling.
    struct Current {
        Current(const PicturePlan &plan, std::shared_ptr<const PictureTiling> its_tiling);

        const std::shared_ptr<const PictureTiling> tiling;
        const bool interleaved, integers;
        Session session;
        InputMemory memory;
        Size tile_output; // of the model for one tile; 0x0 before the first
    };
    struct Picture {
        FrameItem *item;
        FramePointer scaled;  // null if the model gets the frame as it is
        const AVFrame *input; // `scaled`, or the frame
        FramePointer result;  // null before its first tile
        FramePointer depth;   // raw depth, converted to `result` after the last tile
    };

    void follow(std::shared_ptr<const PictureTiling> tiling);
    void run_tiles(FrameJob &job);
    void begin(FrameJob &job);
    void run_tile(FrameJob &job, const TileSpan &across, const TileSpan &down);
    Images input_for(const FrameJob &job);
    void read_tile(const FrameJob &job, const Images &input, const TileSpan &across,
                   const TileSpan &down);
    void read_extra(const FrameJob &job, const Picture &picture, const Images &part,
                    const Region &region, int index);
    void check(const Images &output, const TileSpan &across, const TileSpan &down);
    void make_result(Picture &picture);
    void write_tile(FrameJob &job, const Images &output, const TileSpan &across,
                    const TileSpan &down);
    bool write_part(const Picture &picture, const Images &part, int index, const Region &region,
                    const BlendEdges &edges);
    void write_depth_part(const Picture &picture, const Images &part, int index,
                          const Region &region, const BlendEdges &edges);
    const AVFrame *kept_for(const Picture &picture) const;
    bool mixes_parts() const;
    void finish(FrameJob &job);
    FramePointer finished(Picture &picture);

    const TileGrid &grid() const { return current_->tiling->grid; }

    const PicturePlan &plan_;
    const PictureFit &fit_;
    Components input_components_, result_components_;
    PassBy pass_by_;
    FrameScaler frame_scaler_, input_scaler_;
    ResultScaler result_scaler_;
    FrameWindow frame_window_, kept_window_, result_window_;
    TileBlender blender_;
    Mixer mixer_;
    std::vector<Picture> pictures_; // of the job

    std::mutex mutex_;
    // ---- under mutex_; written only by the session's own thread
    std::unique_ptr<Current> current_;
    bool is_stopped_ = false;
};

} // namespace dnn_torch
