// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What JSON texts say of a contract.
#pragma once

#include "contract.h"

#include <string>
#include <string_view>

namespace dnn_torch
{

// Where a text comes from.
struct TextOrigin {
    std::string name; // as the fields' origin is shown
    std::string file; // as errors name it
    // An engine has read it: a text instead of an object says what is wrong with it.
    bool is_of_engine = false;
};

// Sets what a contract's text says.  Throws Error that names the file and the field.
void apply_json(std::string_view text, const TextOrigin &origin, Contract &contract);

// Sets what Ultralytics' "config.txt" says: task, names, imgsz, stride, batch, author, ...  Nobody
// wrote it for us, so what is not understood is left out.
void apply_ultralytics(std::string_view text, const std::string &origin, Contract &contract);

} // namespace dnn_torch
