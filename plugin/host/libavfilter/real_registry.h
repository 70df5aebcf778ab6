// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// libavfilter's own functions, which the wrappers call.
#pragma once

#include "dnn_torch/filter_module.h"

namespace dnn_torch
{

// Must be set once, before any wrapper is used.
const FilterRegistry &real_registry();
void set_real_registry(const FilterRegistry &real);

} // namespace dnn_torch
