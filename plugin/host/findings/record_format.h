// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The formats of records.
#pragma once

#include <string_view>

namespace dnn_torch
{

enum class RecordFormat { automatic, jsonl, csv, coco, srt };

// Returns the format for the file name's extension; jsonl if it is unknown.  Any thread.
RecordFormat format_for(std::string_view destination);

} // namespace dnn_torch
