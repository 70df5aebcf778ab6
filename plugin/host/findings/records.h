// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Writes a record of each frame to a destination.
#pragma once

#include "findings.h"
#include "record_format.h"

#include <memory>
#include <string>

namespace dnn_torch
{

// Opens the destination and returns what writes to it.  It completes the text in end(), or else
// when it is destroyed.  `automatic` is the format that the name's ending says.
//
// The first one in a process empties a file.  Later ones go on where the last one ended, with
// frames numbered on: ffmpeg makes a new graph where the frame size changes, and players do so
// when they seek.  A connection stays open for that, unless end() was called.
//
// Throws Error, also if another one writes to the destination at that time.  Any thread.
std::unique_ptr<FindingsSink> open_records(const std::string &destination, RecordFormat format);

} // namespace dnn_torch
