// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The filter dnn_torch_detect: finds what is in each frame, and where.
#include "base/compose.h"
#include "base/terminal.h"
#include "filters.h"
#include "findings_filter.h"
#include "fit_options.h"
#include "host/error.h"
#include "host/frames/formats.h"
#include "host/guard.h"
#include "host/probing/detector_probe.h"
#include "host/tasks/detect_parameters.h"
#include "host/tasks/detect_task.h"
#include "option_kinds.h"
#include "options.h"

#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>

extern "C" {
#include <libavutil/error.h>
}

namespace dnn_torch
{
namespace
{

// A group like those in options.h.
struct DetectorSettings {
    char *decoder, *classes, *size, *anchors, *hide;
    float confidence, iou;
    int max_boxes, agnostic, fit, border;
    int model_type, cell_w, cell_h, nb_classes;
};

constexpr int most_boxes = 1000000, most_classes = 1000000;

// The values of dnn_detect's model_type.
enum class ModelType { automatic = -1, ssd, yolo, yolov3, yolov4 };

OptionTable parameter_options(size_t offset)
{
    auto field = [offset](size_t of_field) { return offset + of_field; };
    return {
        changeable(float_option("confidence", "detections with less are dropped",
                                field(offsetof(DetectorSettings, confidence)), 0.25, 0, 1)),
        changeable(float_option(
            "iou", "boxes that overlap a more confident one by more are dropped (1: none)",
            field(offsetof(DetectorSettings, iou)), 0.45, 0, 1)),
        changeable(int_option("max_boxes",
                              "how many boxes a frame gets at most, most confident first",
                              field(offsetof(DetectorSettings, max_boxes)), 300, 1, most_boxes)),
        changeable(text_option("classes", "what is kept: names or numbers, a|b (all, if not given)",
                               field(offsetof(DetectorSettings, classes)), nullptr)),
        changeable(bool_option("agnostic", "boxes of different classes suppress each other, too",
                               field(offsetof(DetectorSettings, agnostic)), false)),
    };
}

OptionTable picture_options(size_t offset)
{
    auto field = [offset](size_t of_field) { return offset + of_field; };
    return {
        text_option("decoder", "how the model's tensors become boxes (detected, if not given)",
                    field(offsetof(DetectorSettings, decoder)), nullptr),
        int_option("border", "how bright the border of letterboxed frames is, of 255",
                   field(offsetof(DetectorSettings, border)), 114, 0, 255),
        text_option("size", "size of the model's picture: WxH, N, or frame",
                    field(offsetof(DetectorSettings, size)), nullptr),
        text_option("hide", "classes that are hidden, a|b; so are frames that the model missed",
                    field(offsetof(DetectorSettings, hide)), nullptr),
    };
}

// For command lines of dnn_detect.
OptionTable model_type_options(size_t offset)
{
    auto field = [offset](size_t of_field) { return offset + of_field; };
    return {
        with_unit(int_option("model_type", "as in dnn_detect; decoder has more values",
                             field(offsetof(DetectorSettings, model_type)), -1, -1,
                             static_cast<int>(ModelType::yolov4)),
                  "model_type"),
        named_value("ssd", "decoder=ssd", ModelType::ssd, "model_type"),
        named_value("yolo", "decoder=yolov2", ModelType::yolo, "model_type"),
        named_value("yolov3", "decoder=yolov3", ModelType::yolov3, "model_type"),
        named_value("yolov4", "decoder=yolov4", ModelType::yolov4, "model_type"),
        int_option("cell_w", "cells in a row of YOLO's grid (0: as the tensors say)",
                   field(offsetof(DetectorSettings, cell_w)), 0, 0, largest_extent),
        int_option("cell_h", "cells in a column of YOLO's grid (0: as the tensors say)",
                   field(offsetof(DetectorSettings, cell_h)), 0, 0, largest_extent),
        int_option("nb_classes", "how many classes the model has (0: as the tensors say)",
                   field(offsetof(DetectorSettings, nb_classes)), 0, 0, most_classes),
        text_option("anchors", "YOLO's anchors: w1&h1&w2&h2...",
                    field(offsetof(DetectorSettings, anchors)), nullptr),
    };
}

std::vector<float> anchors_of(const std::string &text)
{
    std::vector<float> anchors;
    const auto add = [&](std::string_view part) {
        float number = 0;
        const char *const last = part.data() + part.size();
        const auto [end, fault] = std::from_chars(part.data(), last, number);
        if (fault != std::errc() || end != last || !(number > 0 && number < 1e6F))
            throw Error(AVERROR(EINVAL),
                        concat("anchors takes numbers above 0 (w1&h1&w2&h2...), not '",
                               printable(part.substr(0, 40)), "'"));
        anchors.push_back(number);
    };
    for (const std::string &part : parts_of(text, "&|,"))
        add(part);
    if (anchors.size() % 2 != 0)
        throw Error(AVERROR(EINVAL), concat("anchors takes a width and a height for each, not ",
                                            counted(anchors.size(), "number")));
    return anchors;
}

std::string decoder_of(const DetectorSettings &settings)
{
    if (settings.decoder && *settings.decoder)
        return settings.decoder;
    switch (static_cast<ModelType>(settings.model_type)) {
    case ModelType::ssd:
        return "ssd";
    case ModelType::yolo: // with anchors in units of cells
        return "yolov2";
    case ModelType::yolov3:
        return "yolov3";
    case ModelType::yolov4:
        return "yolov4";
    default:
        return "";
    }
}

OptionTable detector_options(size_t offset)
{
    OptionTable all = parameter_options(offset);
    const OptionTable fit = fit_options({.help = "how frames are fitted into the model's picture",
                                         .automatic = "as the model is known to need it",
                                         .letterbox = "whole, in the middle of a border",
                                         .unit = "detect_fit"},
                                        offset + offsetof(DetectorSettings, fit));
    for (const OptionTable &group : {fit, picture_options(offset), model_type_options(offset)})
        all.insert(all.end(), group.begin(), group.end());
    return all;
}

// Returns the settings that may change while frames pass.
DetectParameters parameters_of(const DetectorSettings &settings)
{
    return {.confidence = settings.confidence,
            .suppression = {.iou = settings.iou,
                            .agnostic = settings.agnostic != 0,
                            .max_boxes = settings.max_boxes},
            .classes = parts_of(text_or_empty(settings.classes))};
}

// Returns the settings that are fixed.  Throws Error.
DetectSettings request_of(const DetectorSettings &settings)
{
    DetectSettings request = {.decoder = decoder_of(settings),
                              .placing = placing_of(settings.fit),
                              .border = static_cast<float>(settings.border) / 255,
                              .classes = settings.nb_classes,
                              .anchors = anchors_of(text_or_empty(settings.anchors)),
                              .cells = {settings.cell_w, settings.cell_h},
                              .hidden = parts_of(text_or_empty(settings.hide))};
    if (const std::string size = text_or_empty(settings.size); size == "frame")
        request.own_size = true;
    else if (!size.empty())
        request.size = picture_size_of(size, ", or frame");
    if (request.own_size && request.placing)
        throw Error(AVERROR(EINVAL), "size=frame scales nothing, so that fit has no meaning; give "
                                     "one of them");
    return request;
}

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

void hide_what_is_missed(DetectData &data)
{
    data.findings.common.settings.run.hides = 1;
    if (data.findings.common.settings.run.every != 1)
        throw Error(AVERROR(EINVAL), "hide= hides what the model sees, and it would not see each "
                                     "frame; leave every at 1");
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
        if (!shared.settings.hidden.empty())
            hide_what_is_missed(data);
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
