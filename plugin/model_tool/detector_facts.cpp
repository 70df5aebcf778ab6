// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "detector_facts.h"

#include "host/model/label_lists.h"
#include "host/probing/detector_probe.h"

#include <utility>

namespace dnn_torch
{

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
