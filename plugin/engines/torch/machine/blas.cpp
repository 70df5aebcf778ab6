// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "blas.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <dlfcn.h>
#include <memory>
#include <new>
#include <pthread.h>

namespace engine_torch
{
namespace
{

std::mutex blas_mutex;

struct Closer {
    void operator()(void *library) const { dlclose(library); }
};

// The program may have loaded an OpenBLAS for itself.  What counts is the one whose functions
// LibTorch finds first.
std::unique_ptr<void, Closer> library_with(const char *function)
{
    void *const found_first = dlsym(RTLD_DEFAULT, function);
    Dl_info found = {};
    if (!found_first || dladdr(found_first, &found) == 0)
        return nullptr;
    return std::unique_ptr<void, Closer>(dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD));
}

// The declarations are OpenBLAS's own.
using GetParallel = int();
using SetThreads = void(int threads);

// Numbered as openblas_get_parallel() has them.
enum class Threading { none_at_all, its_own, openmp, not_openblas };

// OpenBLAS, as it serves one of LibTorch's calls.
struct Blas {
    Threading threading = Threading::not_openblas;
    SetThreads *set_threads = nullptr;
};

Blas blas_with(const char *function)
{
    const auto library = library_with(function);
    if (!library)
        return {};
    const auto get_parallel =
        reinterpret_cast<GetParallel *>(dlsym(library.get(), "openblas_get_parallel"));
    if (!get_parallel)
        return {};
    return {static_cast<Threading>(get_parallel()),
            reinterpret_cast<SetThreads *>(dlsym(library.get(), "openblas_set_num_threads"))};
}

// Debian lets the administrator choose BLAS and LAPACK apart, and OpenBLAS has both.
std::array<Blas, 2> blas_and_lapack()
{
    return {blas_with("sgemm_"), blas_with("sgetrf_")};
}

bool has_no_threads(const Blas &blas)
{
    return blas.threading == Threading::none_at_all;
}

// A run in the parent may hold the mutex.  Nobody would release it in the child.
std::mutex &mutex_of_process()
{
    static const int watches_forks =
        pthread_atfork(nullptr, nullptr, [] { new (&blas_mutex) std::mutex; });
    static_cast<void>(watches_forks);
    return blas_mutex;
}

} // namespace

void keep_blas_in_the_calling_thread()
{
    if (std::getenv("OPENBLAS_NUM_THREADS"))
        return;
    for (const Blas &blas : blas_and_lapack())
        if (blas.threading == Threading::its_own && blas.set_threads)
            blas.set_threads(1);
}

bool blas_is_for_one_thread()
{
    static const bool is_so = [] {
        const std::array both = blas_and_lapack();
        return std::any_of(both.begin(), both.end(), has_no_threads);
    }();
    return is_so;
}

std::unique_lock<std::mutex> alone_with_blas()
{
    return blas_is_for_one_thread() ? std::unique_lock(mutex_of_process())
                                    : std::unique_lock<std::mutex>();
}

} // namespace engine_torch
