// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Reads contracts from JSON texts.
#pragma once

#include "contract.h"

#include <string>
#include <string_view>

namespace dnn_torch
{

// Where a text comes from.
struct TextOrigin {
    std::string name; // shown as the fields' origin
    std::string file; // its name in errors
    // An engine has read it.  It passes an error as a text instead of an object.
    bool is_of_engine = false;
};

// Sets the fields of a contract's text.  Throws Error that names the file and the field.
void apply_json(std::string_view text, const TextOrigin &origin, Contract &contract);

// Sets the fields of Ultralytics' "config.txt": task, names, imgsz, stride, batch, author, ...  It
// is not written for this project, so fields that are not understood are left out.
void apply_ultralytics(std::string_view text, const std::string &origin, Contract &contract);

} // namespace dnn_torch
