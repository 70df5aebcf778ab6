// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model_filter.h"

#include "base/compose.h"
#include "base/terminal.h"
#include "host/error.h"
#include "host/frames/sample_aspect.h"
#include "host/libavfilter/self_test.h"

extern "C" {
#include <libavutil/error.h>
}

#include <charconv>
#include <utility>

namespace dnn_torch
{
namespace
{

FrameLoop::Settings settings_of(const FilterSettings &settings, const DeadlineSettings &deadline)
{
    auto timeout = std::chrono::microseconds(settings.model.timeout);
    return {.async = settings.run.async != 0,
            .strength = settings.run.strength,
            .timeout = std::chrono::ceil<std::chrono::seconds>(timeout),
            .continuity = continuity_of(settings.run),
            .start_number = settings.run.start_number,
            .deadline = deadline,
            .every = settings.run.every,
            .hides = settings.run.hides != 0,
            .hiding = static_cast<Hiding>(settings.run.hide_with)};
}

// The words of `list` are separated by ", ".
bool is_in_list(const std::string &word, const std::string &list)
{
    return word.find(',') == std::string::npos &&
           concat(", ", list, ", ").find(concat(", ", word, ", ")) != std::string::npos;
}

} // namespace

ModelFilter::ModelFilter(AVFilterContext *ctx, const FilterSettings &settings,
                         const DeadlineSettings &deadline, TaskMaker task)
    : ctx_(ctx), settings_(settings), files_(ctx), log_(ctx, settings),
      opener_(ctx, settings, std::move(task)),
      loop_(ctx, settings_of(settings, deadline), opener_, log_),
      change_(request_of(settings.model), settings.model.watch != 0)
{
}

ModelFilter::~ModelFilter()
{
    if (std::string pending = change_.pending(); !pending.empty())
        log_.warn(("the stream ended before the filter could change to " + pending).c_str());
}

void ModelFilter::open()
{
    if (request_of(settings_.model).path.empty())
        throw Error(AVERROR(EINVAL),
                    concat("no model given; write ", ctx_->filter->name, "=model=FILE"));
    // If a program looks up the filter by name, the gate was not tested before.
    if (const char *fault = gate_fault())
        throw Error(AVERROR(ENOSYS), fault);
    try {
        if (!loop_.is_asked_to_end())
            open_model();
    } catch (const AnyError &) {
        // After the signal any error counts as its effect: probing takes failed runs for answers,
        // and may have thrown another error.
        if (!loop_.is_asked_to_end())
            throw;
    }
    loop_.open(pads_.size());
}

void ModelFilter::open_model()
{
    opener_.open(request_of(settings_.model));
    for (const char *option : {"precision", "optimize"})
        engine_values_[option] =
            opener_.task().model()->metadata(concat(option, "_values").c_str());
    for (const ModelPart &part : opener_.task().model()->parts())
        files_->add_model_part(path_beside(request_of(settings_.model).path, part.name));
    pads_ = opener_.task().extra_pads();
    change_.watch_parts(*opener_.task().model());
    log_.report_notice(*opener_.task().model());
    warn_of_calibration();
}

void ModelFilter::warn_of_calibration()
{
    const Calibration &calibration = opener_.task().calibration();
    if ((calibration.is_of_stream || !calibration.clip.empty()) &&
        !opener_.task().model()->is_in_int8())
        log_.warn(
            "calibration is for precision=int8 alone, and without effect until a command sets "
            "that");
}

std::optional<AnyError> ModelFilter::leave()
{
    std::optional<AnyError> failure = loop_.leave();
    files_.reset();
    return failure;
}

void ModelFilter::configure(AVFilterLink *in, AVFilterLink *out)
{
    if (files_)
        files_->check_graph();
    FrameShape shape = {.format = static_cast<AVPixelFormat>(in->format),
                        .size = {in->w, in->h},
                        .time_base = in->time_base,
                        .frame_rate = loop_.frame_rate(in),
                        .result_format = static_cast<AVPixelFormat>(out->format),
                        .extra = loop_.configure_extra_inputs()};
    const ResultShape output = output_for(shape);
    log_.report_shape(shape, output.size);
    loop_.expect(shape);
    out->w = output.size.width;
    out->h = output.size.height;
    out->time_base = output.time_base;
    out->sample_aspect_ratio =
        sample_aspect_after(in->sample_aspect_ratio, shape.size, output.size);
    // Otherwise libavfilter copies it from the input.
    if (output.frame_rate.num != shape.frame_rate.num ||
        output.frame_rate.den != shape.frame_rate.den)
        loop_.set_frame_rate(out, output.frame_rate);
}

// After a signal no frame goes out, so any size will do.
ResultShape ModelFilter::output_for(const FrameShape &input)
try {
    return task().output_for(input);
} catch (const AnyError &) {
    if (!loop_.is_asked_to_end())
        throw;
    return like_frames(input);
}

Task &ModelFilter::task() const
{
    if (!has_model())
        throw Error(AVERROR_EXIT, "the model was not opened: the program was asked to end");
    return opener_.task();
}

// The engine would say the same, but only after opening the model.
void ModelFilter::change(const std::string &name, const std::string &value)
{
    const auto found = engine_values_.find(name);
    const std::string takes = found == engine_values_.end() ? "" : found->second;
    if (!value.empty() && !takes.empty() && !is_in_list(value, takes))
        throw Error(AVERROR(EINVAL), concat(name, "=", printable(value.substr(0, 40)),
                                            " is unknown; choose among ", takes));
    change_.request(name, value);
}

void ModelFilter::set_strength(const std::string &value)
{
    float strength = 0;
    const char *const end = value.data() + value.size();
    const auto parsed = std::from_chars(value.data(), end, strength);
    if (parsed.ec != std::errc() || parsed.ptr != end || !(strength >= 0 && strength <= 1))
        throw Error(AVERROR(EINVAL), "strength takes a number from 0 to 1, not '" + value + "'");
    loop_.set_strength(strength);
}

int ModelFilter::activate()
{
    if (loop_.is_running())
        check_for_change();
    return loop_.take_turn();
}

// Runs only once frames pass: two models measured at the same time would disturb each other.
void ModelFilter::check_for_change()
{
    try {
        if (std::optional<NextModel> next = change_.take(loop_.input())) {
            log_.report_change(next->request.path, next->changes);
            loop_.switch_to(std::move(next->work));
        }
        if (change_.is_due())
            change_.begin(preparation());
    } catch (const AnyError &error) {
        log_.report_error(error.what());
    }
}

PrepareModel ModelFilter::preparation()
{
    return [setup = opener_.setup(), input = loop_.input(), first = loop_.first(),
            output = loop_.output()](const ModelRequest &request) {
        return setup.replace(request, input, {first.get(), first ? 1U : 0U}, output);
    };
}

std::optional<std::string> ModelFilter::answer(const std::string &command) const
{
    return log_.answer(command, loop_.state(), loop_.in_flight());
}

} // namespace dnn_torch
