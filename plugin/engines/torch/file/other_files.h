// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Files that people mistake for a model: a web page, an archive with the model in it, another
// program's format.  Needs no LibTorch.
#pragma once

#include "file_bytes.h"
#include "zip_records.h"

#include <vector>

namespace engine_torch
{

// Refuse a file of another kind, and say what it is and what to do.  Return if it may be a model.
void refuse_other_files(const FileBytes &file);
void refuse_other_archives(const FileBytes &file, const std::vector<ZipRecord> &records);

} // namespace engine_torch
