// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "detector_facts.h"

#include "command_line.h"
#include "host/contract/label_lists.h"
#include "host/tasks/detector_probe.h"

namespace dnn_torch
{

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
            .labels =
                labels_of(subject.contract.model, decoder->classes(), decoder->has_background()),
            .command = command_line("dnn_torch_detect", request.model, filter_options(request),
                                    ",drawbox=box_source=side_data_detection_bboxes:color=yellow",
                                    "out.mp4")};
}

} // namespace dnn_torch
