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
    int64_t run_bytes = 0;
    std::string notice, advice; // lines for the user, or ""
};

// What a record holds for.
struct TuningKey {
    std::string path;     // of the model file
    std::string contents; // a hash of the model file's; "" where it is not known
    std::string settings; // all else but the machine: one line
};

// The record of one key.  Belongs to one thread; others may have caches of the
// same key.  None of its functions throws because of a file.
class TuningCache
{
public:
    explicit TuningCache(const TuningKey &key);

    // What an earlier remember() in this process kept for the same file.
    std::optional<TuningRecord> recall_from_process() const;

    // The record of an earlier process, with the same contents of the file on the
    // same kind of processor; nothing where what there is makes no sense.
    std::optional<TuningRecord> recall_from_folder() const;

    void remember_in_process(const TuningRecord &record) const;

    // Keeps it in both.  That the folder cannot be written to is no failure.
    void remember(const TuningRecord &record) const;

private:
    const std::string path_, line_;
};

} // namespace engine_torch
