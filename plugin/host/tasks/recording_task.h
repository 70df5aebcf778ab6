// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace dnn_torch
{

// A task that writes records to a file or an address, where the filter of a later graph continues.
class RecordingTask
{
public:
    virtual ~RecordingTask() = default;

    // Closes the records.  Called on the filter's thread.
    virtual void close_records() = 0;
};

} // namespace dnn_torch
