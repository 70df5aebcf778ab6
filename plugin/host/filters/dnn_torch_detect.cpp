// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The filter dnn_torch_detect: finds what is in each frame, and where.
#include "base/compose.h"
#include "detect_options.h"
#include "filters.h"
#include "findings_filter.h"
#include "host/frames/formats.h"
#include "host/guard.h"
#include "host/tasks/detect_task.h"

namespace dnn_torch
{
namespace
{

// What an instance has in addition to its options.
struct DetectInstance {
    std::shared_ptr<TimedParameters<DetectParameters>> parameters;
};

// AVFilterContext.priv.
struct DetectData {
    FindingsData findings;
    DetectorSettings detector;
    DetectInstance *instance; // created by init_detect(), deleted by uninit_detect()
};

DetectData &detect_data(AVFilterContext *ctx)
{
    return *static_cast<DetectData *>(ctx->priv);
}

const FilterTable &detect_table();

// The model comes first, as in dnn_detect.
const OptionTable detect_options =
    compose({findings_model_options(), detector_options(offsetof(DetectData, detector)),
             findings_results_options()},
            {"model", "confidence", "labels", "device", "async", "nireq", "batch_size", "workers",
             "threads", "precision", "optimize", "tune", "input", "output"});

const AVClass detect_class = make_class("dnn_torch_detect", detect_options);

TaskMaker task_maker(const DetectShared &shared)
{
    return {
        .make =
            [shared](std::shared_ptr<Model> model, const Contract &contract, size_t batch_size) {
                return std::make_unique<DetectTask>(std::move(model), contract, batch_size, shared);
            },
        .takes_tensors = true};
}

int init_detect(AVFilterContext *ctx) noexcept
{
    return guarded(ctx, [&] {
        DetectData &data = detect_data(ctx);
        if (int ret = prepare_findings(ctx); ret < 0)
            return ret;
        const DetectShared shared = {
            .settings = request_of(data.detector),
            .parameters =
                std::make_shared<TimedParameters<DetectParameters>>(parameters_of(data.detector)),
            .step = open_step(ctx)};
        data.instance = new DetectInstance{.parameters = shared.parameters};
        return open_filter(ctx, task_maker(shared), detect_table());
    });
}

void uninit_detect(AVFilterContext *ctx) noexcept
{
    close_filter(ctx);
    DetectData &data = detect_data(ctx);
    delete data.instance;
    data.instance = nullptr;
}

void follow_options(AVFilterContext *ctx)
{
    DetectData &data = detect_data(ctx);
    const DetectParameters parameters = parameters_of(data.detector);
    static_cast<DetectTask &>(common_data(ctx).filter->task()).check(parameters);
    data.instance->parameters->set(parameters);
}

// Handles our commands; libavfilter itself handles others.
int process_detect_command(AVFilterContext *ctx, const char *command, const char *value,
                           char *result, int result_size, int) noexcept
{
    return guarded(ctx, [&] {
        if (is_parameter(ctx, command, offsetof(DetectData, detector), sizeof(DetectorSettings)))
            return change_parameter(ctx, command, value, [ctx] { follow_options(ctx); });
        return answer_command(ctx, command, value, result, result_size);
    });
}

const FilterTable &detect_table()
{
    static const FilterTable made({
        .name = "dnn_torch_detect",
        .description = "Find things in each frame with a PyTorch model.",
        .options = &detect_class,
        .private_size = sizeof(DetectData),
        .formats = formats_to_feed(3),
        .narrower = {formats_to_feed(1), formats_to_feed(4), formats_to_feed_with_alpha(1),
                     formats_to_feed_with_alpha(3)},
        .init = init_detect,
        .uninit = uninit_detect,
        .process_command = process_detect_command,
    });
    return made;
}

} // namespace

const AVFilter *dnn_torch_detect_filter()
{
    return detect_table().offered();
}

} // namespace dnn_torch
