// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A tensor that a script names: `tensor NAME f32|i64 2x4 1 2.5 ...`.
#pragma once

#include "dnn_torch/engine.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fake_engine
{

struct ScriptedTensor {
    std::string name;
    int32_t type = 0;
    std::vector<int64_t> dims;
    std::vector<char> memory; // without gaps

    // Holds as long as the tensor stays as it is.
    DnnTorchTensor view();
};

// Reads what follows `tensor`.  A "-" as the name is none, and as the extents a single number.  The
// values repeat if there are fewer than elements; they are 0 if there are none.  Returns what is
// wrong, or "".
std::string read_tensor(std::string_view text, ScriptedTensor &tensor);

} // namespace fake_engine
