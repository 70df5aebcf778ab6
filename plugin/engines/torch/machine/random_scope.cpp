// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "random_scope.h"

#include <ATen/Context.h>
#include <new>
#include <pthread.h>

namespace engine_torch
{
namespace
{

std::mutex drawing_mutex;

// LibTorch holds this mutex while an operator draws.
std::mutex &mutex_of_generator()
{
    at::Generator generator =
        at::globalContext().defaultGenerator(c10::Device(c10::DeviceType::CPU));
    return generator.mutex(); // belongs to what all handles share and is never freed
}

// A run in the parent may hold our own mutex.  Nobody would release it in the child.
void prepare_child()
{
    mutex_of_generator().unlock();
    new (&drawing_mutex) std::mutex;
}

std::mutex &mutex_of_drawing()
{
    static const int watches_forks = pthread_atfork(
        [] { mutex_of_generator().lock(); }, [] { mutex_of_generator().unlock(); }, prepare_child);
    static_cast<void>(watches_forks);
    return drawing_mutex;
}

} // namespace

RandomScope::RandomScope(int64_t seed, const c10::Device &device)
    : one_at_a_time_(mutex_of_drawing())
{
    this->seed(c10::Device(c10::DeviceType::CPU), static_cast<uint64_t>(seed));
    if (!device.is_cpu())
        this->seed(device, static_cast<uint64_t>(seed));
}

RandomScope::~RandomScope()
{
    for (Saved &saved : saved_) {
        const std::lock_guard<std::mutex> lock(saved.generator.mutex());
        try {
            saved.generator.set_state(saved.state);
        } catch (...) {
            // The state came from this generator, so it can only fail if the device is lost.
        }
    }
}

// LibTorch 1.13 knows the generators of some devices only.  Others are not seeded.
void RandomScope::seed(const c10::Device &device, uint64_t seed)
{
    at::Generator generator;
    try {
        generator = at::globalContext().defaultGenerator(device);
    } catch (const std::exception &) {
        return;
    }
    const std::lock_guard<std::mutex> lock(generator.mutex());
    saved_.push_back({generator, generator.get_state()});
    generator.set_current_seed(seed);
}

} // namespace engine_torch
