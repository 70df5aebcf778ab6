// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Runs what may never come back, with a limit.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace dnn_torch
{

// What a run of a model may take where nobody says otherwise.
constexpr std::chrono::minutes default_time_limit{10};

struct TimeLimit {
    std::chrono::microseconds most; // 0 is no limit
    std::string line;               // the text of the Error if it is exceeded
};

// While one lives, run_within() on this thread waits for that: "opening the model".
class NowDoing
{
public:
    explicit NowDoing(std::string what);
    ~NowDoing();
    NowDoing(const NowDoing &) = delete;
    NowDoing &operator=(const NowDoing &) = delete;

private:
    const std::string what_;
    const std::string *const outer_;
};

// While one lives, it hears once what run_within() waits for on this thread, if that is more than
// a second after it was made.
class LongWait
{
public:
    using Tell = std::function<void(const std::string &doing)>;
    explicit LongWait(Tell tell);
    ~LongWait();
    LongWait(const LongWait &) = delete;
    LongWait &operator=(const LongWait &) = delete;

    void note(const std::string &doing);

private:
    const Tell tell_;
    const std::chrono::steady_clock::time_point start_;
    LongWait *const outer_;
    bool is_told_ = false;
};

// Runs `work` on a thread of its own, which takes no signals, and waits for it.
// Throws what `work` throws.  Past the limit it throws Error with the limit's
// line and -ETIMEDOUT, and after a signal that ends the program with -ECANCELED: the thread is left
// to itself, so `work` must own, or share, everything that it uses.
void run_within(const TimeLimit &limit, std::function<void()> work);

// The same, for work with a result.
template <class Work> auto value_within(const TimeLimit &limit, Work work)
{
    auto result = std::make_shared<std::optional<decltype(work())>>();
    run_within(limit, [result, work = std::move(work)]() mutable { result->emplace(work()); });
    return std::move(**result);
}

// "2 s", "1.5 s".
std::string in_seconds(std::chrono::microseconds time);

} // namespace dnn_torch
