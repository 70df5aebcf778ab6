// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The filter dnn_torch_interpolate: makes frames between frames, so that there are more or fewer
// of them in a second.
#include "base/compose.h"
#include "filter_table.h"
#include "filters.h"
#include "host/frames/formats.h"
#include "host/guard.h"
#include "host/tasks/interpolate_task.h"
#include "option_kinds.h"

namespace dnn_torch
{
namespace
{

// AVFilterContext.priv.
struct InterpolateData {
    CommonData common;
    char *fps, *factor, *anchor;
    int duplicates; // 1: they are bridged
};

const FilterTable &interpolate_table();

OptionTable rate_options()
{
    return {
        text_option("fps", "frames a second that go out: 60, 30000/1001 or source*2 (the default)",
                    offsetof(InterpolateData, fps), nullptr),
        text_option("factor", "the same as a multiple of those that come in: 2.5",
                    offsetof(InterpolateData, factor), nullptr),
        text_option("anchor",
                    "when the whole video's first frame is, in seconds, if this is a part of it",
                    offsetof(InterpolateData, anchor), nullptr),
        with_unit(int_option("duplicates", "what becomes of frames that repeat the one before",
                             offsetof(InterpolateData, duplicates), 0, 0, 1),
                  "duplicates"),
        named_value("keep", "they are frames like others", 0, "duplicates"),
        named_value("bridge", "they are dropped: one long step to the next picture", 1,
                    "duplicates"),
    };
}

// What comes out has the form of what goes in.
OptionTable interpolator_model_options()
{
    return without(
        model_options(offsetof(InterpolateData, common.settings.model)),
        {"border", "length", "time_overlap", "as", "depth", "classes", "labels", "scale", "size"});
}

const OptionTable interpolate_options = compose(
    {interpolator_model_options(), rate_options(),
     without(run_options(offsetof(InterpolateData, common.settings.run)),
             {"strength", "goal", "throughput", "latency", "deadline", "late", "auto", "pass",
              "last", "drop", "hide", "hide_with", "black", "blur", "every"}),
     backend_options(offsetof(InterpolateData, common.backend))},
    {"model", "fps", "factor", "duplicates", "anchor", "device", "async", "nireq", "batch_size",
     "workers", "threads", "precision", "optimize", "tune", "input", "output"});

const AVClass interpolate_class = make_class("dnn_torch_interpolate", interpolate_options);

TaskMaker task_maker(const WantedRate &wanted)
{
    return {.make =
                [wanted, clock = std::make_shared<OutputClock>()](
                    std::shared_ptr<Model> model, const Contract &contract, size_t batch_size) {
                    return std::make_unique<InterpolateTask>(std::move(model), contract, batch_size,
                                                             wanted, clock);
                },
            .interpolates = true};
}

int init_interpolate(AVFilterContext *ctx) noexcept
{
    return guarded(ctx, [&] {
        auto &data = *static_cast<InterpolateData *>(ctx->priv);
        data.common.settings.run.strength = 1;
        data.common.settings.run.late = static_cast<int>(Late::automatic);
        data.common.settings.run.every = 1;
        data.common.settings.run.hide_with = 0;
        data.common.settings.run.goal = 0;
        WantedRate wanted = wanted_rate(text_or_empty(data.fps), text_or_empty(data.factor));
        wanted.anchor = anchor_in(text_or_empty(data.anchor));
        wanted.bridges_duplicates = data.duplicates != 0;
        return open_filter(ctx, task_maker(wanted), interpolate_table());
    });
}

// Handles our commands; libavfilter itself handles others.
int process_interpolate_command(AVFilterContext *ctx, const char *command, const char *value,
                                char *result, int result_size, int) noexcept
{
    return guarded(ctx, [&] { return answer_command(ctx, command, value, result, result_size); });
}

const FilterTable &interpolate_table()
{
    static const FilterTable made({
        .name = "dnn_torch_interpolate",
        .description = "Make frames between frames with a PyTorch model.",
        .options = &interpolate_class,
        .private_size = sizeof(InterpolateData),
        .formats = formats_with_colours(),
        .init = init_interpolate,
        .uninit = close_filter,
        .process_command = process_interpolate_command,
    });
    return made;
}

} // namespace

const AVFilter *dnn_torch_interpolate_filter()
{
    return interpolate_table().offered();
}

} // namespace dnn_torch
