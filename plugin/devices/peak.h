// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// How much a core can compute at most.
#pragma once

namespace dnn_torch
{

// Multiplications and additions of floats in a second, in one core's widest vectors, all of which
// are in registers.  Measured once, which takes some 10 ms.  Any thread.
double peak_operations_of_core();

} // namespace dnn_torch
