// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The peak rate of a core.
#pragma once

namespace dnn_torch
{

// Returns float multiplications and additions per second, with one core's widest vectors and all
// operands in registers.  Measured once, which takes some 10 ms.  Any thread.
double peak_operations_of_core();

} // namespace dnn_torch
