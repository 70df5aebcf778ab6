// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Decides which results of a variant are compared with the plain module's before any is handed out.
// Needs no LibTorch.
#pragma once

#include "engines/torch/shape.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

namespace engine_torch
{

// Compares the earliest picture of each kind that is being worked on.  All others wait for the
// verdict, so the output does not depend on the number of workers.  Every member function may be
// called from several threads at once.
class FirstFrames
{
public:
    // The last member says whether the picture is flat: flat pictures tell little of later ones.
    using Kind = std::tuple<int32_t, int32_t, int32_t, int32_t, bool>;
    static Kind kind_of(const Shape &shape, bool is_flat)
    {
        return {shape.batch, shape.channels, shape.height, shape.width, is_flat};
    }

    enum class Verdict { good, bad, to_compare, stopped };

    // One run, from its beginning to its verdict.
    class Run
    {
    public:
        Run(FirstFrames &frames, const Kind &kind, int64_t number);
        // If there is no verdict yet, another run has to be compared.
        ~Run();
        Run(const Run &) = delete;
        Run &operator=(const Run &) = delete;

        // Waits for the verdict, but ends soon after `stopped` was set.
        Verdict verdict(const std::atomic<bool> &stopped);

        // Call it after verdict() returned to_compare.
        void decide(bool is_good);

    private:
        FirstFrames &frames_;
        const Kind kind_;
        const std::pair<int64_t, uint64_t> place_;
    };

    // Whether pictures of that kind need no further comparison.
    bool are_good(const Kind &kind) const;

private:
    mutable std::mutex mutex_;
    std::condition_variable decided_;
    // ---- under mutex_
    std::set<Kind> good_;
    bool bad_ = false;
    std::map<Kind, std::set<std::pair<int64_t, uint64_t>>> under_way_;
    uint64_t runs_ = 0;
};

} // namespace engine_torch
