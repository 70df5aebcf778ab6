// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What tuning found out, kept in the process and in a folder of the user's.
// Needs no LibTorch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace engine_torch
{

struct TuningRecord {
    std::string form, precision; // their names
    double run_seconds = 0;
    std::int64_t run_bytes = 0;
    std::string notice, advice; // lines for the user, or ""
};

// What a record holds for.
struct TuningKey {
    std::string path;     // of the model file
    std::string settings; // all else but the machine: one line
};

// The record of an earlier call of remember() in this process, as long as the
// file is the same.  Any thread.
std::optional<TuningRecord> recall_from_process(const TuningKey &key);

// The record of an earlier process, with the same contents of the file on the
// same kind of processor; nothing where what there is makes no sense.  Any thread.
std::optional<TuningRecord> recall_from_folder(const TuningKey &key);

// Keeps it in the process only.
void remember_in_process(const TuningKey &key, const TuningRecord &record);

// Keeps it in both.  That the folder cannot be written to is no failure.
void remember(const TuningKey &key, const TuningRecord &record);

} // namespace engine_torch
