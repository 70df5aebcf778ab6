// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Workers side by side, each on a thread of its own.  They run until all have
// counted: one whose neighbours are done would have the machine for itself.
#pragma once

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

class Race
{
public:
    Race(int workers, int warm_up_runs, double seconds)
        : workers_(workers), warm_up_runs_(warm_up_runs), seconds_(seconds)
    {
    }

    // `make` returns, on the thread that is to work, an object whose run() takes one
    // frame through.  Throws the text of a worker's failure.
    template <class Make> double frames_per_second(const Make &make)
    {
        std::vector<double> rates(static_cast<size_t>(workers_));
        std::vector<std::thread> threads;
        for (double &rate : rates)
            threads.emplace_back([this, &make, &rate] { rate = work(make); });
        for (std::thread &thread : threads)
            thread.join();
        if (!failure_.empty())
            throw std::runtime_error(failure_);
        double sum = 0;
        for (const double rate : rates)
            sum += rate;
        return sum;
    }

private:
    template <class Make> double work(const Make &make)
    {
        try {
            auto worker = make();
            return count(worker);
        } catch (const std::exception &error) {
            if (!failed_.exchange(true))
                failure_ = error.what();
            return 0;
        }
    }

    template <class Worker> double count(Worker &worker)
    {
        using Clock = std::chrono::steady_clock;
        for (int i = 0; i < warm_up_runs_; i++)
            worker.run();
        warm_++;
        while (warm_ < workers_ && !failed_)
            std::this_thread::yield();
        const Clock::time_point start = Clock::now();
        std::chrono::duration<double> elapsed{};
        int runs = 0;
        do {
            worker.run();
            runs++;
            elapsed = Clock::now() - start;
        } while (elapsed.count() < seconds_);
        counted_++;
        while (counted_ < workers_ && !failed_)
            worker.run();
        return runs / elapsed.count();
    }

    const int workers_, warm_up_runs_;
    const double seconds_;
    std::atomic<int> warm_{0}, counted_{0};
    std::atomic<bool> failed_{false};
    std::string failure_;
};
