// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "picture_session.h"

#include "base/compose.h"
#include "converted_session.h"
#include "frame_numbers.h"
#include "host/error.h"
#include "host/frames/depth.h"
#include "host/frames/integer_samples.h"
#include "host/frames/lab.h"
#include "host/frames/picture.h"
#include "host/frames/sample_aspect.h"
#include "host/model/picture_tensors.h"
#include "host/workers/fork_gate.h"

#include <algorithm>

extern "C" {
#include <libavutil/error.h>
}

namespace dnn_torch
{

// Frames and frame pools use locks of libavutil, hence NoFork.
void set_result(FrameItem &item, FramePointer result)
{
    NoFork no_fork;
    item.frame.reset();
    item.extra.clear();
    item.results.push_back(std::move(result));
}

FramePointer taken_from(const FramePool &pool, const AVFrame *like)
{
    FramePointer frame = [&] {
        NoFork no_fork;
        return pool.take();
    }();
    if (int ret = av_frame_copy_props(frame.get(), like); ret < 0)
        throw Error(ret, "a frame's properties cannot be copied");
    if (frame->format != like->format)
        set_colour_properties(frame.get());
    return frame;
}

std::unique_ptr<TaskSession> PicturePlan::open_session() const
{
    auto session = std::make_unique<PictureSession>(*this);
    if (!converted_frames && !converted_results)
        return session;
    return std::make_unique<ConvertedSession>(*this, std::move(session));
}

FramePointer PicturePlan::frame_for(const AVFrame *source) const
{
    FramePointer frame = taken_from(frames, source);
    frame->sample_aspect_ratio =
        sample_aspect_after(source->sample_aspect_ratio, input.size, output);
    return frame;
}

// Checks each job, because mixing may become impossible when the size changes in mid-stream.
void PicturePlan::check_strength(const FrameJob &job) const
{
    for (const FrameItem &item : job.items)
        if (!mixes && item.strength != 1)
            throw Error(AVERROR(EINVAL), cannot_mix);
}

void PassBy::pass(const PicturePlan &plan, FrameJob &job)
{
    for (FrameItem &item : job.items) {
        if (plan.input.size == plan.output && plan.keeps_format()) {
            item.results.push_back(std::move(item.frame));
            continue;
        }
        FramePointer other = plan.frame_for(item.frame.get());
        if (plan.keeps_format())
            scaler_.scale_frame(item.frame.get(), other.get());
        else
            converter_.convert(item.frame.get(), other.get());
        set_result(item, std::move(other));
    }
}

// The size of one run's output is known if the frame is all that it gets.
PictureSession::Current::Current(const PicturePlan &plan,
                                 std::shared_ptr<const PictureTiling> its_tiling)
    : tiling(std::move(its_tiling)),
      interleaved(tiling->model->facts().interleaved != 0 && plan.extra.empty()),
      integers(plan.passes_integers(*tiling->model) && !tiling->grid.is_blended),
      session(tiling->model, plan.threads),
      tile_output(plan.tiling->fit().is_plain() && tiling->grid.count() == 1 ? plan.output
                                                                             : Size{0, 0})
{
    // A model that remembers earlier runs must get no other picture before the first frame.
    if (!tiling->model->facts().in_order)
        session.warm();
}

PictureSession::PictureSession(const PicturePlan &plan)
    : plan_(plan), fit_(plan.tiling->fit()),
      input_components_(components_of(plan.formats.taken, plan.channels, Part::seen)),
      result_components_(components_of(plan.formats.made, plan.output_channels, plan.part()))
{
    follow(plan.tiling->current());
}

// Frees the last session's memory before the next one allocates.
void PictureSession::follow(std::shared_ptr<const PictureTiling> tiling)
{
    std::unique_ptr<Current> last;
    {
        std::lock_guard lock(mutex_);
        last.swap(current_);
    }
    last.reset();
    auto next = std::make_unique<Current>(plan_, std::move(tiling));
    std::lock_guard lock(mutex_);
    current_ = std::move(next);
    if (is_stopped_)
        current_->session.stop();
}

void PictureSession::stop() noexcept
{
    std::lock_guard lock(mutex_);
    is_stopped_ = true;
    if (current_)
        current_->session.stop();
}

void PictureSession::reset()
{
    if (current_)
        current_->session.reset();
}

void PictureSession::bypass(FrameJob &job)
{
    pass_by_.pass(plan_, job);
}

void PictureSession::run(FrameJob &job)
{
    plan_.check_strength(job);
    for (;;) {
        if (std::shared_ptr<const PictureTiling> tiling = plan_.tiling->current();
            !current_ || tiling != current_->tiling)
            follow(std::move(tiling));
        if (current_->tiling->is_second)
            job.predecessor_distance = 0;
        try {
            return run_tiles(job);
        } catch (const Error &error) {
            std::string note;
            if (error.code() != AVERROR(ENOMEM) ||
                !plan_.tiling->smaller(current_->tiling.get(), note))
                throw;
            if (!note.empty())
                job.notes.push_back(note);
        }
    }
}

// However it ends, no frame is held after it: smaller tiles need the memory.
void PictureSession::run_tiles(FrameJob &job)
{
    struct Release {
        std::vector<Picture> &pictures;
        ~Release()
        {
            NoFork no_fork;
            pictures.clear();
        }
    };
    const Release release{pictures_};
    begin(job);
    for (const TileSpan &down : grid().down)
        for (const TileSpan &across : grid().across)
            run_tile(job, across, down);
    finish(job);
}

void PictureSession::begin(FrameJob &job)
{
    Stopwatch watch(job.stages.convert_in);
    for (FrameItem &item : job.items) {
        Picture picture = {
            .item = &item, .scaled = {}, .input = item.frame.get(), .result = {}, .depth = {}};
        if (plan_.scaled_frames) {
            picture.scaled = taken_from(*plan_.scaled_frames, item.frame.get());
            input_scaler_.scale_frame(item.frame.get(), picture.scaled.get());
            picture.input = picture.scaled.get();
        }
        pictures_.push_back(std::move(picture));
    }
}

void PictureSession::make_result(Picture &picture)
{
    const AVFrame *const frame = picture.item->frame.get();
    picture.result = plan_.unscaled_results ? taken_from(*plan_.unscaled_results, frame)
                                            : plan_.frame_for(frame);
    if (plan_.depths)
        picture.depth = taken_from(*plan_.depths, frame);
    if (plan_.part() != Part::seen && !plan_.unscaled_results)
        copy_all_but(plan_.part(), frame, picture.result.get());
}

void PictureSession::run_tile(FrameJob &job, const TileSpan &across, const TileSpan &down)
{
    Images input = input_for(job);
    input.more = &across != &grid().across.back() || &down != &grid().down.back();
    {
        Stopwatch watch(job.stages.convert_in);
        read_tile(job, input, across, down);
    }
    Images output;
    {
        Stopwatch watch(job.stages.forward);
        output = run_pictures(current_->session, input, numbers_for(job, plan_));
    }
    job.add_run(current_->session);
    check(output, across, down);
    job.saw_nan |= output.had_nan != 0;
    plan_.warnings->look_at(job, input, output);
    Stopwatch watch(job.stages.convert_out);
    write_tile(job, output, across, down);
}

// The buffer is sized for a full batch, even if the first batch is smaller.
Images PictureSession::input_for(const FrameJob &job)
{
    const int batch = static_cast<int>(job.items.size());
    const auto floats = current_->interleaved ? float_pixels : float_planes;
    Images input = current_->integers ? integer_images(plan_.formats.taken, batch, grid().tile)
                                      : floats(nullptr, batch, plan_.input_channels, grid().tile);
    input.data = current_->memory.of(current_->session,
                                     static_cast<size_t>(input.batch_stride) * plan_.batch_size);
    input.number = job.items.front().seed;
    input.predecessor_distance = job.predecessor_distance;
    return input;
}

void PictureSession::read_tile(const FrameJob &job, const Images &input, const TileSpan &across,
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
        if (current_->integers)
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

void PictureSession::read_extra(const FrameJob &job, const Picture &picture, const Images &part,
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

void PictureSession::check(const Images &output, const TileSpan &across, const TileSpan &down)
{
    const Size size = {output.width, output.height};
    Size &expected = current_->tile_output;
    if (!expected.width)
        expected = {std::max(size.width, across.end - across.offset),
                    std::max(size.height, down.end - down.offset)};
    if (size == expected && output.channels == plan_.output_channels)
        return;
    throw Error(AVERROR_INVALIDDATA,
                concat("the model returned ", counted(output.channels, "channel"), " of ",
                       to_text(size), " for ", to_text(grid().tile), ", not ",
                       std::to_string(plan_.output_channels), " of ", to_text(expected),
                       " as before; its output size must depend on its input size alone"));
}

void PictureSession::write_tile(FrameJob &job, const Images &output, const TileSpan &across,
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
    for (Picture &picture : pictures_) {
        index++;
        if (picture.item->seen_only)
            continue;
        if (!picture.result)
            make_result(picture);
        if (picture.depth)
            write_depth_part(picture, part, index, region, edges);
        else
            job.saw_nan |= write_part(picture, part, index, region, edges);
    }
}

// Returns the frame, of the result's size, whose samples outside the model's channels are copied
// into the result; null if there is none.
const AVFrame *PictureSession::kept_for(const Picture &picture) const
{
    if (!plan_.keeps_format())
        return nullptr;
    if (fit_.frame == fit_.made)
        return picture.item->frame.get();
    return fit_.seen == fit_.made ? picture.input : nullptr;
}

// Returns whether results are mixed with their frames before rounding.
bool PictureSession::mixes_parts() const
{
    return fit_.frame == fit_.made && !plan_.unscaled_results && !current_->integers &&
           !grid().is_blended;
}

bool PictureSession::write_part(const Picture &picture, const Images &part, int index,
                                const Region &region, const BlendEdges &edges)
{
    const float strength = picture.item->strength;
    const PictureNumbers &numbers = plan_.contract.output;
    const AVFrame *kept = kept_for(picture);
    if (kept)
        kept = kept_window_.at(kept, region, result_components_);
    AVFrame *result = result_window_.at(picture.result.get(), region, result_components_);
    if (part.element != Element::f32) {
        write_integers(part, index, result);
        return false;
    }
    const auto write = [&] {
        if (grid().is_blended)
            return blender_.write(part, numbers, index, kept, result, edges, plan_.part());
        if (strength != 1 && mixes_parts())
            return mixer_.write(part, numbers, index, strength, kept, result, plan_.part());
        return write_picture(part, numbers, index, kept, result, plan_.part());
    };
    const bool saw_nan = write();
    if (saw_nan && plan_.formats.are_lab)
        make_grey_of_zeros(result);
    return saw_nan;
}

// Depth is scaled by the picture's minimum and maximum, which are known after the last tile.
void PictureSession::write_depth_part(const Picture &picture, const Images &part, int index,
                                      const Region &region, const BlendEdges &edges)
{
    AVFrame *const numbers =
        result_window_.at(picture.depth.get(), region, {.first = 0, .count = 1});
    if (grid().is_blended)
        blender_.write_floats(part, index, numbers, edges);
    else
        copy_floats(part, index, images_in(numbers));
}

void PictureSession::finish(FrameJob &job)
{
    Stopwatch watch(job.stages.convert_out);
    for (Picture &picture : pictures_) {
        if (picture.item->seen_only)
            continue;
        if (picture.depth)
            job.saw_nan |= write_depth(images_in(picture.depth.get()), 0, plan_.contract.depth,
                                       picture.result.get());
        set_result(*picture.item, finished(picture));
    }
}

FramePointer PictureSession::finished(Picture &picture)
{
    const FrameItem &item = *picture.item;
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

} // namespace dnn_torch
