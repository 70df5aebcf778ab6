// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The filter dnn_torch_detect: says of each frame what is in it, and where.
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

// What an instance has beside its options.
struct DetectInstance {
    std::shared_ptr<TermsInTime<DetectTerms>> terms;
};

// AVFilterContext.priv.
struct PrivateData {
    FindingsData findings;
    DetectorSettings detector;
    DetectInstance *instance; // made by init, deleted by uninit
};

PrivateData &private_data(AVFilterContext *ctx)
{
    return *static_cast<PrivateData *>(ctx->priv);
}

const FilterTable &table();

// The first is the model, as dnn_detect has it.
const OptionTable option_table =
    compose({findings_model_options(), detector_options(offsetof(PrivateData, detector)),
             findings_results_options()},
            {"model", "confidence", "labels", "device", "async", "nireq", "batch_size", "workers",
             "threads", "precision", "optimize", "tune", "input", "output"});

const AVClass filter_class = make_class("dnn_torch_detect", option_table);

TaskMaker task_maker(const DetectShared &shared)
{
    return {
        .make =
            [shared](std::shared_ptr<Model> model, const Contract &contract, size_t batch_size) {
                return std::make_unique<DetectTask>(std::move(model), contract, batch_size, shared);
            },
        .takes_tensors = true};
}

int init(AVFilterContext *ctx) noexcept
{
    return guarded(ctx, [&] {
        PrivateData &data = private_data(ctx);
        if (int ret = prepare_findings(ctx); ret < 0)
            return ret;
        const DetectShared shared = {
            .settings = request_of(data.detector),
            .terms = std::make_shared<TermsInTime<DetectTerms>>(terms_of(data.detector)),
            .step = open_step(ctx)};
        data.instance = new DetectInstance{.terms = shared.terms};
        return open_filter(ctx, task_maker(shared), table());
    });
}

void uninit(AVFilterContext *ctx) noexcept
{
    close_filter(ctx);
    PrivateData &data = private_data(ctx);
    delete data.instance;
    data.instance = nullptr;
}

void follow_options(AVFilterContext *ctx)
{
    PrivateData &data = private_data(ctx);
    const DetectTerms terms = terms_of(data.detector);
    static_cast<DetectTask &>(common_data(ctx).filter->task()).check(terms);
    data.instance->terms->set(terms);
}

// Handles our commands; libavfilter itself knows more.
int process_command(AVFilterContext *ctx, const char *command, const char *value, char *result,
                    int result_size, int) noexcept
{
    return guarded(ctx, [&] {
        if (is_term(ctx, command, offsetof(PrivateData, detector), sizeof(DetectorSettings)))
            return change_term(ctx, command, value, [ctx] { follow_options(ctx); });
        return answer_command(ctx, command, value, result, result_size);
    });
}

const FilterTable &table()
{
    static const FilterTable made({
        .name = "dnn_torch_detect",
        .description = "Find things in each frame with a PyTorch model.",
        .options = &filter_class,
        .private_size = sizeof(PrivateData),
        .formats = formats_to_feed(3),
        .narrower = {formats_to_feed(1), formats_to_feed(4), formats_to_feed_with_alpha(1),
                     formats_to_feed_with_alpha(3)},
        .init = init,
        .uninit = uninit,
        .process_command = process_command,
    });
    return made;
}

} // namespace

const AVFilter *dnn_torch_detect_filter()
{
    return table().offered();
}

} // namespace dnn_torch
