// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "picture_task.h"

#include "base/compose.h"
#include "frame_gatherer.h"
#include "held_frames.h"
#include "host/error.h"
#include "host/frames/formats.h"
#include "host/frames/lab.h"
#include "host/model/contract_fields.h"
#include "host/model/contract_inputs.h"
#include "host/model/picture_tensors.h"
#include "host/probing/model_contract.h"
#include "host/probing/model_trial.h"
#include "sample_gathering.h"

extern "C" {
#include <libavutil/error.h>
}

#include <array>
#include <utility>

namespace dnn_torch
{
namespace
{

std::string name_of(int channels)
{
    return channels == 4 ? "RGBA" : channels == 3 ? "RGB" : "luma";
}

std::string description_of(const FoundChannels &found, As as)
{
    const bool is_any = found.channels == Channels::any;
    std::string takes = is_any ? "RGB and luma" : name_of(count_of(found.channels));
    if (as != As::picture)
        return takes + ", and makes " + dnn_torch::name_of(as);
    if (!found.made || found.made == count_of(found.channels))
        return takes;
    return takes + ", and makes " + (found.made == 1 ? "gray" : name_of(found.made));
}

} // namespace

PicturePlan::PicturePlan(const FrameShape &frames_in, Size size_out, const Contract &numbers,
                         int frame_channels)
    : contract(numbers),
      formats(numbers.as == As::lab
                  ? lab_formats(frames_in.format)
                  : work_formats(frames_in.format, format_of_results(frames_in), frame_channels)),
      channels(frame_channels), frames(formats.made, size_out)
{
    input = frames_in;
    output = size_out;
    if (formats.are_lab || formats.taken != input.format)
        converted_frames.emplace(formats.taken, input.size);
    if (formats.are_lab || formats.made != format_of_results(input))
        converted_results.emplace(format_of_results(input), output);
}

bool PicturePlan::passes_integers(const ModelPlan &run) const
{
    return run.facts().takes_integers != 0 && extra.empty() && can_pass_integers(formats.taken) &&
           !needs_colours(formats.taken, channels) && are_plain(contract.input) &&
           are_plain(contract.output) && output_channels == channels && channels < 4 &&
           contract.as == As::picture;
}

void PicturePlan::read_frame(const AVFrame *frame, const Images &images, int index) const
{
    if (formats.are_lab)
        read_lightness(frame, contract.input, images, index);
    else
        read_picture(frame, contract.input, images, index);
}

// A frame with which int8 is calibrated has no neighbours.
Images PicturePlan::planes_of(const FrameJob &job, FrameItem &item, int distance) const
{
    if (!item.shared)
        item.shared = std::make_shared<SharedFrame>(new_reference(item.frame.get()));
    return frame_at(item, distance, contract.time.border)
        .planes(job.plan, channels, [this](const AVFrame *frame, const Images &planes) {
            read_frame(frame, planes, 0);
        });
}

void PicturePlan::use(std::shared_ptr<TilingState> state)
{
    tiling = std::move(state);
    in_order = tiling->current()->model->facts().in_order != 0;
    const PictureFit &fit = tiling->fit();
    if (fit.seen != fit.frame)
        scaled_frames.emplace(formats.taken, fit.seen);
    if (fit.made != fit.target)
        unscaled_results.emplace(formats.made, fit.made);
    if (contract.as == As::depth)
        depths.emplace(AV_PIX_FMT_GRAYF32, fit.made);
}

PictureTask::PictureTask(std::shared_ptr<Model> model, const Contract &contract, size_t batch_size)
    : Task(std::move(model)),
      probe_(Task::model(), contract.time, extra_channels(contract), contract.sizes.only),
      fitter_(Task::model(), contract), contract_(contract),
      batch_size_(contract.time.length ? static_cast<size_t>(contract.time.length) : batch_size)
{
}

// A model that returns no pictures may be for another filter.
FoundChannels PictureTask::find_channels()
try {
    return probe_.find_channels(contract_.as);
} catch (const Error &error) {
    const bool is_known = !model()->metadata("architecture").empty();
    if (error.code() != AVERROR_INVALIDDATA || is_known || looks_at_time(contract_))
        throw;
    throw Error(error.code(), std::string(error.what()) +
                                  "; detectors are for the filter dnn_torch_detect, classifiers "
                                  "for dnn_torch_classify, and maps of classes need as=index, "
                                  "as=colors or classes=");
}

TaskFindings PictureTask::examine()
{
    found_ = find_channels();
    found_.channels = agreed_channels(contract_, found_.channels);
    if (contract_.as == As::lab)
        set_ranges_of_lab(count_of(found_.channels), contract_);
    const int as_in = found_.channels == Channels::any ? 0 : count_of(found_.channels);
    expect_made(contract_, found_.made ? found_.made : as_in);
    follow_model();
    TaskFindings findings = {.takes = description_of(found_, contract_.as),
                             .warning = "",
                             .numbers = contract_in_words(contract_)};
    if (!found_.warning.empty() && contract_.input.channels == 0)
        findings.warning =
            "the model is run on luma alone, because it fails on RGB: " + found_.warning +
            "; if it should take RGB, correct the model";
    return findings;
}

// By now a run has shown the types of the model's tensors.
void PictureTask::follow_model()
{
    set_ranges_of_types(model()->metadata("input_type"), model()->metadata("output_type"),
                        contract_);
    fitter_.use(contract_.input);
}

int PictureTask::channels_of(AVPixelFormat format) const
{
    return found_.channels == Channels::any ? model_channels(format) : count_of(found_.channels);
}

ChannelCounts PictureTask::counts_of(AVPixelFormat format) const
{
    const int channels = channels_of(format);
    return {.in = input_channels(contract_, channels),
            .made = found_.made ? found_.made : channels};
}

std::vector<AVPixelFormat> PictureTask::results_of(AVPixelFormat format) const
{
    if (contract_.as == As::lab)
        return coloured_results(format);
    if (result_formats())
        return result_formats_for(format, result_formats());
    return results_like(format, channels_of(format));
}

std::vector<ExtraPad> PictureTask::extra_pads() const
{
    std::vector<ExtraPad> pads;
    for (const PictureInput &picture : contract_.pictures)
        if (!picture.frame && !picture.is_plane())
            pads.push_back({.name = picture.name, .formats = formats_of_extra(picture)});
    return pads;
}

ResultShape PictureTask::output_for(const FrameShape &input)
{
    const PictureFit fitted = fit(input);
    check_fit(fitted);
    ResultShape output = Task::output_for(input);
    output.size = fitted.target;
    return output;
}

// A mean and a deviation for each of R, G and B make no sense for luma.
void PictureTask::check_contract(int channels) const
{
    const auto differ = [](const std::array<float, 3> &three) {
        return three[0] != three[1] || three[1] != three[2];
    };
    for (const auto &[name, three] :
         {std::pair("mean", contract_.input.mean), std::pair("std", contract_.input.deviation)})
        if (channels == 1 && differ(three))
            throw Error(AVERROR(EINVAL), std::string("the model takes one channel, and ") + name +
                                             " has three numbers; give it one");
}

// If no size works, the probe gives the best error message.
PictureFit PictureTask::fit(const FrameShape &input)
try {
    return fitter_.fit(input.size, counts_of(input.format));
} catch (const Error &error) {
    const ChannelCounts channels = counts_of(input.format);
    if (error.code() == AVERROR_EXTERNAL)
        probe_.find_output(input.size, channels_of(input.format), channels.made);
    throw;
}

// The contract describes the model's own output, before it is scaled.
void PictureTask::check_fit(const PictureFit &fit) const
{
    expect_scale(contract_, fit.seen, fit.made);
    if (fit.seen != fit.frame && (!contract_.pictures.empty() || contract_.time.count() > 1))
        throw Error(AVERROR(EINVAL),
                    concat("the model takes ", to_text(fit.seen),
                           " alone, and frames with neighbours or extra pictures are not scaled; "
                           "put scale=",
                           fit.seen.width, ":", fit.seen.height, " before each pad"));
    if ((contract_.as == As::alpha || contract_.as == As::lab) && fit.target != fit.frame)
        throw Error(AVERROR(EINVAL),
                    concat("as=", dnn_torch::name_of(contract_.as),
                           " needs a result of the frame's size, and there comes out ",
                           to_text(fit.target), " of ", to_text(fit.frame),
                           "; scale=1 scales it to that"));
}

std::shared_ptr<const PictureTiling> PictureTask::tiling_for(TilingState &tiling,
                                                             const PlanParameters &parameters) const
{
    const PictureFit &fit = tiling.fit();
    const Size wanted = contract_.sizes.tile && !contract_.sizes.never_tiles()
                            ? *contract_.sizes.tile
                            : PictureFitter::part_of(fit.padded, 0.5);
    if (fit.is_tiled && !parameters.gathered)
        return tiling.plan_tiles(wanted, parameters);
    try {
        std::shared_ptr<const PictureTiling> whole = tiling.plan_whole(parameters);
        const auto bytes = static_cast<double>(whole->model->facts().run_bytes);
        const auto memory = static_cast<double>(usable_machine().memory);
        const bool may_tile = !contract_.sizes.tile && !fit.only && !whole->model->facts().in_order;
        if (!may_tile || memory <= 0 || bytes <= memory)
            return whole;
        return tiling.plan_tiles(PictureFitter::part_of(fit.padded, memory / bytes / 2),
                                 parameters);
    } catch (const AnyError &error) {
        if (error.code() != AVERROR(ENOMEM) || contract_.sizes.never_tiles() || fit.only)
            throw;
        return tiling.plan_tiles(wanted, parameters);
    }
}

NewPlan PictureTask::plan(const FrameShape &input, const PlanParameters &parameters)
{
    const PictureFit fitted = fit(input);
    check_fit(fitted);
    follow_model(); // runs on small pictures may not have shown the types
    auto plan =
        std::make_shared<PicturePlan>(input, fitted.target, contract_, channels_of(input.format));
    const ChannelCounts channels = counts_of(input.format);
    check_contract(plan->channels);
    plan->input_channels = channels.in;
    plan->extra = extra_pictures(contract_, plan->channels);
    plan->window = window_of(contract_);
    plan->segments = segments_of(contract_);
    plan->number_inputs = numbers_in(contract_);
    plan->output_channels = channels.made;
    plan->frame_bytes = bytes_of(input, fitted.target, plan->channels, channels.made);
    if (!warnings_)
        warnings_ = std::make_shared<PictureWarnings>(contract_);
    plan->warnings = warnings_;
    plan->mixes = fitted.target == input.size && plan->keeps_format() &&
                  (channels.made == plan->channels || plan->part() != Part::seen);
    auto tiling = std::make_shared<TilingState>(model(), fitter_, fitted, channels, contract_.input,
                                                batch_size_);
    tiling->use(tiling_for(*tiling, parameters));
    fitter_ = tiling->fitter();
    const std::shared_ptr<const PictureTiling> work = tiling->current();
    const DnnTorchPlanFacts facts = work->model->facts();
    plan->use(std::move(tiling));
    plan->batch_size = plan->in_order && !plan->segments.length ? 1 : batch_size_;
    if (plan->in_order && plan->segments.overlap)
        throw Error(AVERROR(EINVAL),
                    "the model remembers earlier frames, and would get those of an "
                    "overlap twice; leave time_overlap at 0");
    // Integer results are already clipped, so the range is checked with a separate run.
    const RangeWarning range =
        plan->passes_integers(*work->model)
            ? range_warning_on(*model(), fitter_.trial_parameters(fitted.only, channels), contract_)
            : RangeWarning{};
    RunCost cost = cost_of(facts);
    cost.seconds *= static_cast<double>(work->grid.count());
    if (plan->segments.length)
        cost.bytes +=
            held_frames({}, plan->segments, plan->batch_size,
                        {.workers = 1, .threads_per_worker = 1, .in_flight = 1}, plan->frame_bytes)
                .bytes;
    return {.plan = std::move(plan),
            .cost = cost,
            .variants = work->model->variants(),
            .hint = work->model->hint(),
            .notes = {fitted.note, work->grid.note},
            .warning = work->grid.warning.empty() ? range.words : work->grid.warning};
}

} // namespace dnn_torch
