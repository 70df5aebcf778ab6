// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What a kind of input brings to be fuzzed: one file that defines `target`, and one
// row in meson.build.
#pragma once

#include "random.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz
{

enum class Ending : uint8_t {
    accepted,
    refused,      // in words, as it should be
    fault,        // what must never happen
    out_of_memory // while the input was only read
};

struct Outcome {
    Ending ending = Ending::refused;
    uint64_t digest = 0; // of what came of an accepted input
    // The refusal's message; of a fault, what is wrong: the same words for the same fault.
    std::string words;
};

// Damage leaves check sums as they were; rewriting makes them fit again.
enum class Family : uint8_t { damage, rewriting };

using Inputs = std::vector<std::string>;

struct Target {
    const char *name;
    // Once, before anything is forked; no thread of its own may be left running.
    void (*prepare)(const Inputs &seeds);
    // In a child, whose working folder is empty and its own.  May crash, hang and swallow memory.
    Outcome (*run)(std::string_view input);
    // Makes one change to an input, and says which.
    std::string (*change)(std::string &input, Family family, Random &random, const Inputs &seeds);
    // Whether a damaged input is refused or gives just what its seed gives.
    bool damage_must_show;
    double seconds;       // of the processor's time that one input may take
    uint64_t memory;      // bytes that a child may have more than the parent
    size_t inputs_a_fork; // what a child leaks, it leaks for so long
    // What all there is to fuzz, a line each, after prepare().
    std::string (*inventory)() = nullptr;
};

// The one of this program.
extern const Target target;

// Says that from here on the input has been let in and does what it says: it may then
// take as long and as much as it likes, for whoever runs it has limits for that.
void input_runs(bool runs);

// Says what a crash from here on is a crash of.
void input_is_about(std::string_view subject);

} // namespace fuzz
