// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "results_options.h"

#include "base/compose.h"
#include "option_kinds.h"

#include <utility>

namespace dnn_torch
{
namespace
{

OptionTable frame_options(size_t offset)
{
    auto field = [offset](size_t of_field) { return offset + of_field; };
    return {
        int_option("every", "the model sees every Nth frame; the others carry its boxes",
                   field(offsetof(ResultsSettings, every)), 1, 1, 1000000),
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

} // namespace

OptionTable results_options(size_t offset)
{
    OptionTable all = frame_options(offset);
    for (const AVOption &option : record_options(offset))
        all.push_back(option);
    return all;
}

FindingsSettings request_of(const ResultsSettings &settings, std::string source)
{
    return {.every = settings.every,
            .track = static_cast<Tracking>(settings.track),
            .earlier = static_cast<EarlierBoxes>(settings.boxes),
            .masks = static_cast<ShownMasks>(settings.masks),
            .metadata = settings.metadata != 0,
            .destination = text_or_empty(settings.destination),
            .format = static_cast<RecordFormat>(settings.format),
            .source = std::move(source)};
}

} // namespace dnn_torch
