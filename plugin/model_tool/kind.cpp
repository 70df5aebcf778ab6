// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kind.h"

#include "host/error.h"
#include "host/model/label_lists.h"
#include "host/probing/classifier_probe.h"
#include "host/probing/detector_probe.h"

#include <string>
#include <utility>

namespace dnn_torch
{
namespace
{

bool succeeds(const std::function<void()> &attempt)
try {
    attempt();
    return true;
} catch (const AnyError &) {
    return false;
}

} // namespace

Kind find_kind(const Contract &contract, const Attempts &attempts)
{
    const std::string &task = contract.model.task;
    if (task == "detect" || task == "pose" || task == "obb") {
        attempts.detector();
        return Kind::detector;
    }
    if (task == "classify") {
        attempts.classifier();
        return Kind::classifier;
    }
    try {
        attempts.picture();
        return Kind::picture;
    } catch (const Error &) {
        if (succeeds(attempts.detector))
            return Kind::detector;
        if (succeeds(attempts.classifier))
            return Kind::classifier;
        throw;
    }
}

ClassifierFacts try_classifier(const Backend &backend, const Request &request)
{
    const ModelWithContract subject = open_model(backend, request, "auto", "tensors");
    ClassifierProbe probe(subject.model, subject.contract, request.size);
    probe.examine();
    return {.takes = probe.in_words(),
            .classes = probe.scores().classes,
            .labels = labels_of(subject.contract.model, probe.scores().classes, false),
            .notice = subject.model->notice(),
            .command = classifier_command(request, filter_options(request, *subject.model))};
}

std::string classifier_command(const Request &request, FilterOptions options)
{
    if (request.size)
        options.emplace_back("size", to_text(*request.size));
    return command_line("dnn_torch_classify", request.path, std::move(options), ",metadata=print",
                        "-f null -");
}

DetectorFactsFound try_detector(const Backend &backend, const Request &request)
{
    constexpr Size typical_frame = {640, 480};
    const ModelWithContract subject = open_model(backend, request, "auto", "tensors");
    DetectSettings settings;
    settings.size = request.size;
    DetectorProbe probe(subject.model, subject.contract, settings);
    probe.examine();
    const auto decoder =
        probe.decoder_for(probe.input_for(request.size.value_or(typical_frame)).size);
    return {.takes = probe.in_words(),
            .decoder = decoder->name(),
            .classes = decoder->classes(),
            .labels =
                labels_of(subject.contract.model, decoder->classes(), decoder->has_background()),
            .notice = subject.model->notice(),
            .command = detector_command(request, filter_options(request, *subject.model))};
}

std::string detector_command(const Request &request, FilterOptions options)
{
    if (request.size)
        options.emplace_back("size", to_text(*request.size));
    return command_line("dnn_torch_detect", request.path, std::move(options),
                        ",drawbox=box_source=side_data_detection_bboxes:color=yellow", "out.mp4");
}

} // namespace dnn_torch
