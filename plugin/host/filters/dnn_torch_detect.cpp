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
    std::shared_ptr<TermsInTime> terms;
    std::shared_ptr<FindingsStep> step;
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
        const DetectShared shared = {.settings = request_of(data.detector),
                                     .terms =
                                         std::make_shared<TermsInTime>(terms_of(data.detector)),
                                     .step = open_step(ctx)};
        data.instance = new DetectInstance{.terms = shared.terms, .step = shared.step};
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

// Changes one of our options.  If its value makes no sense, all stays as it was.
int change_terms(AVFilterContext *ctx, const char *option, const char *value)
{
    PrivateData &data = private_data(ctx);
    uint8_t *before = nullptr;
    if (int ret = av_opt_get(ctx->priv, option, 0, &before); ret < 0)
        return ret;
    const TextPointer old(reinterpret_cast<char *>(before));
    if (int ret = av_opt_set(ctx->priv, option, value, 0); ret < 0)
        return ret;
    try {
        const DetectTerms terms = terms_of(data.detector);
        static_cast<DetectTask &>(common_data(ctx).filter->task()).check(terms);
        data.instance->terms->set(terms);
    } catch (...) {
        av_opt_set(ctx->priv, option, old.get(), 0);
        throw;
    }
    return 0;
}

// Whether the option says what is kept of what the model finds.
bool is_term(AVFilterContext *ctx, const char *option)
{
    const AVOption *const found = av_opt_find(ctx->priv, option, nullptr, 0, 0);
    constexpr int first = offsetof(PrivateData, detector);
    constexpr int end = first + static_cast<int>(sizeof(DetectorSettings));
    return found && found->offset >= first && found->offset < end;
}

// Handles our commands; libavfilter itself knows more.
int process_command(AVFilterContext *ctx, const char *command, const char *value, char *result,
                    int result_size, int) noexcept
{
    return guarded(ctx, [&] {
        if (is_changeable(ctx, command) && is_term(ctx, command))
            return change_terms(ctx, command, value);
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
