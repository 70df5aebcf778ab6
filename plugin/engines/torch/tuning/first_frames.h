// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Which results of a form are compared with the plain module's before any is
// given out.  Needs no LibTorch.
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

// Of each kind of picture the earliest of those under way is compared, and all
// others wait for what comes of it: so the same pictures come out for any number of
// workers.  Every member function may be called from several threads at once.
class FirstFrames
{
public:
    // Pictures without anything in them tell little of those to come.
    using Kind = std::tuple<int32_t, int32_t, int32_t, int32_t, bool>;
    static Kind kind_of(const Shape &shape, bool is_flat)
    {
        return {shape.batch, shape.channels, shape.height, shape.width, is_flat};
    }

    enum class Verdict { good, bad, to_compare, stopped };

    // One run, from before its beginning to its verdict.
    class Run
    {
    public:
        Run(FirstFrames &frames, const Kind &kind, int64_t number);
        // Without a verdict another run has to be compared.
        ~Run();
        Run(const Run &) = delete;
        Run &operator=(const Run &) = delete;

        // Waits for it, but ends soon after `stopped` was set.
        Verdict verdict(const std::atomic<bool> &stopped);

        // After to_compare.
        void decide(bool is_good);

    private:
        FirstFrames &frames_;
        const Kind kind_;
        const std::pair<int64_t, uint64_t> place_;
    };

    // Whether pictures of that kind need no comparison any more.
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
