// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The filter dnn_torch: turns each frame into a picture.
#include "base/compose.h"
#include "filter_table.h"
#include "filters.h"
#include "host/error.h"
#include "host/frames/formats.h"
#include "host/guard.h"
#include "host/probing/interpolator.h"
#include "host/tasks/class_map_task.h"
#include "host/tasks/picture_task.h"

extern "C" {
#include <libavutil/error.h>
}

#include <cstring>

namespace dnn_torch
{
namespace
{

const FilterTable &picture_table();

std::unique_ptr<Task> make_task(std::shared_ptr<Model> model, const Contract &contract,
                                size_t batch_size)
{
    if (makes_class_maps(contract))
        return std::make_unique<ClassMapTask>(std::move(model), contract, batch_size);
    if (const auto labels = contract.origins.find("labels");
        labels != contract.origins.end() && labels->second == "option")
        throw Error(AVERROR(EINVAL), "labels names the classes of a segmentation; give as=index, "
                                     "as=colors or classes=NAMES, too");
    if (contract.model.task == "interpolate" || takes_time(contract))
        throw Error(AVERROR(EINVAL), "the model makes frames between others; use "
                                     "dnn_torch_interpolate");
    return std::make_unique<PictureTask>(std::move(model), contract, batch_size);
}

int init_picture(AVFilterContext *ctx) noexcept
{
    return guarded(ctx, [&] { return open_filter(ctx, {.make = make_task}, picture_table()); });
}

// Handles our commands; libavfilter itself handles others.
int process_picture_command(AVFilterContext *ctx, const char *command, const char *value,
                            char *result, int result_size, int) noexcept
{
    return guarded(ctx, [&] {
        if (strcmp(command, "strength") != 0)
            return answer_command(ctx, command, value, result, result_size);
        common_data(ctx).filter->set_strength(text_or_empty(value));
        return 0;
    });
}

// The first option may be given without its name, so it is the one that users give most.
const OptionTable dnn_torch_options = compose(
    {model_options(offsetof(CommonData, settings.model)),
     run_options(offsetof(CommonData, settings.run)),
     backend_options(offsetof(CommonData, backend))},
    {"model",     "device",   "async",       "nireq", "batch_size",      "workers", "threads",
     "precision", "optimize", "tune",        "input", "output",          "allow",   "timeout",
     "stats",     "engine",   "dnn_backend", "torch", "backend_configs", "options"});

const AVClass dnn_torch_class = make_class("dnn_torch", dnn_torch_options);

const FilterTable &picture_table()
{
    static const FilterTable made({
        .name = "dnn_torch",
        .description = "Run a PyTorch model on each frame.",
        .options = &dnn_torch_class,
        .private_size = sizeof(CommonData),
        .formats = formats_for_any_model(),
        .narrower = {formats_for_luma_models(), rgb_formats_with_alpha(), formats_with_alpha(3),
                     formats_with_alpha(1)},
        .init = init_picture,
        .uninit = close_filter,
        .process_command = process_picture_command,
    });
    return made;
}

} // namespace

const AVFilter *dnn_torch_filter()
{
    return picture_table().offered();
}

} // namespace dnn_torch
