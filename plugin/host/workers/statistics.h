// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Measures where the time of a filter goes.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace dnn_torch
{

using Clock = std::chrono::steady_clock;

// Seconds that a worker spends on one job.
struct StageSeconds {
    double convert_in = 0, forward = 0, convert_out = 0;
    double sum() const { return convert_in + forward + convert_out; }
    void add(const StageSeconds &other)
    {
        convert_in += other.convert_in;
        forward += other.forward;
        convert_out += other.convert_out;
    }
};

// Adds its lifetime to `seconds`.
class Stopwatch
{
public:
    explicit Stopwatch(double &seconds) : seconds_(seconds), start_(Clock::now()) {}
    ~Stopwatch() { seconds_ += std::chrono::duration<double>(Clock::now() - start_).count(); }
    Stopwatch(const Stopwatch &) = delete;
    Stopwatch &operator=(const Stopwatch &) = delete;

private:
    double &seconds_;
    Clock::time_point start_;
};

// A histogram of times from a microsecond to an hour, in steps of 2 %.
class Latencies
{
public:
    void add(double seconds);
    double mean() const;
    double max() const { return max_; }
    // Returns the time that the given share (0.99) of all does not exceed; 0 if there are none.
    double quantile(double share) const;

private:
    static constexpr size_t bucket_count = 1112;
    std::array<size_t, bucket_count> buckets_{};
    size_t count_ = 0;
    double sum_ = 0, max_ = 0;
};

// What became of a frame.
enum class Fate {
    ran,    // the model has made its result
    passed, // it went out without one
    reused, // with the result of an earlier frame
    dropped,
    hidden, // filled
};
const char *name_of(Fate fate);

// How frames of a filter with a deadline left it.
struct Lateness {
    double deadline = 0;          // seconds; 0: there is none
    std::array<size_t, 5> late{}; // frames, by their Fate
    size_t missed = 0;            // frames that left more than 5 ms after the deadline
    double age_mean = 0;          // of reused results, in frames
    int64_t age_max = 0;
    // The N of every=auto, and how often it changed.  0: N is not chosen.
    int every = 0, largest_every = 0;
    size_t every_changes = 0;

    size_t count(Fate fate) const { return late[static_cast<size_t>(fate)]; }
};

enum class Limit { model, conversion, decoding, encoding };
const char *name_of(Limit limit);

// The statistics at some moment.
struct Summary {
    size_t frames;
    double seconds, frames_per_second;
    // Of a frame, from its arrival to its output.
    double latency_mean, latency_50, latency_95, latency_99, latency_max;
    double wait; // the part of that mean in which no worker has the frame
    StageSeconds per_frame;
    double upstream, downstream, workers; // shares of time: what the filter's thread waited for
    double busy;                          // share of time in which workers worked
    Limit limit;
    size_t retries, passed;       // runs retried in a new process; frames passed without the model
    double operations_per_second; // of the model, from the first frame on; 0: not known
    double share_of_peak;         // of the cores that the workers have; 0: not known
    Lateness lateness;
};

// Belongs to the filter's thread.
class Statistics
{
public:
    explicit Statistics(size_t workers) : workers_(workers) {}

    // Sets the number of workers from now on.
    void use_workers(size_t workers) { workers_ = workers; }

    // Records that the workers finished a job of that many frames.
    void add_job(const StageSeconds &stages, size_t frames, double operations = 0);
    // Records that the model's process ended: so many runs were retried, and so many frames passed
    // without the model.
    void add_crash(size_t retries, size_t passed);
    // Records the output of a frame that came in at `arrival`; its job took `job_seconds`.
    void add_frame(Clock::time_point arrival, double job_seconds,
                   Clock::time_point now = Clock::now());

    // Sets the deadline of frames from now on.
    void set_deadline(double seconds) { lateness_.deadline = seconds; }
    // Records that a frame was late, and what became of it.
    void add_late(Fate fate) { lateness_.late[static_cast<size_t>(fate)]++; }
    // Records that N of every=auto is 1, unless it has a value already; and that it changed.
    void choose_every();
    void set_every(int every);
    // Records that a frame got the result of an earlier one, so many frames before.
    void add_age(int64_t frames);

    // Record that the filter's thread begins or ends its turn; `sent`: whether a frame went out.
    void enter(Clock::time_point now = Clock::now());
    void leave(bool sent, Clock::time_point now = Clock::now());

    // For a Stopwatch that runs while the filter's thread waits for a worker.
    double &waiting_for_workers() { return workers_seconds_; }

    Summary summary() const;

private:
    Limit limit(const Summary &known) const;

    size_t workers_;
    size_t frames_ = 0, retries_ = 0, passed_ = 0;
    double operations_ = 0;
    Clock::time_point first_{}, last_{}, left_{};
    bool started_ = false, sent_ = false;
    StageSeconds stages_;
    Latencies latencies_;
    double waited_ = 0;
    Lateness lateness_;
    size_t reused_ = 0;
    double ages_ = 0; // their sum
    double upstream_seconds_ = 0, downstream_seconds_ = 0, workers_seconds_ = 0;
};

// "96 frames in 4.210 s, 22.80 fps, ..." for the log.
std::string to_line(const Summary &summary);

nlohmann::ordered_json json_of(const Summary &summary);

} // namespace dnn_torch
