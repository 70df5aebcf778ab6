// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "latency_goal.h"

#include "base/compose.h"
#include "host/tasks/frame_gatherer.h"
#include "host/tasks/sample_gathering.h"

#include <algorithm>
#include <cstdio>
#include <limits>

namespace dnn_torch
{
namespace
{

// The first run is slower.
double time_run(const std::shared_ptr<const TaskPlan> &plan, const FrameItem &frame)
{
    constexpr int runs = 4;
    const std::unique_ptr<TaskSession> session = plan->open_session();
    double shortest = std::numeric_limits<double>::max();
    for (int number = 0; number < runs; number++) {
        FrameGatherer gatherer;
        gatherer.add(new_reference(frame), plan);
        gatherer.flush();
        const std::unique_ptr<FrameJob> job = gatherer.next();
        const Clock::time_point start = Clock::now();
        session->run(*job);
        if (number > 0)
            shortest =
                std::min(shortest, std::chrono::duration<double>(Clock::now() - start).count());
    }
    return shortest;
}

std::string in_words(const std::vector<RunTime> &times)
{
    std::string words;
    for (const RunTime &time : times) {
        char text[64];
        snprintf(text, sizeof(text), "%.1f ms with %s", time.seconds * 1e3,
                 counted(time.threads, "thread").c_str());
        add_to_list(words, text, ", ");
    }
    return words;
}

} // namespace

std::vector<RunTime> time_runs(const std::shared_ptr<TaskPlan> &plan, const FrameItem &frame,
                               size_t most_threads, double seconds)
{
    std::vector<RunTime> times;
    if (frame.bypass || !plan->surely_runs(frame) || plan->rate.num != 0)
        return times;
    const Clock::time_point start = Clock::now();
    for (size_t threads = most_threads; threads > 0; threads /= 2) {
        if (std::chrono::duration<double>(Clock::now() - start).count() >= seconds)
            break;
        plan->threads = static_cast<int>(threads);
        times.push_back({.threads = threads, .seconds = time_run(plan, frame)});
    }
    return times;
}

// A model that cannot keep up gets the workers that make most frames: with fewer, each frame would
// wait longer than the one before it.
LatencyChoice choose_for_latency(const CoreRequest &requested, const std::vector<RunTime> &times,
                                 double interval)
{
    constexpr double margin = 1.25;
    LatencyChoice choice = {.cores = requested, .note = ""};
    const auto shortest =
        std::min_element(times.begin(), times.end(), [](const RunTime &one, const RunTime &other) {
            return one.seconds < other.seconds;
        });
    const bool is_known = shortest != times.end() && interval > 0;
    const bool keeps_up = !is_known || shortest->seconds < interval;
    if (keeps_up && requested.workers == 0)
        choice.cores.workers = 1;
    if (keeps_up && requested.threads == 0 && shortest != times.end())
        choice.cores.threads = shortest->threads;
    choice.one_at_a_time = is_known && requested.workers <= 1 && requested.in_flight == 0 &&
                           shortest->seconds * margin < interval;
    if (choice.one_at_a_time)
        choice.cores.in_flight = 1;
    if (!times.empty())
        choice.note = concat("a frame takes ", in_words(times),
                             choice.one_at_a_time ? "; frames are made one by one"
                             : keeps_up           ? ""
                                        : "; that is longer than until the next frame, so "
                                          "workers share the frames");
    return choice;
}

} // namespace dnn_torch
