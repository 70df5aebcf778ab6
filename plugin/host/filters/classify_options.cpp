// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "classify_options.h"

#include "base/compose.h"
#include "fit_options.h"
#include "host/error.h"
#include "option_kinds.h"

extern "C" {
#include <libavutil/detection_bbox.h>
#include <libavutil/error.h>
}

#include <string>

namespace dnn_torch
{
namespace
{

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

} // namespace

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

} // namespace dnn_torch
