// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The library that multiplies matrices for LibTorch, where that library is OpenBLAS without
// threads.  Needs no LibTorch.
#pragma once

#include <mutex>

namespace engine_torch
{

// OpenBLAS that is built without threads, as Debian's libopenblas0-serial is, hands out its buffers
// without a lock: products that several threads compute at the same time share one and are wrong,
// silently.  Returns true if LibTorch would use such a library.
bool blas_is_for_one_thread();

// Returns a lock that one thread at a time can hold if blas_is_for_one_thread(), and else one that
// holds nothing.  The holder may use no second thread for its products either.
std::unique_lock<std::mutex> alone_with_blas();

} // namespace engine_torch
