// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What tuning found out about a model, its text form, and the folder that keeps it.  Needs no
// LibTorch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace engine_torch
{

struct TuningRecord {
    std::string variant, precision; // names of the variant and of the precision
    double run_seconds = 0;
    int64_t run_bytes = 0;
    std::string notice, hint;  // lines for the user, or ""
    double run_operations = 0; // 0: not known
    bool is_measured = true;   // false: there was no time to compare variants
    // The variant or the precision is not the one that an option names, because that cannot be
    // used.
    bool refused_optimize = false, refused_precision = false;
    std::string threaded = ""; // the variant that runs with several threads; "": always the same
};

// A longer text is not a record.
constexpr size_t longest_tuning_text = 8192;

// Whether the text may be one line of a record.
bool is_tuning_line(std::string_view text);

// Returns a record as text, for the key `line`; "" if one of its strings is not a single line.
std::string text_of(const TuningRecord &record, const std::string &line);

// Returns nullopt if the text is not a record for `line`, or if the record makes no sense.
std::optional<TuningRecord> parse_record(const std::string &text, const std::string &line);

// Returns the text that an earlier write_to_folder() kept for that line, or "".
std::string read_from_folder(const std::string &line);

// Does nothing if there is no such folder.  It is no failure if it cannot be written to.
void write_to_folder(const std::string &line, const std::string &text);

} // namespace engine_torch
