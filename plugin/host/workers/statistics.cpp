// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "statistics.h"

#include "base/compose.h"
#include "base/json.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace dnn_torch
{
namespace
{

constexpr double smallest = 1e-6, step = 1.02; // seconds; the ratio of neighbouring buckets

double seconds_between(Clock::time_point from, Clock::time_point to)
{
    return std::chrono::duration<double>(to - from).count();
}

double divide(double value, double by)
{
    return by > 0 ? value / by : 0;
}

template <class... Arguments> std::string print(const char *format, Arguments... arguments)
{
    char text[768];
    snprintf(text, sizeof(text), format, arguments...);
    return text;
}

} // namespace

// ---- latencies --------------------------------------------------------------

void Latencies::add(double seconds)
{
    double bucket = std::log(std::max(seconds / smallest, 1.0)) / std::log(step);
    buckets_[std::min(static_cast<size_t>(bucket), bucket_count - 1)]++;
    count_++;
    sum_ += seconds;
    max_ = std::max(max_, seconds);
}

double Latencies::mean() const
{
    return divide(sum_, static_cast<double>(count_));
}

double Latencies::quantile(double share) const
{
    double wanted = share * static_cast<double>(count_);
    size_t below = 0;
    for (size_t i = 0; count_ && i < bucket_count; i++) {
        below += buckets_[i];
        if (static_cast<double>(below) >= wanted)
            return std::min(max_, smallest * std::pow(step, static_cast<double>(i) + 0.5));
    }
    return 0;
}

// ---- what comes in ------------------------------------------------------------

void Statistics::add_job(const StageSeconds &stages, size_t frames, double operations)
{
    operations_ += operations;
    stages_.convert_in += stages.convert_in;
    stages_.forward += stages.forward;
    stages_.convert_out += stages.convert_out;
    frames_ += frames;
}

void Statistics::add_crash(size_t retries, size_t passed)
{
    retries_ += retries;
    passed_ += passed;
}

void Statistics::add_frame(Clock::time_point arrival, double job_seconds, Clock::time_point now)
{
    if (!started_) {
        started_ = true;
        first_ = arrival;
    }
    last_ = now;
    double latency = seconds_between(arrival, last_);
    constexpr double tolerance = 5e-3;
    if (lateness_.deadline > 0 && latency > lateness_.deadline + tolerance)
        lateness_.missed++;
    latencies_.add(latency);
    waited_ += std::max(latency - job_seconds, 0.0);
}

void Statistics::add_age(int64_t frames)
{
    reused_++;
    ages_ += static_cast<double>(frames);
    lateness_.age_max = std::max(lateness_.age_max, frames);
}

void Statistics::choose_every()
{
    if (lateness_.every == 0)
        lateness_.every = lateness_.largest_every = 1;
}

void Statistics::set_every(int every)
{
    lateness_.every = every;
    lateness_.largest_every = std::max(lateness_.largest_every, every);
    lateness_.every_changes++;
}

// The time between two turns is spent downstream if we sent a frame, and otherwise upstream, where
// we requested one.
void Statistics::enter(Clock::time_point now)
{
    if (left_ != Clock::time_point{})
        (sent_ ? downstream_seconds_ : upstream_seconds_) += seconds_between(left_, now);
}

void Statistics::leave(bool sent, Clock::time_point now)
{
    left_ = now;
    sent_ = sent;
}

// ---- what comes out -----------------------------------------------------------

Summary Statistics::summary() const
{
    auto count = static_cast<double>(frames_);
    Summary known{};
    known.frames = frames_;
    known.seconds = started_ ? seconds_between(first_, last_) : 0;
    known.frames_per_second = divide(count, known.seconds);
    known.latency_mean = latencies_.mean();
    known.latency_50 = latencies_.quantile(0.5);
    known.latency_95 = latencies_.quantile(0.95);
    known.latency_max = latencies_.max();
    known.lateness = lateness_;
    known.lateness.age_mean = divide(ages_, static_cast<double>(reused_));
    known.latency_99 = latencies_.quantile(0.99);
    known.wait = divide(waited_, count);
    known.per_frame = {divide(stages_.convert_in, count), divide(stages_.forward, count),
                       divide(stages_.convert_out, count)};
    known.upstream = divide(upstream_seconds_, known.seconds);
    known.downstream = divide(downstream_seconds_, known.seconds);
    known.workers = divide(workers_seconds_, known.seconds);
    known.busy = divide(stages_.sum(), known.seconds * static_cast<double>(workers_));
    known.limit = limit(known);
    known.retries = retries_;
    known.passed = passed_;
    known.operations_per_second = divide(operations_, known.seconds);
    return known;
}

// If workers are hardly ever idle, they are the limit, whatever the filter's thread waits for.
Limit Statistics::limit(const Summary &known) const
{
    constexpr double hardly_idle = 0.85;
    bool by_workers =
        known.busy >= hardly_idle || known.workers >= std::max(known.upstream, known.downstream);
    if (!by_workers)
        return known.upstream >= known.downstream ? Limit::decoding : Limit::encoding;
    bool converts = stages_.convert_in + stages_.convert_out > stages_.forward;
    return converts ? Limit::conversion : Limit::model;
}

const char *name_of(Fate fate)
{
    constexpr const char *names[] = {"ran", "pass", "last", "drop", "hide"};
    return names[static_cast<size_t>(fate)];
}

const char *name_of(Limit limit)
{
    switch (limit) {
    case Limit::conversion:
        return "conversion";
    case Limit::decoding:
        return "decoding";
    case Limit::encoding:
        return "encoding";
    default:
        return "the model";
    }
}

// Returns an empty text if the model's operations are not known.
std::string operations_of(const Summary &known)
{
    if (!(known.operations_per_second > 0))
        return "";
    const std::string rate = print("; %.1f GFLOP/s", known.operations_per_second / 1e9);
    if (!(known.share_of_peak > 0))
        return rate;
    return rate + print(", %.0f %% of the cores' peak in fp32", known.share_of_peak * 100);
}

// Returns an empty text if there was no crash.
std::string crashes_of(const Summary &known)
{
    if (!known.retries)
        return "";
    return concat("; ", counted(known.retries, "run was", "runs were"),
                  " tried again in a new process, ", counted(known.passed, "frame"),
                  " passed without the model");
}

// Returns an empty text if there is no deadline.
std::string lateness_of(const Lateness &known)
{
    if (!(known.deadline > 0))
        return "";
    std::string line = print("; deadline %.0f ms, %s after it; late:", known.deadline * 1e3,
                             counted(known.missed, "frame").c_str());
    for (const Fate fate : {Fate::passed, Fate::reused, Fate::dropped, Fate::hidden})
        line += concat(fate == Fate::passed ? " " : ", ", known.count(fate), " ", name_of(fate));
    return known.every ? concat(line, "; every=", known.every, " at last") : line;
}

std::string to_line(const Summary &known)
{
    return print("%s in %.3f s, %.2f fps; latency %.1f ms, 99 %% within %.1f ms; a frame: "
                 "wait %.2f, convert in %.2f, model %.2f, convert out %.2f ms; workers busy "
                 "%.0f %%; limited by %s",
                 counted(known.frames, "frame").c_str(), known.seconds, known.frames_per_second,
                 known.latency_mean * 1e3, known.latency_99 * 1e3, known.wait * 1e3,
                 known.per_frame.convert_in * 1e3, known.per_frame.forward * 1e3,
                 known.per_frame.convert_out * 1e3, std::min(known.busy, 1.0) * 100,
                 name_of(known.limit)) +
           operations_of(known) + crashes_of(known) + lateness_of(known.lateness);
}

// Returns null if there is nothing to tell: replies to commands are short.
json::Value json_of(const Lateness &known)
{
    if (!(known.deadline > 0) && known.age_max == 0 && known.count(Fate::hidden) == 0)
        return {};
    json::Value all = {{"deadline_ms", json::rounded(known.deadline * 1e3, 3)},
                       {"missed", known.missed}};
    for (const Fate fate : {Fate::passed, Fate::reused, Fate::dropped, Fate::hidden})
        all[name_of(fate)] = known.count(fate);
    all["age"] = {{"mean", json::rounded(known.age_mean, 3)}, {"max", known.age_max}};
    if (known.every != 0)
        all["every"] = {
            {"now", known.every}, {"max", known.largest_every}, {"changes", known.every_changes}};
    return all;
}

json::Value json_of(const Summary &known)
{
    auto milliseconds = [](double seconds, int decimals) {
        return json::rounded(seconds * 1e3, decimals);
    };
    auto number_or_null = [](double number, int decimals) {
        return number > 0 ? json::rounded(number, decimals) : json::Value();
    };
    return {
        {"frames", known.frames},
        {"seconds", json::rounded(known.seconds, 6)},
        {"fps", json::rounded(known.frames_per_second, 4)},
        {"latency_ms",
         {{"mean", milliseconds(known.latency_mean, 3)},
          {"p50", milliseconds(known.latency_50, 3)},
          {"p95", milliseconds(known.latency_95, 3)},
          {"p99", milliseconds(known.latency_99, 3)},
          {"max", milliseconds(known.latency_max, 3)}}},
        {"frame_ms",
         {{"wait", milliseconds(known.wait, 4)},
          {"convert_in", milliseconds(known.per_frame.convert_in, 4)},
          {"forward", milliseconds(known.per_frame.forward, 4)},
          {"convert_out", milliseconds(known.per_frame.convert_out, 4)}}},
        {"waited_for",
         {{"upstream", json::rounded(known.upstream, 4)},
          {"downstream", json::rounded(known.downstream, 4)},
          {"workers", json::rounded(known.workers, 4)}}},
        {"workers_busy", json::rounded(known.busy, 4)},
        {"limit", name_of(known.limit)},
        {"late", json_of(known.lateness)},
        {"retries", known.retries},
        {"passed", known.passed},
        {"gflops", number_or_null(known.operations_per_second / 1e9, 2)},
        {"share_of_peak", number_or_null(known.share_of_peak, 4)},
    };
}

} // namespace dnn_torch
