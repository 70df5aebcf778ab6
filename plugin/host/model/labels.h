// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Class names from a file.  Any thread.
#pragma once

#include <string>
#include <vector>

namespace dnn_torch
{

// Reads a UTF-8 text with a label in each line; the first is that of class 0.  Lines end with
// LF or CR LF; an empty line leaves its class without a name.
// Throws Error whose text begins with "labels=PATH".
std::vector<std::string> read_labels(const std::string &path);

// Returns the number as text if the class has no name.
std::string label_of(const std::vector<std::string> &labels, int number);

} // namespace dnn_torch
