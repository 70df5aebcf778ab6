// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds the tensors of an ONNX file that are elsewhere, wherever they are in it.  Needs no
// LibTorch.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace engine_torch
{

// ONNX Runtime opens the file that a tensor names, or takes its place for an address.  Throws a
// WeightFault unless only initialisers of the graph are elsewhere, in files for which `is_given`
// returns true, which ONNX Runtime gets as bytes.  Fields that Protocol Buffers would merge are
// looked at one by one, so that none hides another.
void expect_no_other_file(std::string_view model,
                          const std::function<bool(const std::string &name)> &is_given);

} // namespace engine_torch
