// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// How records of what was found are written.
#pragma once

#include <string_view>

namespace dnn_torch
{

enum class RecordFormat { automatic, jsonl, csv, coco, srt };

// Returns the format that the name's ending says, or else jsonl.  Any thread.
RecordFormat format_for(std::string_view destination);

} // namespace dnn_torch
