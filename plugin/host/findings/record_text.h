// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Records as text.  docs/results.md describes the formats.
#pragma once

#include "findings.h"

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dnn_torch
{

enum class RecordFormat { automatic, jsonl, csv, coco, srt };

// Returns the format for the file name's extension; jsonl if it is unknown.  Any thread.
RecordFormat format_for(std::string_view destination);

// Produces the text of one destination piece by piece.  Belongs to one thread.
class RecordText
{
public:
    virtual ~RecordText() = default;

    virtual std::string begin() { return {}; }
    virtual std::string record(const FrameFacts &frame, const Findings &found) = 0;
    // Completes the text.  Further records may still follow: after the returned text, or replacing
    // it if end_is_replaced().
    virtual std::string end() { return {}; }
    virtual bool end_is_replaced() const { return false; }
};

std::unique_ptr<RecordText> make_jsonl_text();
std::unique_ptr<RecordText> make_csv_text();
std::unique_ptr<RecordText> make_coco_text();
std::unique_ptr<RecordText> make_srt_text();

// `format` is not `automatic`.
std::unique_ptr<RecordText> make_record_text(RecordFormat format);

// Returns nullopt for a frame without a time.
std::optional<double> seconds_of(const FrameFacts &frame);

// Returns [{"label": "cat", "confidence": 0.5}].
nlohmann::ordered_json classes_value(const std::vector<LabelScore> &classes);

// Returns "x y confidence;x y confidence", with that text between the numbers.
std::string key_points_text(const std::vector<KeyPoint> &points, std::string_view between);

} // namespace dnn_torch
