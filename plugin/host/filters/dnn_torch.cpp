// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// dnn_torch as libavfilter sees it: a table of callbacks over a ModelFilter.
#include "base/compose.h"
#include "filters.h"
#include "host/frames/formats.h"
#include "host/guard.h"
#include "host/inference/core_budget.h"
#include "host/libavfilter/format_lists.h"
#include "host/libavfilter/further_pads.h"
#include "host/tasks/class_map_task.h"
#include "host/tasks/picture_task.h"
#include "model_filter.h"
#include "options.h"

#include <lavfi_abi.h>

extern "C" {
#include <libavutil/avstring.h>
}

#include <cstring>
#include <vector>

namespace dnn_torch
{
namespace
{

// AVFilterContext.priv.
struct PrivateData {
    const AVClass *av_class;
    FilterSettings settings;
    BackendSettings backend;
    ModelFilter *filter; // made by init, deleted by uninit
};

PrivateData &private_data(AVFilterContext *ctx)
{
    return *static_cast<PrivateData *>(ctx->priv);
}

const AVFilter *variant(const ModelFilter &filter);

std::unique_ptr<Task> make_task(std::shared_ptr<Model> model, const Contract &contract,
                                size_t batch_size)
{
    if (makes_class_maps(contract))
        return std::make_unique<ClassMapTask>(std::move(model), contract, batch_size);
    return std::make_unique<PictureTask>(std::move(model), contract, batch_size);
}

// Formats are a property of the AVFilter, not of its instance.  So an instance becomes one
// of the AVFilter whose formats its model takes.
int init(AVFilterContext *ctx) noexcept
{
    return guarded(ctx, [&] {
        PrivateData &data = private_data(ctx);
        if (int ret = apply_backend_configs(&data, data.backend); ret < 0)
            return ret;
        // libavfilter has an option of this name for all filters, and sets that one first.
        int &threads = data.settings.run.threads;
        if (!threads)
            threads = ctx->nb_threads;
        if (threads > static_cast<int>(most_threads))
            throw Error(AVERROR(EINVAL), "threads=" + std::to_string(threads) +
                                             " is too many; at most " +
                                             std::to_string(most_threads) + " can be asked for");
        data.filter = new ModelFilter(ctx, data.settings, {.make = make_task});
        data.filter->open();
        ctx->filter = variant(*data.filter);
        for (const FurtherPad &pad : data.filter->further_pads())
            if (int ret = append_input_pad(ctx, pad.name); ret < 0)
                return ret;
        return 0;
    });
}

void uninit(AVFilterContext *ctx) noexcept
{
    PrivateData &data = private_data(ctx);
    delete data.filter;
    data.filter = nullptr;
}

// Of the variant whose links have several lists.
int query_formats(AVFilterContext *ctx) noexcept
{
    return guarded(ctx, [&] {
        const ModelFilter &filter = *private_data(ctx).filter;
        std::vector<const AVPixelFormat *> in = {filter.formats()};
        for (const FurtherPad &pad : filter.further_pads())
            in.push_back(pad.formats);
        return set_link_formats(ctx, in, filter.result_formats());
    });
}

int config_output(AVFilterLink *out) noexcept
{
    return guarded(out->src, [&] {
        private_data(out->src).filter->configure(out->src->inputs[0], out);
        return 0;
    });
}

int activate(AVFilterContext *ctx) noexcept
{
    return guarded(ctx, [&] { return private_data(ctx).filter->activate(); });
}

// Handles our commands; libavfilter itself knows more.
int process_command(AVFilterContext *ctx, const char *command, const char *value, char *result,
                    int result_size, int) noexcept
{
    return guarded(ctx, [&] {
        ModelFilter &filter = *private_data(ctx).filter;
        if (ModelChange::is_command(command)) {
            filter.change(command, text_or_empty(value));
            return 0;
        }
        if (!strcmp(command, "strength")) {
            filter.set_strength(text_or_empty(value));
            return 0;
        }
        std::optional<std::string> answer = filter.answer(command);
        if (!answer)
            return AVERROR(ENOSYS);
        if (result_size <= 0 || !result)
            return 0;
        size_t written = av_strlcpy(result, answer->c_str(), static_cast<size_t>(result_size));
        return written < static_cast<size_t>(result_size) ? 0 : AVERROR(ENOSPC);
    });
}

// The first option may be given without its name, so it is the one that users give most.
const OptionTable option_table = compose(
    {model_options(offsetof(PrivateData, settings.model)),
     contract_options(offsetof(PrivateData, settings.contract)),
     size_options(offsetof(PrivateData, settings.sizes)),
     run_options(offsetof(PrivateData, settings.run)),
     backend_options(offsetof(PrivateData, backend))},
    {"model",     "device",   "async",       "nireq", "batch_size",      "workers", "threads",
     "precision", "optimize", "tune",        "input", "output",          "allow",   "timeout",
     "stats",     "engine",   "dnn_backend", "torch", "backend_configs", "options"});

AVClass make_class()
{
    AVClass made{};
    made.class_name = "dnn_torch";
    made.item_name = av_default_item_name;
    made.option = option_table.data();
    made.version = LIBAVUTIL_VERSION_INT;
    made.category = AV_CLASS_CATEGORY_FILTER;
    return made;
}

const AVClass filter_class = make_class();

lavfi_abi::Pad make_pad(int (*config_props)(AVFilterLink *))
{
    lavfi_abi::Pad pad{};
    pad.name = "default";
    pad.type = AVMEDIA_TYPE_VIDEO;
    pad.config_props = config_props;
    return pad;
}

// If `formats` is null, libavfilter asks query_formats() for them.
lavfi_abi::Filter make_filter(const AVPixelFormat *formats)
{
    static const lavfi_abi::Pad inputs[] = {make_pad(nullptr)};
    static const lavfi_abi::Pad outputs[] = {make_pad(config_output)};

    lavfi_abi::Filter filter{};
    AVFilter &visible = lavfi_abi::public_part(filter);
    visible.name = "dnn_torch";
    visible.description = "Run a PyTorch model on each frame.";
    visible.inputs = lavfi_abi::as_pads(inputs);
    visible.outputs = lavfi_abi::as_pads(outputs);
    visible.priv_class = &filter_class;
    visible.flags = lavfi_abi::flag_timeline_internal;
    filter.nb_inputs = filter.nb_outputs = 1;
    if (formats) {
        filter.formats_state = lavfi_abi::formats_pixel_list;
        filter.formats.pixels_list = formats;
    } else {
        filter.formats_state = lavfi_abi::formats_query_function;
        filter.formats.query_func = query_formats;
    }
    filter.priv_size = sizeof(PrivateData);
    filter.init = init;
    filter.uninit = uninit;
    filter.process_command = process_command;
    filter.activate = activate;
    return filter;
}

// Returns the AVFilter with the formats of that filter.  A list tells libavfilter as well that each
// frame keeps its format.
const AVFilter *variant(const ModelFilter &filter)
{
    static const lavfi_abi::Filter asking = make_filter(nullptr);
    static const lavfi_abi::Filter listing[] = {
        make_filter(formats_for_rgb_models()), make_filter(formats_for_luma_models()),
        make_filter(grey_formats()),           make_filter(rgb_formats_with_alpha()),
        make_filter(formats_with_alpha(3)),    make_filter(formats_with_alpha(1)),
    };
    if (filter.formats() != filter.result_formats() || !filter.further_pads().empty())
        return &lavfi_abi::public_part(asking);
    for (const lavfi_abi::Filter &with : listing)
        if (with.formats.pixels_list == filter.formats())
            return &lavfi_abi::public_part(with);
    return dnn_torch_filter();
}

} // namespace

const AVFilter *dnn_torch_filter()
{
    static const lavfi_abi::Filter any = make_filter(formats_for_any_model());
    return &lavfi_abi::public_part(any);
}

} // namespace dnn_torch
