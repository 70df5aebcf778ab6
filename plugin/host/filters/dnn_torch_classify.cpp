// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The filter dnn_torch_classify: classifies each frame, or the boxes in it.
#include "base/compose.h"
#include "filters.h"
#include "findings_filter.h"
#include "fit_options.h"
#include "host/error.h"
#include "host/frames/formats.h"
#include "host/guard.h"
#include "host/tasks/classify_parameters.h"
#include "host/tasks/classify_task.h"
#include "option_kinds.h"
#include "options.h"

#include <cstddef>
#include <string>
#include <utility>

extern "C" {
#include <libavutil/detection_bbox.h>
#include <libavutil/error.h>
}

namespace dnn_torch
{
namespace
{

// A group like those in options.h.
struct ClassifierSettings {
    char *target, *size;
    float confidence;
    int top, scores, on, fit, crops;
};

// The options of what is reported.
OptionTable output_options(size_t offset)
{
    auto field = [offset](size_t of_field) { return offset + of_field; };
    return {
        changeable(int_option("top", "how many classes a frame or box gets, the likeliest first",
                              field(offsetof(ClassifierSettings, top)), 1, 1,
                              AV_NUM_DETECTION_BBOX_CLASSIFY)),
        changeable(float_option("confidence", "classes with less are dropped",
                                field(offsetof(ClassifierSettings, confidence)), 0, 0, 1)),
        with_unit(int_option("scores", "what the model's scores are",
                             field(offsetof(ClassifierSettings, scores)),
                             static_cast<int>(ScoreKind::automatic),
                             static_cast<int>(ScoreKind::automatic),
                             static_cast<int>(ScoreKind::plain)),
                  "scores"),
        named_value("auto", "plain if they add up to 1, else softmax", ScoreKind::automatic,
                    "scores"),
        named_value("softmax", "logits, of which one is right", ScoreKind::softmax, "scores"),
        named_value("sigmoid", "logits, each of which is right or not", ScoreKind::sigmoid,
                    "scores"),
        named_value("plain", "confidences from 0 to 1", ScoreKind::plain, "scores"),
    };
}

// The options of what the model sees.
OptionTable input_options(size_t offset)
{
    auto field = [offset](size_t of_field) { return offset + of_field; };
    return {
        changeable(text_option("target",
                               "labels of the boxes that are classified: a|b (all, if not given)",
                               field(offsetof(ClassifierSettings, target)), nullptr)),
        with_unit(int_option("on", "what is classified", field(offsetof(ClassifierSettings, on)),
                             static_cast<int>(ClassifyWhat::automatic),
                             static_cast<int>(ClassifyWhat::automatic),
                             static_cast<int>(ClassifyWhat::boxes)),
                  "classify_on"),
        named_value("auto",
                    "boxes after a filter that looks for boxes, or with target; else the frame",
                    ClassifyWhat::automatic, "classify_on"),
        named_value("frame", "the frame as a whole", ClassifyWhat::frame, "classify_on"),
        named_value("boxes", "the boxes in a frame, and no frame without any", ClassifyWhat::boxes,
                    "classify_on"),
        text_option("size", "size of the model's picture: WxH or N",
                    field(offsetof(ClassifierSettings, size)), nullptr),
        int_option("crops", "boxes in one run of the model, at most",
                   field(offsetof(ClassifierSettings, crops)), 8, 1, 1000),
    };
}

OptionTable classifier_options(size_t offset)
{
    OptionTable all = output_options(offset);
    const OptionTable fit =
        fit_options({.help = "how frames and boxes are fitted into the model's picture",
                     .automatic = "frames as crop, boxes as stretch",
                     .letterbox = "whole, in the middle of a black border",
                     .unit = "classify_fit"},
                    offset + offsetof(ClassifierSettings, fit));
    for (const OptionTable &group : {input_options(offset), fit})
        all.insert(all.end(), group.begin(), group.end());
    return all;
}

// Returns the settings that may change while frames pass.  Throws Error if the options contradict
// each other.
ClassifyParameters parameters_of(const ClassifierSettings &settings)
{
    ClassifyParameters parameters = {.top = static_cast<size_t>(settings.top),
                                     .confidence = settings.confidence,
                                     .targets = parts_of(text_or_empty(settings.target))};
    if (static_cast<ClassifyWhat>(settings.on) == ClassifyWhat::frame &&
        !parameters.targets.empty())
        throw Error(AVERROR(EINVAL), "target names boxes, and on=frame looks at none; give one of "
                                     "them");
    return parameters;
}

// Returns the settings that are fixed.  Throws Error.
ClassifySettings request_of(const ClassifierSettings &settings)
{
    ClassifySettings request = {.scores = static_cast<ScoreKind>(settings.scores),
                                .what = static_cast<ClassifyWhat>(settings.on),
                                .placing = placing_of(settings.fit),
                                .crops = static_cast<size_t>(settings.crops)};
    if (const std::string size = text_or_empty(settings.size); !size.empty())
        request.size = picture_size_of(size, "");
    return request;
}

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
