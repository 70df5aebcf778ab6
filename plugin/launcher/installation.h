// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Where this launcher's other parts lie: beside it in a build tree, in a
// folder of their own where they are installed.
#pragma once

#include <string>

namespace dnn_torch
{

struct Part {
    std::string path;     // empty if the part is missing
    std::string searched; // then the folders in which it was looked for, with colons
};

// The preload object.
Part find_preload();

// A host module, an engine or a program of ours, by its file's name.
Part find_module(const std::string &file_name);

} // namespace dnn_torch
