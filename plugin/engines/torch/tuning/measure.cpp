// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "measure.h"

#include "base/thread_time.h"
#include "engine_kit/block_cache.h"
#include "engines/torch/failure.h"
#include "engines/torch/machine/device.h"
#include "engines/torch/machine/operation_count.h"
#include "trial.h"

#include <algorithm>
#include <ATen/core/Tensor.h>
#include <chrono>
#include <cmath>

namespace engine_torch
{
namespace
{

// Networks that halve their pictures several times need sides that are multiples of a power of two.
constexpr int32_t side_step = 64;
constexpr int32_t smallest_side = 64, first_width = 256, smallest_width = 128, smallest_height = 64;
constexpr int fewest_rounds = 2, most_rounds = 15;
// A candidate that is slower than the fastest by this factor is not timed again.
constexpr double hopeless = 1.5;
// The plain module runs once, and may take as long as this many runs of the others.
constexpr double plain_runs = 2;

// A processor's time is this thread's own: which variant is the fastest must not depend on what
// else the machine does meanwhile, for it is remembered.
double work_seconds(const at::Device &device)
{
    if (!device.is_cpu())
        return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
    return dnn_torch::thread_seconds();
}

class Meter
{
public:
    Meter(std::vector<TriedVariant> &candidates, const Source &source, const Shape &shape,
          double budget_seconds)
        : candidates_(candidates), source_(source), shape_(shape), budget_seconds_(budget_seconds)
    {
    }

    Compared measure()
    {
        if (estimate(part_within(smallest_side)) && is_slow())
            return compare_once();
        if (!estimate(part_within(first_width)) && !estimate(shape_))
            return Compared::not_at_all;
        if (!choose_part())
            return Compared::not_at_all;
        const at::Tensor images = on_device(part_);
        compare_results(images);
        forget_estimates();
        double longest_round = 0;
        for (int round = 0; round < most_rounds; round++) {
            if (round >= fewest_rounds && seconds_since(start_) + longest_round > budget_seconds_)
                break;
            const auto start = Clock::now();
            time_all(images, round < fewest_rounds);
            longest_round = std::max(longest_round, seconds_since(start));
        }
        return compared();
    }

private:
    // Copies the pictures to the device beforehand, because a session's frames are there already
    // when the model runs.
    at::Tensor on_device(const Shape &shape) const
    {
        return test_picture(shape).to(source_.device);
    }

    Shape part_within(int32_t width) const
    {
        if (shape_.height <= smallest_height && shape_.width <= width)
            return shape_;
        return shape_.sized(1, std::min(shape_.height, smallest_height),
                            std::min(shape_.width, width));
    }

    // Whether nothing larger than the part could be run by all candidates in time.
    bool is_slow() const
    {
        const double for_part = estimated_seconds_ * pixels_of(part_) / pixels_of(shape_);
        return runs_of_all() * for_part > budget_seconds_ - seconds_since(start_);
    }

    double runs_of_all() const
    {
        return static_cast<double>(candidates_.size()) * (1 + fewest_rounds) + plain_runs;
    }

    // One run each distinguishes candidates that differ much.  It costs little next to one frame of
    // such a model.
    Compared compare_once()
    {
        const at::Tensor images = on_device(part_);
        for (TriedVariant &candidate : candidates_) {
            const bool is_first = &candidate == &candidates_.front();
            if (!is_first && seconds_since(start_) > budget_seconds_)
                break;
            if (!is_first)
                run(candidate, images);
            candidate.is_compared = true;
        }
        return compared();
    }

    Compared compared() const
    {
        return pixels_of(part_) < pixels_of(shape_) ? Compared::with_parts
                                                    : Compared::with_whole_pictures;
    }

    // Estimates the first candidate's time for that part.  Returns false if it does not take the
    // part.
    bool estimate(const Shape &part)
    {
        part_ = part;
        estimated_seconds_ = INFINITY;
        try {
            const at::Tensor images = on_device(part);
            estimate_with(images);
            takes_parts_ = pixels_of(part) < pixels_of(shape_);
            if (seconds_since(start_) < budget_seconds_)
                estimate_with(images);
            return true;
        } catch (const std::exception &error) {
            if (is_out_of_memory(error))
                throw;
            return false;
        }
    }

