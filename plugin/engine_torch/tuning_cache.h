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

// The record of one key.  Belongs to one thread; others may have caches of the
// same key.  None of its functions throws because of a file.
class TuningCache
{
public:
    explicit TuningCache(TuningKey key);

    // What an earlier remember() in this process kept, as long as the file is the same.
    std::optional<TuningRecord> recall_from_process() const;

    // The record of an earlier process, with the same contents of the file on the
    // same kind of processor; nothing where what there is makes no sense.
    std::optional<TuningRecord> recall_from_folder();

    void remember_in_process(const TuningRecord &record) const;

    // Keeps it in both.  That the folder cannot be written to is no failure.
    void remember(const TuningRecord &record);

private:
    const std::string &line();

    const TuningKey key_;
    std::optional<std::string> line_; // costs the reading of the whole model
};

} // namespace engine_torch
