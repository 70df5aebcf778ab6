// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What a filter writes must not be what it reads.
#pragma once

namespace dnn_torch
{

// Throws Error if stats or destination names the model, the contract beside it or the labels.  Opens
// nothing: call it before anything is opened.  `options` has a filter's AVOptions.
void check_written_files(void *options);

} // namespace dnn_torch
