// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Writes a record of each frame to a destination.
#pragma once

#include "findings.h"
#include "record_text.h"

#include <memory>
#include <string>

namespace dnn_torch
{

// Opens the destination and returns its writer.  The writer completes the text in end(), or when it
// is destroyed.  `automatic` is the format for the name's extension.
//
// The first writer in a process truncates a file.  Later ones continue where the last one ended,
// and continue its frame numbers: ffmpeg makes a new graph when the frame size changes, and players
// do so when they seek.  A connection stays open for that, unless end() was called.
//
// Throws Error, also if another writer has the destination open.  Any thread.
std::unique_ptr<FindingsSink> open_records(const std::string &destination, RecordFormat format);

} // namespace dnn_torch
