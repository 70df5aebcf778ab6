// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "filter_table.h"

#include "base/compose.h"
#include "host/error.h"
#include "host/guard.h"
#include "host/libavfilter/extra_pads.h"
#include "host/libavfilter/format_lists.h"
#include "host/workers/core_budget.h"

extern "C" {
#include <libavutil/avstring.h>
}

#include <cstring>
#include <string>
#include <utility>

namespace dnn_torch
{
namespace
{

// libavfilter asks a filter that returns EAGAIN again in its next round, as long as each round
// brings progress.  The first round does: sources give their formats.  So does each round with
// another of our filters upstream: each waits only for those before it, so the first one answers.
bool should_wait(const AVFilterContext *ctx, const ComingFormat &coming, unsigned round)
{
    return round == 0 || (coming.is_pending && round <= ctx->graph->nb_filters);
}

// For the AVFilter whose links have different lists.
int query_formats(AVFilterContext *ctx) noexcept
{
    return guarded(ctx, [&] {
        CommonData &data = common_data(ctx);
        const ModelFilter &filter = *data.filter;
        std::vector<const AVPixelFormat *> in = {filter.formats()};
        for (const ExtraPad &pad : filter.extra_pads())
            in.push_back(pad.formats);
        const AVPixelFormat *const out =
            filter.result_formats() ? filter.result_formats() : filter.formats();
        const ComingFormat coming = format_to_come(ctx->inputs[0], in[0]);
        if (should_wait(ctx, coming, data.format_rounds++))
            return AVERROR(EAGAIN);
        if (!coming.format)
            return set_link_formats(ctx, in, out);
        const AVPixelFormat taken[] = {*coming.format, AV_PIX_FMT_NONE};
        std::vector<AVPixelFormat> results = filter.task().results_of(*coming.format);
        results.push_back(AV_PIX_FMT_NONE);
        in[0] = taken;
        return set_link_formats(ctx, in, results.data());
    });
}

int config_output(AVFilterLink *out) noexcept
{
    return guarded(out->src, [&] {
        common_data(out->src).filter->configure(out->src->inputs[0], out);
        return 0;
    });
}

int activate(AVFilterContext *ctx) noexcept
{
    return guarded(ctx, [&] { return common_data(ctx).filter->activate(); });
}

lavfi_abi::Pad make_pad(int (*config_props)(AVFilterLink *))
{
    lavfi_abi::Pad pad{};
    pad.name = "default";
    pad.type = AVMEDIA_TYPE_VIDEO;
    pad.config_props = config_props;
    return pad;
}

// If `formats` is null, libavfilter asks query_formats() for them.
lavfi_abi::Filter make_filter(const FilterFace &face, const AVPixelFormat *formats)
{
    static const lavfi_abi::Pad inputs[] = {make_pad(nullptr)};
    static const lavfi_abi::Pad outputs[] = {make_pad(config_output)};

    lavfi_abi::Filter filter{};
    AVFilter &visible = lavfi_abi::public_part(filter);
    visible.name = face.name;
    visible.description = face.description;
    visible.inputs = lavfi_abi::as_pads(inputs);
    visible.outputs = lavfi_abi::as_pads(outputs);
    visible.priv_class = face.options;
    visible.flags = lavfi_abi::flag_timeline_internal;
    filter.nb_inputs = filter.nb_outputs = 1;
    if (formats) {
        filter.formats_state = lavfi_abi::formats_pixel_list(avfilter_version());
        filter.formats.pixels_list = formats;
    } else {
        filter.formats_state = lavfi_abi::formats_query_function;
        filter.formats.query_func = query_formats;
    }
    filter.priv_size = static_cast<int>(face.private_size);
    filter.init = face.init;
    filter.uninit = face.uninit;
    filter.process_command = face.process_command;
    filter.activate = activate;
    return filter;
}

// libavfilter has an option `threads` of its own for all filters, and sets that one first.
void resolve_threads(const AVFilterContext *ctx, int &threads)
{
    if (!threads)
        threads = ctx->nb_threads;
    if (threads > static_cast<int>(most_threads))
        throw Error(AVERROR(EINVAL), concat("threads=", threads, " is too many; at most ",
                                            most_threads, " can be asked for"));
}

} // namespace

CommonData &common_data(AVFilterContext *ctx)
{
    return *static_cast<CommonData *>(ctx->priv);
}

AVClass make_class(const char *name, const OptionTable &options)
{
    AVClass made{};
    made.class_name = name;
    made.item_name = av_default_item_name;
    made.option = options.data();
    made.version = LIBAVUTIL_VERSION_INT;
    made.category = AV_CLASS_CATEGORY_FILTER;
    return made;
}

FilterTable::FilterTable(const FilterFace &face)
    : offered_(make_filter(face, face.formats)), asking_(make_filter(face, nullptr))
{
    for (const AVPixelFormat *formats : face.narrower)
        listing_.push_back(make_filter(face, formats));
}

const AVFilter *FilterTable::fitting(const ModelFilter &instance) const
{
    if (!instance.has_model())
        return offered();
    if (instance.formats() != instance.result_formats() || !instance.extra_pads().empty())
        return &lavfi_abi::public_part(asking_);
    for (const lavfi_abi::Filter &with : listing_)
        if (with.formats.pixels_list == instance.formats())
            return &lavfi_abi::public_part(with);
    return offered();
}

int open_filter(AVFilterContext *ctx, TaskMaker task, const FilterTable &table)
{
    CommonData &data = common_data(ctx);
    if (int ret = apply_backend_configs(&data, data.backend); ret < 0)
        return ret;
    resolve_threads(ctx, data.settings.run.threads);
    const DeadlineSettings deadline = deadline_of(data.settings.run);
    const std::optional<AnyError> earlier = flush_parked_graphs(); // before files are opened again
    data.filter = new ModelFilter(ctx, data.settings, deadline, std::move(task));
    data.filter->open();
    if (earlier)
        data.filter->inherit(*earlier);
    ctx->filter = table.fitting(*data.filter);
    for (const ExtraPad &pad : data.filter->extra_pads())
        if (int ret = append_input_pad(ctx, pad.name); ret < 0)
            return ret;
    return 0;
}

void close_filter(AVFilterContext *ctx) noexcept
{
    CommonData &data = common_data(ctx);
    delete data.filter;
    data.filter = nullptr;
}

const ParkedFilter &parked_filter()
{
    static constexpr ParkedFilter functions = {
        .holds_frames =
            [](AVFilterContext *ctx) {
                const ModelFilter *const filter = common_data(ctx).filter;
                return filter && filter->holds_frames();
            },
        .flush =
            [](AVFilterContext *ctx) {
                ModelFilter *const filter = common_data(ctx).filter;
                return filter && filter->hand_out_all();
            },
        .release = [](AVFilterContext *ctx) -> std::optional<AnyError> {
            ModelFilter *const filter = common_data(ctx).filter;
            return filter ? filter->leave() : std::nullopt;
        },
    };
    return functions;
}

bool is_changeable(const AVFilterContext *ctx, const char *option)
{
    const AVOption *found = av_opt_find(ctx->priv, option, nullptr, 0, 0);
    return found && (found->flags & AV_OPT_FLAG_RUNTIME_PARAM) != 0;
}

int answer_command(AVFilterContext *ctx, const char *command, const char *value, char *result,
                   int result_size)
{
    ModelFilter &filter = *common_data(ctx).filter;
    if (ModelChange::is_command(command) && is_changeable(ctx, command)) {
        filter.change(command, text_or_empty(value));
        return 0;
    }
    if (strcmp(command, "reset") == 0) {
        filter.start_anew();
        return 0;
    }
    std::optional<std::string> answer = filter.answer(command);
    if (!answer)
        return AVERROR(ENOSYS);
    if (result_size <= 0 || !result)
        return 0;
    size_t written = av_strlcpy(result, answer->c_str(), static_cast<size_t>(result_size));
    return written < static_cast<size_t>(result_size) ? 0 : AVERROR(ENOSPC);
}

} // namespace dnn_torch
