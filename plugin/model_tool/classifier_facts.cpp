// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "classifier_facts.h"

#include "command_line.h"
#include "host/contract/label_lists.h"
#include "host/tasks/classifier_probe.h"

namespace dnn_torch
{

ClassifierFacts try_classifier(const Place &place, const Request &request)
{
    const ModelWithContract subject = open_model(place, request, "auto", "tensors");
    ClassifierProbe probe(subject.model, subject.contract, request.size);
    probe.study();
    return {.takes = probe.in_words(),
            .classes = probe.scores().classes,
            .labels = labels_of(subject.contract.model, probe.scores().classes, false),
            .command = command_line("dnn_torch_classify", request.model, filter_options(request),
                                    ",metadata=print", "-f null -")};
}

} // namespace dnn_torch
