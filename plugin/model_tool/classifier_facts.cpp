// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "classifier_facts.h"

#include "host/model/label_lists.h"
#include "host/probing/classifier_probe.h"

#include <utility>

namespace dnn_torch
{

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

} // namespace dnn_torch
