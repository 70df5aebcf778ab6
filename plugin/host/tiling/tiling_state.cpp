// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tiling_state.h"

#include "base/compose.h"
#include "host/error.h"
#include "host/model/picture_tensors.h"

extern "C" {
#include <libavutil/error.h>
}

#include <utility>

namespace dnn_torch
{

TilingState::TilingState(std::shared_ptr<Model> model, PictureFitter fitter, PictureFit fit,
                         ChannelCounts channels, const PictureNumbers &numbers, size_t batch_size)
    : model_(std::move(model)), fit_(std::move(fit)), channels_(channels), numbers_(numbers),
      batch_size_(batch_size), fitter_(std::move(fitter))
{
}

PictureFitter TilingState::fitter() const
{
    std::lock_guard lock(mutex_);
    return fitter_;
}

std::shared_ptr<const PictureTiling> TilingState::planned(TileGrid grid,
                                                          const PlanParameters &parameters)
{
    DnnTorchTensor shape =
        picture_shape(static_cast<int>(batch_size_), channels_.in, grid.tile, numbers_);
    std::shared_ptr<const ModelPlan> plan = model_->plan({&shape, 1}, parameters);
    if (grid.count() > 1 && plan->facts().in_order)
        throw Error(AVERROR(EINVAL), "the model remembers earlier frames, so that frames cannot be "
                                     "cut into tiles; use tile=0");
    return std::make_shared<const PictureTiling>(
        PictureTiling{.grid = std::move(grid), .model = std::move(plan)});
}

std::shared_ptr<const PictureTiling> TilingState::plan_tiles(Size wanted,
                                                             const PlanParameters &parameters)
{
    TileGrid grid = [&] {
        std::lock_guard lock(mutex_);
        return fitter_.cut(fit_, wanted, channels_);
    }();
    return planned(std::move(grid), parameters);
}

std::shared_ptr<const PictureTiling> TilingState::plan_whole(const PlanParameters &parameters)
{
    return planned(PictureFitter::whole(fit_), parameters);
}

void TilingState::use(std::shared_ptr<const PictureTiling> tiling)
{
    std::lock_guard lock(mutex_);
    tiling_ = std::move(tiling);
}

std::shared_ptr<const PictureTiling> TilingState::current() const
{
    std::lock_guard lock(mutex_);
    return tiling_;
}

// Holds the lock while it plans the tiles, because the other workers share the same memory.
std::shared_ptr<const PictureTiling> TilingState::smaller(const PictureTiling *failed,
                                                          std::string &note)
{
    std::lock_guard lock(mutex_);
    if (tiling_.get() != failed)
        return tiling_;
    if (fitter_.parameters().never_tiles() || fit_.only)
        return nullptr;
    const Size before = tiling_->grid.tile;
    for (Size wanted = PictureFitter::part_of(before, 0.5);;
         wanted = PictureFitter::part_of(wanted, 0.5)) {
        TileGrid grid = fitter_.cut(fit_, wanted, channels_);
        if (int64_t{grid.tile.width} * grid.tile.height >= int64_t{before.width} * before.height)
            return nullptr;
        note = concat("memory ran out for ", to_text(before), ": frames go on in tiles of ",
                      to_text(grid.tile), grid.warning.empty() ? "" : "; ", grid.warning);
        try {
            PictureTiling tiling = *planned(std::move(grid), {});
            tiling.is_second = true;
            return tiling_ = std::make_shared<const PictureTiling>(std::move(tiling));
        } catch (const AnyError &error) {
            if (error.code() != AVERROR(ENOMEM) || wanted == PictureFitter::part_of(wanted, 0.5))
                throw;
        }
    }
}

} // namespace dnn_torch
