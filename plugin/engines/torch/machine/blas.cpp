// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "blas.h"

#include <cstdlib>
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

// The declarations are OpenBLAS's own.
using GetParallel = int();
using SetThreads = void(int threads);

template <class Function> Function *find_function(const char *name)
{
    const auto library = library_of_products();
    return library ? reinterpret_cast<Function *>(dlsym(library.get(), name)) : nullptr;
}

// Numbered as openblas_get_parallel() has them.
enum class Threading { none_at_all, its_own, openmp, not_openblas };

Threading threading()
{
    const auto get_parallel = find_function<GetParallel>("openblas_get_parallel");
    return get_parallel ? static_cast<Threading>(get_parallel()) : Threading::not_openblas;
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

void keep_blas_in_the_calling_thread()
{
    if (threading() != Threading::its_own || std::getenv("OPENBLAS_NUM_THREADS"))
        return;
    if (const auto set_threads = find_function<SetThreads>("openblas_set_num_threads"))
        set_threads(1);
}

bool blas_is_for_one_thread()
{
    static const bool is_so = threading() == Threading::none_at_all;
    return is_so;
}

std::unique_lock<std::mutex> alone_with_blas()
{
    return blas_is_for_one_thread() ? std::unique_lock(mutex_of_process())
                                    : std::unique_lock<std::mutex>();
}

} // namespace engine_torch
