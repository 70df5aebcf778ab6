// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "blas.h"

#include <dlfcn.h>
#include <memory>
#include <new>
#include <pthread.h>

namespace engine_torch
{
namespace
{

std::mutex mutex;

struct Closer {
    void operator()(void *library) const { dlclose(library); }
};

// The program may have loaded an OpenBLAS for itself.  What counts is the one whose functions
// LibTorch finds first.
std::unique_ptr<void, Closer> library_of_products()
{
    void *const product = dlsym(RTLD_DEFAULT, "sgemm_");
    Dl_info found = {};
    if (!product || dladdr(product, &found) == 0)
        return nullptr;
    return std::unique_ptr<void, Closer>(dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD));
}

// The declaration is OpenBLAS's own.  The result tells what it was built for: 0 for no threads, 1
// for its own ones, 2 for OpenMP.
using GetParallel = int();

bool is_openblas_without_threads()
{
    const auto library = library_of_products();
    if (!library)
        return false;
    const auto get_parallel =
        reinterpret_cast<GetParallel *>(dlsym(library.get(), "openblas_get_parallel"));
    return get_parallel && get_parallel() == 0;
}

// A run in the parent may hold the mutex.  Nobody would release it in the child.
std::mutex &mutex_of_process()
{
    static const int watches_forks =
        pthread_atfork(nullptr, nullptr, [] { new (&mutex) std::mutex; });
    static_cast<void>(watches_forks);
    return mutex;
}

} // namespace

bool blas_is_for_one_thread()
{
    static const bool is_so = is_openblas_without_threads();
    return is_so;
}

std::unique_lock<std::mutex> alone_with_blas()
{
    return blas_is_for_one_thread() ? std::unique_lock(mutex_of_process())
                                    : std::unique_lock<std::mutex>();
}

} // namespace engine_torch
