// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace dnn_torch
{

// A task that writes to a place where the filter of a later graph goes on.
class WritesToSharedPlace
{
public:
    virtual ~WritesToSharedPlace() = default;

    // Closes it.  Belongs to the thread of the filter.
    virtual void let_go() = 0;
};

} // namespace dnn_torch
