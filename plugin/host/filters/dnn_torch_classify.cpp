// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The filter dnn_torch_classify: classifies each frame, or the boxes in it.
#include "classify_options.h"
#include "filters.h"
#include "findings_filter.h"
#include "host/frames/formats.h"
#include "host/guard.h"
#include "host/tasks/classify_task.h"

#include <utility>

namespace dnn_torch
{
namespace
{

// What an instance has in addition to its options.
struct ClassifyInstance {
    std::shared_ptr<TimedParameters<ClassifyParameters>> parameters;
};

// AVFilterContext.priv.
struct ClassifyData {
    FindingsData findings;
    ClassifierSettings classifier;
    ClassifyInstance *instance; // created by init_classify(), deleted by uninit_classify()
};

ClassifyData &classify_data(AVFilterContext *ctx)
{
    return *static_cast<ClassifyData *>(ctx->priv);
}

const FilterTable &classify_table();

// The boxes and their numbers do not change.
OptionTable results_of_boxes()
{
    return without(findings_results_options(), {"track", "off", "on", "label", "boxes", "add",
                                                "replace", "masks", "none", "overlay", "alpha"});
}

// The model comes first, as in dnn_classify.
const OptionTable classify_options = compose(
    {findings_model_options(), classifier_options(offsetof(ClassifyData, classifier)),
     results_of_boxes()},
    {"model", "confidence", "labels", "target", "top", "device", "async", "nireq", "batch_size",
     "workers", "threads", "precision", "optimize", "tune", "input", "output"});

const AVClass classify_class = make_class("dnn_torch_classify", classify_options);

TaskMaker task_maker(const ClassifyShared &shared)
{
    return {
        .make =
            [shared](std::shared_ptr<Model> model, const Contract &contract, size_t batch_size) {
                return std::make_unique<ClassifyTask>(std::move(model), contract, batch_size,
                                                      shared);
            },
        .takes_tensors = true};
}

int init_classify(AVFilterContext *ctx) noexcept
{
    return guarded(ctx, [&] {
        ClassifyData &data = classify_data(ctx);
        if (int ret = prepare_findings(ctx); ret < 0)
            return ret;
        data.findings.results.boxes = static_cast<int>(EarlierBoxes::refined);
        const ClassifyShared shared = {.settings = request_of(data.classifier),
                                       .parameters =
                                           std::make_shared<TimedParameters<ClassifyParameters>>(
                                               parameters_of(data.classifier)),
                                       .step = open_step(ctx)};
        data.instance = new ClassifyInstance{.parameters = shared.parameters};
        return open_filter(ctx, task_maker(shared), classify_table());
    });
}

void uninit_classify(AVFilterContext *ctx) noexcept
{
    close_filter(ctx);
    ClassifyData &data = classify_data(ctx);
    delete data.instance;
    data.instance = nullptr;
}

// Handles our commands; libavfilter itself handles others.
int process_classify_command(AVFilterContext *ctx, const char *command, const char *value,
                             char *result, int result_size, int) noexcept
{
    return guarded(ctx, [&] {
        ClassifyData &data = classify_data(ctx);
        if (is_parameter(ctx, command, offsetof(ClassifyData, classifier),
                         sizeof(ClassifierSettings)))
            return change_parameter(ctx, command, value, [&] {
                data.instance->parameters->set(parameters_of(data.classifier));
            });
        return answer_command(ctx, command, value, result, result_size);
    });
}

const FilterTable &classify_table()
{
    static const FilterTable made({
        .name = "dnn_torch_classify",
        .description = "Say with a PyTorch model what each frame shows, or each box in it.",
        .options = &classify_class,
        .private_size = sizeof(ClassifyData),
        .formats = formats_to_feed(3),
        .narrower = {formats_to_feed(1), formats_to_feed(4)},
        .init = init_classify,
        .uninit = uninit_classify,
        .process_command = process_classify_command,
    });
    return made;
}

} // namespace

const AVFilter *dnn_torch_classify_filter()
{
    return classify_table().offered();
}

} // namespace dnn_torch
