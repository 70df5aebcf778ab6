// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds the other parts of this project.  They are in the launcher's folder in a build tree, and in
// a separate folder if installed.
#pragma once

#include <string>

namespace dnn_torch
{

struct Part {
    std::string path;     // empty if the part is missing
    std::string searched; // then: the folders that were searched, separated by colons
};

// Returns the launcher's own path.
std::string own_path();

// Finds the preload object.
Part find_preload();

// Finds a host module, an engine or a program of ours by its file's name.
Part find_module(const std::string &file_name);

// Finds the folder of the Python package of `dnn-torch farm`.
Part find_farm();

} // namespace dnn_torch
