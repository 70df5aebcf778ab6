// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What a stranger's model might try from within its process, and what it finds there.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <sys/types.h>
#include <vector>

// Layers of the cage, as bits.
enum Layer : unsigned { limits = 1, privileges = 2, landlock = 4, seccomp = 8 };

// What lies around before the cage closes.
struct Scene {
    std::string home;   // a folder, which the environment calls HOME
    std::string secret; // a file in it
    std::string spare;  // an empty folder in it

    int readable;     // the secret, opened for reading
    int writable;     // another file, opened for reading and writing
    int tcp, unix_;   // sockets that nothing was done with
    int keyboard;     // the terminal's other end, or -1
    int terminal;     // or -1
    int listener;     // takes connections at `port` of 127.0.0.1
    uint16_t port;    // in network order
    int shared;       // a segment of System V's shared memory, or -1
    int home_handle;  // the folder, opened
    pid_t victim;     // another process of the same user
    int victim_pidfd; // it again
    void *in_victim;  // a variable of it
};

// Where it should work without a cage.
enum class Outside {
    works, // everywhere
    works_as_root,
    depends // on the machine
};

struct Attempt {
    const char *name;
    unsigned held_by; // Layers, each of which is enough; 0: it takes more than one
    Outside outside;
    int (*act)(const Scene &scene); // returns 0 if it came about, or errno
};

// For GoogleTest.
inline void PrintTo(const Attempt &attempt, std::ostream *output)
{
    *output << attempt.name;
}

// A row of a table; the expression sees the scene as `s`.
#define ATTEMPT(text, layers, where, expression)                                                   \
    {                                                                                              \
        .name = text, .held_by = layers, .outside = Outside::where,                                \
        .act = []([[maybe_unused]] const Scene &s) -> int { return expression; }                   \
    }

// What a call has returned, as an Attempt returns it.
int error_of(long result);

std::vector<Attempt> attempts_at_files();
std::vector<Attempt> attempts_at_others();
std::vector<Attempt> attempts_at_the_kernel();
