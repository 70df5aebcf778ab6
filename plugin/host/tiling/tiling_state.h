// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// How the workers of one plan run its frames: whole, or in tiles.  If memory runs out, the tiles
// become smaller for all workers.
#pragma once

#include "host/model/model.h"
#include "picture_fit.h"

#include <memory>
#include <mutex>
#include <string>

namespace dnn_torch
{

// Never changes.
struct PictureTiling {
    TileGrid grid;
    std::shared_ptr<const ModelPlan> model;
    bool is_second = false; // earlier frames ran in another tiling, so runs do not wait for them
};

// May be used by any number of threads at once.
class TilingState
{
public:
    TilingState(std::shared_ptr<Model> model, PictureFitter fitter, PictureFit fit,
                ChannelCounts channels, const PictureNumbers &numbers, size_t batch_size);

    const PictureFit &fit() const { return fit_; }
    // Returns a copy, with all measurements so far.
    PictureFitter fitter() const;

    // Plans tiles of about that size.  Throws Error.
    std::shared_ptr<const PictureTiling> plan_tiles(Size wanted, const PlanParameters &parameters);
    // Plans one run for each frame.  Throws Error.
    std::shared_ptr<const PictureTiling> plan_whole(const PlanParameters &parameters);

    // Sets the first tiling.
    void use(std::shared_ptr<const PictureTiling> tiling);
    std::shared_ptr<const PictureTiling> current() const;

    // Returns the tiling after `failed` has run out of memory: the one that another thread has
    // chosen meanwhile, or tiles of half the size, with a line for the log in `note`.  Returns
    // nullptr if tiles cannot or must not be smaller.
    std::shared_ptr<const PictureTiling> smaller(const PictureTiling *failed, std::string &note);

private:
    std::shared_ptr<const PictureTiling> planned(TileGrid grid, const PlanParameters &parameters);

    const std::shared_ptr<Model> model_;
    const PictureFit fit_;
    const ChannelCounts channels_;
    const PictureNumbers numbers_;
    const size_t batch_size_;
    mutable std::mutex mutex_;
    // ---- under mutex_
    PictureFitter fitter_;
    std::shared_ptr<const PictureTiling> tiling_;
};

} // namespace dnn_torch
