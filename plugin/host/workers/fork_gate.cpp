// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "fork_gate.h"

#include <pthread.h>

namespace dnn_torch
{
namespace
{

std::shared_mutex *gate;

// A child gets a new gate: the old one may count waiting threads that the child does not have.
void make_gate()
{
    gate = new std::shared_mutex;
}

std::shared_mutex &the_gate()
{
    static std::once_flag once;
    std::call_once(once, [] {
        make_gate();
        pthread_atfork([] { gate->lock(); }, [] { gate->unlock(); }, make_gate);
    });
    return *gate;
}

} // namespace

NoFork::NoFork() : lock_(the_gate()) {}

} // namespace dnn_torch