    // The budget is time that passes, also if other programs have the processors.
    void estimate_with(const at::Tensor &images)
    {
        const auto start = Clock::now();
        run(candidates_.front(), images);
        const double seconds = seconds_since(start) * pixels_of(shape_) / pixels_of(part_);
        estimated_seconds_ = std::min(estimated_seconds_, seconds);
    }

    // Chooses the largest part that all candidates can run on often enough.  Returns false if there
    // is none.
    bool choose_part()
    {
        const double left_seconds = budget_seconds_ - seconds_since(start_);
        const double share = left_seconds / (runs_of_all() * estimated_seconds_);
        if (share >= 1)
            part_ = shape_;
        else if (!takes_parts_)
            return false;
        else
            part_ = part_of(pixels_of(shape_) * share);
        return part_.width > 0;
    }

    // Keeps the real width if possible, because operators go through rows.  The width is 0 if there
    // is no such part.
    Shape part_of(double pixels) const
    {
        const auto steps = [](double extent) {
            return static_cast<int32_t>(extent / side_step) * side_step;
        };
        const int32_t height = std::min(shape_.height, smallest_height);
        const int32_t width = std::min(shape_.width, steps(pixels / height));
        if (width < std::min(shape_.width, smallest_width))
            return shape_.sized(1, height, 0);
        return shape_.sized(1, std::min(shape_.height, std::max(height, steps(pixels / width))),
                            width);
    }

    // This is also each candidate's first run on a picture of that size, which takes longer.
    void compare_results(const at::Tensor &images)
    {
        const Variant plain = plain_variant(source_);
        const OperationCount count;
        const c10::IValue expected = run_as(plain, source_, images);
        const double operations = count.operations() * pixels_of(shape_) / pixels_of(part_);
        for (TriedVariant &candidate : candidates_) {
            candidate.operations = operations;
            const c10::IValue result = run_as(candidate.variant, source_, images);
            candidate.differs = !is_close(expected, result, candidate.variant, source_);
            candidate.decibel = psnr_decibel(expected, result, shape_.range());
        }
    }

    void forget_estimates()
    {
        for (TriedVariant &candidate : candidates_)
            candidate.seconds = 0;
    }

    void time_all(const at::Tensor &images, bool hopeless_too)
    {
        double fastest = INFINITY;
        for (const TriedVariant &candidate : candidates_)
            if (candidate.is_compared)
                fastest = std::min(fastest, candidate.seconds);
        for (TriedVariant &candidate : candidates_)
            if (!candidate.differs && (hopeless_too || candidate.seconds <= hopeless * fastest)) {
                run(candidate, images);
                candidate.is_compared = true;
            }
    }

    // Keeps the shortest time, because a disturbance makes a run longer.
    void run(TriedVariant &candidate, const at::Tensor &images)
    {
        const double parts = pixels_of(shape_) / pixels_of(part_);
        const PeakScope peak;
        const double start = work_seconds(source_.device);
        run_as(candidate.variant, source_, images);
        wait_for(source_.device);
        const double seconds = (work_seconds(source_.device) - start) * parts;
        candidate.seconds = candidate.seconds > 0 ? std::min(candidate.seconds, seconds) : seconds;
        candidate.bytes = std::llround(static_cast<double>(peak.peak_bytes()) * parts);
    }

    std::vector<TriedVariant> &candidates_;
    const Source &source_;
    const Shape shape_;
    const double budget_seconds_;
    const Clock::time_point start_ = Clock::now();
    Shape part_ = {};
    double estimated_seconds_ = INFINITY; // of the first candidate, for the whole shape
    bool takes_parts_ = false;            // the model takes pictures of other sizes
};

} // namespace

double seconds_since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

double pixels_of(const Shape &shape)
{
    return static_cast<double>(shape.batch) * shape.height * shape.width;
}

Compared measure(std::vector<TriedVariant> &candidates, const Source &source, const Shape &shape,
                 double budget_seconds)
{
    return Meter(candidates, source, shape, budget_seconds).measure();
}

} // namespace engine_torch
