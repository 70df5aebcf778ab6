// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "crash_place.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <memory>
#include <string_view>

// Of the sanitizers, where there is one: called before it ends the process.
extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());

namespace fuzz
{
namespace
{

constexpr size_t frames_told = 3;

CrashPlace *place = nullptr;

void note(int signal)
{
    place->signal = signal;
    place->count = backtrace(place->frames, static_cast<int>(std::size(place->frames)));
}

void note_and_end(int signal)
{
    note(signal);
    raise(signal); // the handler was set for one time
}

// After its report, which FUZZ_VERBOSE lets through.
void note_report()
{
    note(SIGABRT);
}

std::string file_name(const char *path)
{
    const std::string_view all = path ? path : "?";
    return std::string(all.substr(all.rfind('/') + 1));
}

bool is_of_the_system(const std::string &file)
{
    for (const char *name : {"libc.so", "libstdc++.so", "libgcc_s.so", "libasan.so", "libubsan.so"})
        if (file.rfind(name, 0) == 0)
            return true;
    return false;
}

// Without its arguments, which may be long.
std::string name_of(const char *symbol)
{
    int status = 0;
    const std::unique_ptr<char, void (*)(void *)> name(
        abi::__cxa_demangle(symbol, nullptr, nullptr, &status), std::free);
    const std::string full = name ? name.get() : symbol;
    return full.substr(0, std::min<size_t>(full.find('(', 1), 80));
}

std::string offset_in(void *address, const Dl_info &about)
{
    char offset[24];
    std::snprintf(
        offset, sizeof offset, "+0x%zx",
        static_cast<size_t>(static_cast<char *>(address) - static_cast<char *>(about.dli_fbase)));
    return file_name(about.dli_fname) + offset;
}

// The innermost frames, each function once; those with a name, or those without.
std::string told(const CrashPlace &where, bool by_name)
{
    std::string words, before;
    size_t count = 0;
    // The innermost is note() itself.
    for (int i = 1; i < where.count && count < frames_told; i++) {
        Dl_info about = {};
        if (!dladdr(where.frames[i], &about) || is_of_the_system(file_name(about.dli_fname)) ||
            by_name != (about.dli_sname != nullptr))
            continue;
        const std::string frame = by_name
                                      ? file_name(about.dli_fname) + ":" + name_of(about.dli_sname)
                                      : offset_in(where.frames[i], about);
        if (frame == before)
            continue; // a function that calls itself, as often as it got to
        before = frame;
        words += (count++ ? " < " : "") + frame;
    }
    return words;
}

} // namespace

void watch_for_crashes(CrashPlace &where)
{
    place = &where;
    // The first call allocates.
    void *frame = nullptr;
    backtrace(&frame, 1);
    static char room[1 << 16];
    const stack_t stack = {.ss_sp = room, .ss_flags = 0, .ss_size = sizeof room};
    sigaltstack(&stack, nullptr);
    struct sigaction action = {};
    action.sa_handler = note_and_end;
    action.sa_flags = static_cast<int>(SA_ONSTACK | SA_RESETHAND | SA_NODEFER);
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS})
        sigaction(signal, &action, nullptr);
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(note_report);
}

// Addresses of functions without a name differ where the fault is the same.
std::string words_of(const CrashPlace &where)
{
    std::string words = told(where, true);
    if (words.empty())
        words = told(where, false);
    return words.empty() ? "an unknown place" : words;
}

} // namespace fuzz
