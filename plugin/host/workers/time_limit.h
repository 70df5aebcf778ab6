// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Runs work that may never return, with a time limit.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace dnn_torch
{

// The default limit of a model's run.
constexpr std::chrono::minutes default_time_limit{10};

struct TimeLimit {
    std::chrono::microseconds most; // 0 is no limit
    std::string line;               // the text of the Error if it is exceeded
};

// While one exists, names what run_within() waits for on this thread: "opening the model".
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

// While one exists, reports what run_within() waits for on this thread: once, if that is more than
// a second after it was created, and then whatever takes very long.
class LongWait
{
public:
    using Notify = std::function<void(const std::string &doing)>;
    explicit LongWait(Notify notify,
                      std::chrono::milliseconds very_long = std::chrono::seconds(10));
    ~LongWait();
    LongWait(const LongWait &) = delete;
    LongWait &operator=(const LongWait &) = delete;

    void note(const std::string &doing);

private:
    const Notify notify_;
    const std::chrono::milliseconds very_long_;
    const std::chrono::steady_clock::time_point start_;
    LongWait *const outer_;
    std::string doing_, told_;
    std::chrono::steady_clock::time_point began_ = {}; // to do that
};

// Runs `work` on a separate thread, which receives no signals, and waits for it.  Throws what
// `work` throws.  Throws Error with the limit's line and -ETIMEDOUT past the limit, and with
// -ECANCELED after a signal that ends the program.  The thread is then abandoned, so `work` must
// own or share everything that it uses.
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
