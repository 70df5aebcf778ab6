// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// How the machine's cores are divided between workers.
#pragma once

#include <cstddef>

namespace dnn_torch {

struct CoreBudget {
    size_t workers;
    size_t threads_per_worker;
    size_t in_flight; // jobs
};

// The cores that this process may use, at least 1.
size_t usable_cores();

// Fills in what the user left at 0.  workers * threads_per_worker exceeds the
// cores only where the user asked for it.
CoreBudget divide_cores(size_t cores, size_t workers, size_t threads, size_t in_flight, bool async);

} // namespace dnn_torch
