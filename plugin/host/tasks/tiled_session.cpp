// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tiled_session.h"

#include "base/compose.h"
#include "frame_numbers.h"
#include "host/error.h"
#include "host/frames/depth.h"
#include "host/frames/integer_samples.h"
#include "host/frames/lab.h"
#include "host/frames/picture.h"
#include "host/model/picture_tensors.h"
#include "host/workers/fork_gate.h"
#include "picture_session.h"

#include <algorithm>

extern "C" {
#include <libavutil/error.h>
}

namespace dnn_torch
{

TiledSession::TiledSession(const PicturePlan &plan, std::shared_ptr<const PictureTiling> tiling)
    : plan_(plan), tiling_(std::move(tiling)), fit_(plan.tiling->fit()),
      interleaved_(tiling_->model->facts().interleaved != 0 && plan.extra.empty()),
      integers_(plan.passes_integers(*tiling_->model) && !tiling_->grid.is_blended),
      session_(tiling_->model, plan.threads),
      input_components_(components_of(plan.formats.taken, plan.channels, Part::seen)),
      result_components_(components_of(plan.formats.made, plan.output_channels, plan.part()))
{
    // A model that remembers earlier runs must get no other picture before the first frame.
    if (!tiling_->model->facts().in_order)
        session_.warm();
}

void TiledSession::bypass(FrameJob &job)
{
    pass_by_.pass(plan_, job);
}

void TiledSession::run(FrameJob &job)
{
    plan_.check_strength(job);
    begin(job);
    for (const TileSpan &down : tiling_->grid.down)
        for (const TileSpan &across : tiling_->grid.across)
            run_tile(job, across, down);
    finish(job);
}

void TiledSession::begin(FrameJob &job)
{
    Stopwatch watch(job.stages.convert_in);
    pictures_.clear();
    for (FrameItem &item : job.items) {
        Picture picture = {
            .item = &item, .scaled = {}, .input = item.frame.get(), .result = {}, .depth = {}};
        if (plan_.scaled_frames) {
            picture.scaled = taken_from(*plan_.scaled_frames, item.frame.get());
            input_scaler_.scale_frame(item.frame.get(), picture.scaled.get());
            picture.input = picture.scaled.get();
        }
        if (item.seen_only) {
            pictures_.push_back(std::move(picture));
            continue;
        }
        picture.result = plan_.unscaled_results
                             ? taken_from(*plan_.unscaled_results, item.frame.get())
                             : plan_.frame_for(item.frame.get());
        if (plan_.depths)
            picture.depth = taken_from(*plan_.depths, item.frame.get());
        if (plan_.part() != Part::seen && !plan_.unscaled_results)
            copy_all_but(plan_.part(), item.frame.get(), picture.result.get());
        pictures_.push_back(std::move(picture));
    }
}

void TiledSession::run_tile(FrameJob &job, const TileSpan &across, const TileSpan &down)
{
    Images input = input_for(job);
    input.more = &across != &tiling_->grid.across.back() || &down != &tiling_->grid.down.back();
    {
        Stopwatch watch(job.stages.convert_in);
        read_tile(job, input, across, down);
    }
    Images output;
    {
        Stopwatch watch(job.stages.forward);
        output = run_pictures(session_, input, numbers_for(job, plan_));
    }
    job.add_run(session_);
    check(output, across, down);
    job.saw_nan |= output.had_nan != 0;
    plan_.warnings->look_at(job, input, output);
    Stopwatch watch(job.stages.convert_out);
    write_tile(job, output, across, down);
}

// The buffer is sized for a full batch, even if the first batch is smaller.
Images TiledSession::input_for(const FrameJob &job)
{
    const int batch = static_cast<int>(job.items.size());
    const auto floats = interleaved_ ? float_pixels : float_planes;
    Images input = integers_ ? integer_images(plan_.formats.taken, batch, tiling_->grid.tile)
                             : floats(nullptr, batch, plan_.input_channels, tiling_->grid.tile);
    input.data = memory_.of(session_, static_cast<size_t>(input.batch_stride) * plan_.batch_size);
    input.number = job.items.front().seed;
    input.predecessor_distance = job.predecessor_distance;
    return input;
}

void TiledSession::read_tile(const FrameJob &job, const Images &input, const TileSpan &across,
                             const TileSpan &down)
{
    const Size inside = {std::min(input.width, fit_.seen.width - across.start),
                         std::min(input.height, fit_.seen.height - down.start)};
    const Images part = part_of(input, {.x = 0, .y = 0, .size = inside});
    int index = 0;
    for (const Picture &picture : pictures_) {
        const AVFrame *window = frame_window_.at(
            picture.input, {.x = across.start, .y = down.start, .size = inside}, input_components_);
        const Images own = channels_of(part, plan_.first_channel(), plan_.channels);
        if (integers_)
            read_integers(window, part, index);
        else if (plan_.has_window()) // converted already, or for the neighbours' windows too
            copy_planes(plan_.planes_of(job, *picture.item, 0), across.start, down.start, own,
                        index);
        else
            plan_.read_frame(window, own, index);
        read_extra(job, picture, part, {.x = across.start, .y = down.start, .size = inside}, index);
        pad_picture(input, index, inside, plan_.contract.sizes.padding.value_or(Padding::reflect));
        for (const ExtraPicture &extra : plan_.extra)
            if (extra.is_plane())
                fill_plane(extra, picture.item->between, input, index);
        index++;
    }
}

void TiledSession::read_extra(const FrameJob &job, const Picture &picture, const Images &part,
                              const Region &region, int index)
{
    for (const ExtraPicture &extra : plan_.extra) {
        const Images channels = channels_of(part, extra.first, extra.channels);
        if (extra.is_plane())
            continue;
        if (extra.frame) {
            copy_planes(plan_.planes_of(job, *picture.item, *extra.frame), region.x, region.y,
                        channels, index);
            continue;
        }
        const AVFrame *const frame = picture.item->extra[extra.pad].get();
        const auto format = static_cast<AVPixelFormat>(frame->format);
        read_picture(
            frame_window_.at(frame, region, components_of(format, extra.channels, Part::seen)),
            extra.numbers, channels, index);
    }
}

void TiledSession::check(const Images &output, const TileSpan &across, const TileSpan &down)
{
    const Size size = {output.width, output.height};
    if (!tile_output_.width)
        tile_output_ = size;
    if (size == tile_output_ && output.channels == plan_.output_channels &&
        size.width >= across.end - across.offset && size.height >= down.end - down.offset)
        return;
    throw Error(AVERROR_INVALIDDATA, "the model returned " + counted(output.channels, "channel") +
                                         " of " + to_text(size) + " for a tile of " +
                                         to_text(tiling_->grid.tile) +
                                         "; its output size must depend on its input size alone");
}

void TiledSession::write_tile(FrameJob &job, const Images &output, const TileSpan &across,
                              const TileSpan &down)
{
    const Region region = {.x = across.begin,
                           .y = down.begin,
                           .size = {across.end - across.begin, down.end - down.begin}};
    const Images part = part_of(
        output,
        {.x = across.begin - across.offset, .y = down.begin - down.offset, .size = region.size});
    const BlendEdges edges = {.left = across.rise, .above = down.rise, .right = across.fall};
    int index = -1;
    for (const FrameItem &item : job.items) {
        const Picture &picture = pictures_[static_cast<size_t>(++index)];
        if (item.seen_only)
            continue;
        if (picture.depth)
            write_depth_part(picture, part, index, region, edges);
        else
            job.saw_nan |= write_part(item, picture, part, index, region, edges);
    }
}

// Returns the frame, of the result's size, whose samples outside the model's channels are copied
// into the result; null if there is none.
const AVFrame *TiledSession::kept_for(const FrameItem &item, const Picture &picture) const
{
    if (!plan_.keeps_format())
        return nullptr;
    if (fit_.frame == fit_.made)
        return item.frame.get();
    return fit_.seen == fit_.made ? picture.input : nullptr;
}

// Returns whether results are mixed with their frames before rounding.
bool TiledSession::mixes_parts() const
{
    return fit_.frame == fit_.made && !plan_.unscaled_results && !integers_ &&
           !tiling_->grid.is_blended;
}

bool TiledSession::write_part(const FrameItem &item, const Picture &picture, const Images &part,
                              int index, const Region &region, const BlendEdges &edges)
{
    const PictureNumbers &numbers = plan_.contract.output;
    const AVFrame *kept = kept_for(item, picture);
    if (kept)
        kept = kept_window_.at(kept, region, result_components_);
    AVFrame *result = result_window_.at(picture.result.get(), region, result_components_);
    if (part.element != Element::f32) {
        write_integers(part, index, result);
        return false;
    }
    const auto write = [&] {
        if (tiling_->grid.is_blended)
            return blender_.write(part, numbers, index, kept, result, edges, plan_.part());
        if (item.strength != 1 && mixes_parts())
            return mixer_.write(part, numbers, index, item.strength, kept, result, plan_.part());
        return write_picture(part, numbers, index, kept, result, plan_.part());
    };
    const bool saw_nan = write();
    if (saw_nan && plan_.formats.are_lab)
        make_grey_of_zeros(result);
    return saw_nan;
}

// Depth is scaled by the picture's minimum and maximum, which are known after the last tile.
void TiledSession::write_depth_part(const Picture &picture, const Images &part, int index,
                                    const Region &region, const BlendEdges &edges)
{
    AVFrame *const numbers =
        result_window_.at(picture.depth.get(), region, {.first = 0, .count = 1});
    if (tiling_->grid.is_blended)
        blender_.write_floats(part, index, numbers, edges);
    else
        copy_floats(part, index, images_in(numbers));
}

void TiledSession::finish(FrameJob &job)
{
    Stopwatch watch(job.stages.convert_out);
    auto picture = pictures_.begin();
    for (FrameItem &item : job.items) {
        if (item.seen_only) {
            ++picture;
            continue;
        }
        if (picture->depth)
            job.saw_nan |= write_depth(images_in(picture->depth.get()), 0, plan_.contract.depth,
                                       picture->result.get());
        set_result(item, finished(item, *picture++));
    }
    NoFork no_fork;
    pictures_.clear();
}

FramePointer TiledSession::finished(const FrameItem &item, Picture &picture)
{
    const AVFrame *const frame = item.frame.get();
    FramePointer result = std::move(picture.result);
    if (plan_.unscaled_results) {
        FramePointer target = plan_.frame_for(frame);
        result_scaler_.scale(result.get(), frame, target.get(), result_components_);
        result.swap(target);
        NoFork no_fork;
        target.reset();
    } else if (plan_.keeps_format() && plan_.part() == Part::seen) {
        frame_scaler_.carry_unseen(frame, result.get(), plan_.output_channels);
    }
    if (item.strength != 1 && !mixes_parts())
        mixer_.blend(plan_.output_channels, item.strength, frame, result.get(), plan_.part());
    return result;
}

AdaptiveSession::AdaptiveSession(const PicturePlan &plan) : plan_(plan)
{
    follow(plan.tiling->current());
}

// Frees the last session's memory before the next one allocates.
void AdaptiveSession::follow(std::shared_ptr<const PictureTiling> tiling)
{
    std::unique_ptr<TaskSession> last;
    {
        std::lock_guard lock(mutex_);
        last.swap(session_);
    }
    last.reset();
    std::unique_ptr<TaskSession> next;
    if (plan_.tiling->fit().is_plain() && tiling->grid.count() == 1)
        next = std::make_unique<PictureSession>(plan_);
    else
        next = std::make_unique<TiledSession>(plan_, tiling);
    tiling_ = std::move(tiling);
    std::lock_guard lock(mutex_);
    session_ = std::move(next);
    if (is_stopped_)
        session_->stop();
}

void AdaptiveSession::run(FrameJob &job)
{
    for (;;) {
        if (std::shared_ptr<const PictureTiling> tiling = plan_.tiling->current();
            tiling != tiling_)
            follow(std::move(tiling));
        if (tiling_->is_second)
            job.predecessor_distance = 0;
        try {
            return session_->run(job);
        } catch (const Error &error) {
            std::string note;
            if (error.code() != AVERROR(ENOMEM) || !plan_.tiling->smaller(tiling_.get(), note))
                throw;
            if (!note.empty())
                job.notes.push_back(note);
        }
    }
}

void AdaptiveSession::bypass(FrameJob &job)
{
    session_->bypass(job);
}

void AdaptiveSession::stop() noexcept
{
    std::lock_guard lock(mutex_);
    is_stopped_ = true;
    if (session_)
        session_->stop();
}

} // namespace dnn_torch
