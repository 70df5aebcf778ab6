// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Numbers that are the same everywhere for the same seed; the distributions of the
// standard library are not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace fuzz
{

// Belongs to one thread.
class Random
{
public:
    explicit Random(uint64_t seed) : state_(seed) {}

    // SplitMix64: any seed is as good as any other.
    uint64_t next()
    {
        uint64_t mixed = state_ += 0x9e3779b97f4a7c15U;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9U;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
        return mixed ^ (mixed >> 31);
    }

    // From 0 to count - 1; 0 where count is 0.
    size_t below(size_t count) { return count ? static_cast<size_t>(next() % count) : 0; }

    bool one_in(size_t count) { return below(count) == 0; }

    // One element of a container that has some.
    template <class Container> auto &pick(Container &&container)
    {
        return container[below(std::size(container))];
    }

    // Mostly small, at times as large as that; at least 1.
    size_t length(size_t most)
    {
        const size_t limit = one_in(4) ? most : most < 8 ? most : 8;
        return 1 + below(limit);
    }

private:
    uint64_t state_;
};

} // namespace fuzz
