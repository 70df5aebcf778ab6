// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Keeps the results of tuning, in the process and in a folder of the user.  A process that may not
// touch that folder asks another one; see tuning_broker.h.  Needs no LibTorch.
#pragma once

#include "tuning_record.h"

#include <optional>
#include <string>

namespace engine_torch
{

// What a record is valid for.
struct TuningKey {
    std::string path;     // of the model file
    std::string contents; // a hash of the model file; "" if not known
    std::string settings; // everything else except the machine, in one line
};

// Keeps the record of one key.  Belongs to one thread; others may have caches of the same key.  No
// function throws because of a file.
class TuningCache
{
public:
    explicit TuningCache(const TuningKey &key);
    // `line` is a key that another process has already turned into a line.
    TuningCache(std::string path, std::string line);

    // Returns what an earlier remember() in this process kept for the same file.
    std::optional<TuningRecord> recall_from_process() const;

    // Returns the record of an earlier process for the same file contents on the same kind of
    // processor, or nullopt if the record makes no sense.
    std::optional<TuningRecord> recall_from_folder() const;

    void remember_in_process(const TuningRecord &record) const;

    // Keeps the record in both.  It is no failure if the folder cannot be written to.
    void remember(const TuningRecord &record) const;

private:
    const std::string path_, line_;
};

} // namespace engine_torch
