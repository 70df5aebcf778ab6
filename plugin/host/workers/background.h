// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Runs work on a separate thread, which receives no signals.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

namespace dnn_torch
{

// Belongs to one thread.
class Background
{
public:
    // Throws Error if no thread can be started.
    explicit Background(std::function<void()> work);
    // Detaches the thread if it is not done, so `work` must own or share everything that it uses.
    ~Background();
    Background(const Background &) = delete;
    Background &operator=(const Background &) = delete;

    bool is_done() const;
    // Waits for at most that time until is_done(), and returns it.
    bool wait_for(std::chrono::steady_clock::duration most) const;

    // Throws what the work threw.  May be called only once the work is done.
    void finish();

private:
    struct Run;
    static void perform(const std::shared_ptr<Run> &run);

    std::shared_ptr<Run> run_;
    std::thread thread_;
};

// The same, for work with a result.
template <class Value> class BackgroundValue
{
public:
    template <class Work>
    explicit BackgroundValue(Work work)
        : background_(
              [value = value_, work = std::move(work)]() mutable { value->emplace(work()); })
    {
    }

    bool is_done() const { return background_.is_done(); }

    // Throws what the work threw.  May be called only once, after the work is done.
    Value take()
    {
        background_.finish();
        return std::move(**value_);
    }

private:
    std::shared_ptr<std::optional<Value>> value_ = std::make_shared<std::optional<Value>>();
    Background background_;
};

} // namespace dnn_torch
