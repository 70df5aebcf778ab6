// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "findings_filter.h"

#include "base/compose.h"
#include "option_kinds.h"

#include <string>
#include <utility>

namespace dnn_torch
{
namespace
{

OptionTable frame_options(size_t offset)
{
    auto field = [offset](size_t of_field) { return offset + of_field; };
    return {
        with_unit(int_option("track", "number things, so that each keeps its number over frames",
                             field(offsetof(ResultsSettings, track)),
                             static_cast<int>(Tracking::off), static_cast<int>(Tracking::off),
                             static_cast<int>(Tracking::label)),
                  "track"),
        named_value("off", "no numbers", Tracking::off, "track"),
        named_value("on", "in metadata and records", Tracking::on, "track"),
        named_value("label", "and in labels: person #3", Tracking::label, "track"),
        with_unit(int_option("boxes", "what becomes of boxes that are in the frame already",
                             field(offsetof(ResultsSettings, boxes)),
                             static_cast<int>(EarlierBoxes::kept),
                             static_cast<int>(EarlierBoxes::kept),
                             static_cast<int>(EarlierBoxes::replaced)),
                  "boxes"),
        named_value("add", "they are kept", EarlierBoxes::kept, "boxes"),
        named_value("replace", "they are replaced", EarlierBoxes::replaced, "boxes"),
        with_unit(int_option("masks", "how frames show which pixels belong to a thing",
                             field(offsetof(ResultsSettings, masks)),
                             static_cast<int>(ShownMasks::none), static_cast<int>(ShownMasks::none),
                             static_cast<int>(ShownMasks::alpha)),
                  "masks"),
        named_value("none", "not at all", ShownMasks::none, "masks"),
        named_value("overlay", "by the colour of its class", ShownMasks::overlay, "masks"),
        named_value("alpha", "all else becomes transparent", ShownMasks::alpha, "masks"),
    };
}

OptionTable record_options(size_t offset)
{
    auto field = [offset](size_t of_field) { return offset + of_field; };
    return {
        bool_option("metadata", "give frames the keys lavfi.dnn_torch.*",
                    field(offsetof(ResultsSettings, metadata)), false),
        text_option("destination", "where records go: a file, - or an address as tcp://HOST:PORT",
                    field(offsetof(ResultsSettings, destination)), nullptr),
        with_unit(int_option("format", "how records are written",
                             field(offsetof(ResultsSettings, format)),
                             static_cast<int>(RecordFormat::automatic),
                             static_cast<int>(RecordFormat::automatic),
                             static_cast<int>(RecordFormat::srt)),
                  "record_format"),
        named_value("auto", "by the destination's ending, or else jsonl", RecordFormat::automatic,
                    "record_format"),
        named_value("jsonl", "a JSON object in a line for each frame", RecordFormat::jsonl,
                    "record_format"),
        named_value("csv", "a row for each box", RecordFormat::csv, "record_format"),
        named_value("coco", "one JSON object as COCO has it (.json)", RecordFormat::coco,
                    "record_format"),
        named_value("srt", "subtitles with the labels", RecordFormat::srt, "record_format"),
    };
}

FindingsData &findings_data(AVFilterContext *ctx)
{
    return *static_cast<FindingsData *>(ctx->priv);
}

std::string name_in(const std::string &path)
{
    return path.substr(path.rfind('/') + 1);
}

} // namespace

OptionTable findings_model_options()
{
    const OptionTable groups[] = {
        without_picture_options(model_options(offsetof(FindingsData, common.settings.model))),
        without(run_options(offsetof(FindingsData, common.settings.run)), {"strength"}),
        backend_options(offsetof(FindingsData, common.backend)),
    };
    OptionTable all;
    for (const OptionTable &group : groups)
        all.insert(all.end(), group.begin(), group.end());
    return all;
}

OptionTable findings_results_options()
{
    return results_options(offsetof(FindingsData, results));
}

int prepare_findings(AVFilterContext *ctx)
{
    CommonData &data = common_data(ctx);
    data.settings.run.strength = 1; // findings cannot be mixed with the frame
    return apply_backend_configs(&data, data.backend);
}

bool is_parameter(AVFilterContext *ctx, const char *option, size_t offset, size_t size)
{
    if (!is_changeable(ctx, option))
        return false;
    const AVOption *const found = av_opt_find(ctx->priv, option, nullptr, 0, 0);
    const auto place = static_cast<size_t>(found ? found->offset : 0);
    return found && place >= offset && place < offset + size;
}

int change_parameter(AVFilterContext *ctx, const char *option, const char *value,
                     const std::function<void()> &apply)
{
    uint8_t *before = nullptr;
    if (int ret = av_opt_get(ctx->priv, option, AV_OPT_ALLOW_NULL, &before); ret < 0)
        return ret;
    const TextPointer old(reinterpret_cast<char *>(before));
    if (int ret = av_opt_set(ctx->priv, option, value, 0); ret < 0)
        return ret;
    try {
        apply();
    } catch (...) {
        av_opt_set(ctx->priv, option, old.get(), 0);
        throw;
    }
    return 0;
}

std::shared_ptr<FindingsStep> open_step(AVFilterContext *ctx)
{
    const FindingsData &data = findings_data(ctx);
    const std::string model = name_in(request_of(data.common.settings.model).path);
    const char *const filter = ctx->filter->name;
    auto step = std::make_shared<FindingsStep>(request_of(data, concat(filter, ": ", model)));
    step->open();
    return step;
}

OptionTable results_options(size_t offset)
{
    OptionTable all = frame_options(offset);
    for (const AVOption &option : record_options(offset))
        all.push_back(option);
    return all;
}

FindingsSettings request_of(const FindingsData &data, std::string source)
{
    const ResultsSettings &settings = data.results;
    return {.track = static_cast<Tracking>(settings.track),
            .earlier = static_cast<EarlierBoxes>(settings.boxes),
            .masks = static_cast<ShownMasks>(settings.masks),
            .hiding = static_cast<Hiding>(data.common.settings.run.hide_with),
            .metadata = settings.metadata != 0,
            .destination = text_or_empty(settings.destination),
            .format = static_cast<RecordFormat>(settings.format),
            .source = std::move(source)};
}

} // namespace dnn_torch
