// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "detector_facts.h"

#include "command_line.h"
#include "host/tasks/detector_probe.h"

namespace dnn_torch
{
namespace
{

// What of a request the filter for pictures has alone.
bool is_of_pictures(const std::string &option)
{
    for (const char *const name : {"as", "depth", "classes", "fit", "tile", "overlap", "padding"})
        if (option == name)
            return true;
    return false;
}

std::string command_for(const Request &request)
{
    std::string graph = "dnn_torch_detect=model=" + graph_quoted(request.model);
    for (const auto &[name, value] : filter_options(request))
        if (!is_of_pictures(name))
            graph += ":" + name + "=" + graph_quoted(value);
    graph += ",drawbox=box_source=side_data_detection_bboxes:color=yellow";
    return "dnn-torch run ffmpeg -i in.mp4 -vf " + shell_quoted(graph) + " out.mp4";
}

} // namespace

bool is_of_detector(const Contract &contract)
{
    const std::string &task = contract.model.task;
    return task == "detect" || task == "pose" || task == "obb";
}

DetectorFactsFound try_detector(const Place &place, const Request &request)
{
    constexpr Size usual_frame = {640, 480};
    const ModelWithContract subject = open_model(place, request, "auto", "tensors");
    DetectSettings settings;
    settings.size = request.size;
    DetectorProbe probe(subject.model, subject.contract, settings);
    probe.study();
    const auto decoder =
        probe.decoder_for(probe.input_for(request.size.value_or(usual_frame)).size);
    return {.takes = probe.in_words(),
            .decoder = decoder->name(),
            .classes = decoder->classes(),
            .labels = subject.contract.model.labels,
            .command = command_for(request)};
}

} // namespace dnn_torch
