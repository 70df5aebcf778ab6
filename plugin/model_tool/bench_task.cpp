// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench_task.h"

#include "host/probing/model_contract.h"
#include "host/tasks/classify_task.h"
#include "host/tasks/detect_task.h"
#include "host/tasks/picture_task.h"
#include "kind.h"
#include "probed_contract.h"

#include <utility>

namespace dnn_torch
{
namespace
{

// Writes nothing: bench measures only the workers.
std::shared_ptr<FindingsStep> idle_step()
{
    return std::make_shared<FindingsStep>(FindingsSettings{});
}

std::unique_ptr<Task> detector_task(const Request &request, const ModelWithContract &subject)
{
    DetectSettings settings;
    settings.size = request.size;
    return std::make_unique<DetectTask>(
        subject.model, subject.contract, 1,
        DetectShared{.settings = std::move(settings),
                     .parameters =
                         std::make_shared<TimedParameters<DetectParameters>>(DetectParameters{}),
                     .step = idle_step()});
}

// Classifies whole frames, because the number of boxes does not depend on the model.
std::unique_ptr<Task> classifier_task(const Request &request, const ModelWithContract &subject)
{
    ClassifySettings settings;
    settings.size = request.size;
    settings.what = ClassifyWhat::frame;
    return std::make_unique<ClassifyTask>(
        subject.model, subject.contract, 1,
        ClassifyShared{.settings = std::move(settings),
                       .parameters = std::make_shared<TimedParameters<ClassifyParameters>>(
                           ClassifyParameters{}),
                       .step = idle_step()});
}

void try_pictures(const Backend &backend, const Request &request, BenchModel &model)
{
    model.in_fp32 = open_as_kind(backend, request, Kind::picture, "fp32");
    const Trials trials = try_model(model.in_fp32, request);
    model.channels = agreed_channels(model.in_fp32.contract, trials.channels);
    model.sizes = trials.sizes;
}

void try_findings(const Backend &backend, const Request &request, Kind kind, BenchModel &model)
{
    model.in_fp32.model.reset(); // only one model is in memory at a time
    model.in_fp32 = open_as_kind(backend, request, kind, "fp32");
    const std::unique_ptr<Task> task = task_for(request, kind, model.in_fp32);
    model.channels = task->formats() == formats_to_feed(1) ? Channels::luma : Channels::rgb;
}

} // namespace

BenchModel open_for_bench(const Backend &backend, const Request &request)
{
    BenchModel model;
    const Contract contract = known_contract(*open_to_inspect(backend, request), request);
    model.kind = find_kind(
        contract, {.picture = [&] { try_pictures(backend, request, model); },
                   .detector = [&] { try_findings(backend, request, Kind::detector, model); },
                   .classifier = [&] { try_findings(backend, request, Kind::classifier, model); }});
    return model;
}

ModelWithContract open_as_kind(const Backend &backend, const Request &request, Kind kind,
                               const std::string &precision)
{
    return open_model(backend, request, precision, kind == Kind::picture ? "" : "tensors");
}

std::unique_ptr<Task> task_for(const Request &request, Kind kind, const ModelWithContract &subject)
{
    std::unique_ptr<Task> task;
    if (kind == Kind::picture)
        task = std::make_unique<PictureTask>(subject.model, subject.contract, 1);
    else
        task = kind == Kind::detector ? detector_task(request, subject)
                                      : classifier_task(request, subject);
    task->examine();
    return task;
}

std::string filter_for(Kind kind)
{
    switch (kind) {
    case Kind::detector:
        return "dnn_torch_detect";
    case Kind::classifier:
        return "dnn_torch_classify";
    default:
        return "dnn_torch";
    }
}

std::string command_for(const Request &request, Kind kind, Channels channels,
                        const FilterOptions &options)
{
    if (kind == Kind::picture)
        return command_line(request.path, channels, nullptr, options);
    return kind == Kind::detector ? detector_command(request, options)
                                  : classifier_command(request, options);
}

} // namespace dnn_torch
