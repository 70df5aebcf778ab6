// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Decides which results of a variant are compared with the plain module's before any is handed out.
// Needs no LibTorch.
#pragma once

#include "engines/torch/shape.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace engine_torch
{

// Where a run stands in the stream.
struct Turn {
    int64_t number = 0; // of its first picture
    std::optional<int64_t> predecessor =
        {};                // the number of the run before it; nullopt: it may begin at once
    bool has_more = false; // another run of the same pictures follows, as of a tile
};

// Compares the first picture of each kind.  Later runs in the stream wait for the verdict, and a
// run without one also waits until all before it have begun.  So the output depends neither on the
// number of workers nor on which of them is faster.  Every member function may be called from
// several threads at once.
class FirstFrames
{
public:
    // The last members say whether the picture is flat, which says little about later ones, and
    // whether the run has the states of another one.
    using Kind = std::tuple<int32_t, int32_t, int32_t, int32_t, bool, bool>;
    static Kind kind_of(const Shape &shape, bool is_flat, bool has_states = false)
    {
        return {shape.batch, shape.channels, shape.height, shape.width, is_flat, has_states};
    }

    // How long a run waits for one that has not begun and may never come.
    explicit FirstFrames(std::chrono::milliseconds patience = std::chrono::seconds(10))
        : patience_(patience)
    {
    }

    enum class Verdict { good, bad, to_compare, stopped };

    // One run, from its beginning to its verdict.
    class Run
    {
    public:
        Run(FirstFrames &frames, const Kind &kind, const Turn &turn);
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
        const Turn turn_;
        const std::pair<int64_t, uint64_t> place_;
    };

    // Begins a run that needs no comparison.  Returns false, and begins nothing, if it needs one or
    // if that is not known yet: use a Run then.
    bool begin_good(const Kind &kind, const Turn &turn);

    // Marks a run that is no Run, or that failed, as begun: no run waits for it any longer.
    void begin(const Turn &turn);

    // Each session holds one.  Once the last one is gone, another stream may begin.
    class Membership
    {
    public:
        explicit Membership(FirstFrames &frames);
        ~Membership();
        Membership(const Membership &) = delete;
        Membership &operator=(const Membership &) = delete;

    private:
        FirstFrames &frames_;
    };

private:
    using Place = std::pair<int64_t, uint64_t>;

    bool is_good(const Kind &kind) const;
    bool all_have_begun(std::optional<int64_t> number) const;
    bool all_are_complete(std::optional<int64_t> number) const;
    bool is_next(const Kind &kind, const Turn &turn, const Place &place) const;
    bool has_unknown_before(const Place &place) const;
    void note(const Turn &turn);
    void complete();
    void forget_stream();

    const std::chrono::milliseconds patience_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    // ---- under mutex_
    std::set<Kind> good_;
    std::optional<Place> bad_; // the first run that gave another result
    std::map<Place, Kind> under_way_;
    uint64_t runs_ = 0;
    std::optional<int64_t> complete_; // all runs up to that number have begun
    std::vector<Turn> begun_;         // those not complete, and those after them
    bool is_patient_ = true;          // false: a run has waited in vain
    size_t members_ = 0;
};

} // namespace engine_torch
