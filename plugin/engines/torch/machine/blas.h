// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The library that multiplies matrices for LibTorch, where that is OpenBLAS.  Needs no LibTorch.
#pragma once

#include <mutex>

namespace engine_torch
{

// Makes OpenBLAS with threads of its own compute in the calling thread, for the whole process,
// unless OPENBLAS_NUM_THREADS says otherwise.  Sessions divide the cores already, and the bits of a
// product that several threads share are others than those of one.
void keep_blas_in_the_calling_thread();

// OpenBLAS that is built without threads, as Debian's libopenblas0-serial is, hands out its buffers
// without a lock: products that several threads compute at the same time share one and are wrong,
// silently.  Returns true if LibTorch would use such a library.
bool blas_is_for_one_thread();

// Returns a lock that one thread at a time can hold if blas_is_for_one_thread(), and else one that
// holds nothing.  The holder may use no second thread for its products either.
std::unique_lock<std::mutex> alone_with_blas();

} // namespace engine_torch
