// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The commands.  Each returns the exit status and throws Error.
#pragma once

#include "request.h"

namespace dnn_torch
{

// Prints what a model is, takes and returns.  Returns 1 if the filter refuses it.
int inspect(const Request &request);

// Measures how fast a model runs with each setting.
int bench(const Request &request);

// Prints the model's contract as JSON.  It may be saved next to the model.
int write_contract(const Request &request);

// Writes a file of weights in another format.
int convert(const Request &request);

// Runs models on frames of a clip, and writes a page that shows the results.  It reads its own
// options: `words` begins with the command's name.  Is in plugin/compare.
int compare(int count, char **words);

} // namespace dnn_torch
