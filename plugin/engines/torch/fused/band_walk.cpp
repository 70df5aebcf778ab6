// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "band_walk.h"

#include "rounding.h"

#include <algorithm>
#include <limits>
#include <variant>

namespace engine_torch::fused
{
namespace
{

constexpr int64_t no_aim = std::numeric_limits<int64_t>::min();

// The first row of one of its inputs that a stage needs to go on from row `next`.
int64_t first_needed(const Stage &stage, TensorId input, int64_t next)
{
    int64_t first = next; // the tail needs the same row
    if (std::count(stage.inputs.begin(), stage.inputs.end(), input)) {
        const int64_t needed = rows_needed(stage.core, {next, next + 1}).first;
        const bool tail_too = std::any_of(stage.tail.begin(), stage.tail.end(), [&](auto &step) {
            const auto *binary = std::get_if<BinaryWith>(&step);
            return binary && binary->other == input;
        });
        first = tail_too ? std::min(first, needed) : needed;
    }
    return first;
}

} // namespace

Links::Links(const StageList &list) : maker(list.tensors.size()), readers(list.tensors.size())
{
    for (size_t stage = 0; stage < list.stages.size(); stage++) {
        maker[list.stages[stage].output] = stage;
        for (const TensorId tensor : tensors_read(list.stages[stage]))
            readers[tensor].push_back(stage);
    }
}

bool Links::is_read_outside(TensorId tensor, StageRange range) const
{
    return !readers[tensor].empty() && !range.contains(readers[tensor].back());
}

BandWalk::BandWalk(const StageList &list, const Links &links, const std::vector<Buffer> &buffers,
                   const std::vector<int64_t> &rows_at_once, StageRange range)
    : list_(list), links_(links), buffers_(buffers), rows_at_once_(rows_at_once), range_(range),
      aims_(list.tensors.size()), done_(list.tensors.size()), most_rows_(list.tensors.size())
{
}

std::vector<Step> BandWalk::walk(int64_t band_rows)
{
    std::vector<Step> steps;
    const int64_t height = last_height();
    const int64_t band =
        band_rows ? std::max<int64_t>(1, band_rows * height / tallest_convolution()) : height;
    std::fill(done_.begin(), done_.end(), 0);
    // Padding rows of zeros exist from the beginning, even if some of them are no longer needed
    // when the first row is made.
    for (size_t stage = range_.first; stage < range_.end; stage++)
        most_rows_[list_.stages[stage].output] = buffers_[list_.stages[stage].output].pad_top;
    aim_at(0);
    // The first stage begins with one band, although the last one cannot make any row of it yet.
    for (int64_t end = band_rows ? band - lag() : height;; end += band) {
        aim_at(end);
        turn(end >= height, steps);
        if (end >= height)
            return steps;
    }
}

// The rows of the tallest result of a convolution: bands are for its passes over weights and rows.
// In groups without any, such as one that only stores, the rows of the last stage.
int64_t BandWalk::tallest_convolution() const
{
    int64_t most = 0;
    for (size_t stage = range_.first; stage < range_.end; stage++)
        if (std::holds_alternative<Convolution>(list_.stages[stage].core))
            most = std::max(most, made_by(stage).extent.height);
    return most ? most : last_height();
}

// Finds for each stage the end of the rows that it must make, so that the last one gets to
// `last_end`.  Rows outside the picture count as if they existed: so all stages advance evenly from
// the first turn on.
void BandWalk::aim_at(int64_t last_end)
{
    for (size_t stage = range_.first; stage < range_.end; stage++)
        aims_[list_.stages[stage].output] = no_aim;
    aims_[list_.stages[range_.end - 1].output] = last_end;
    for (size_t stage = range_.end; stage-- > range_.first;) {
        int64_t &aim = aims_[list_.stages[stage].output];
        if (aim == no_aim) // only later groups read it
            aim = last_end * made_by(stage).extent.height / last_height();
        aim = divide_up(aim, rows_at_once_[stage]) * rows_at_once_[stage];
        pass_on(list_.stages[stage]);
    }
}

void BandWalk::pass_on(const Stage &stage)
{
    const int64_t end = aims_[stage.output];
    const int64_t needed = rows_needed(stage.core, {end - 1, end}).end;
    for (const TensorId input : stage.inputs)
        aims_[input] = std::max(aims_[input], needed);
    for (const TailStep &step : stage.tail)
        if (const auto *binary = std::get_if<BinaryWith>(&step))
            aims_[binary->other] = std::max(aims_[binary->other], end);
}

// How far the first stages are ahead of the last one, in rows of the last one.
int64_t BandWalk::lag() const
{
    int64_t most = 0;
    for (size_t stage = range_.first; stage < range_.end; stage++) {
        const int64_t aim = aims_[list_.stages[stage].output];
        most = std::max(most, divide_up(aim * last_height(), made_by(stage).extent.height));
    }
    return most;
}

void BandWalk::turn(bool is_last, std::vector<Step> &steps)
{
    for (size_t stage = range_.first; stage < range_.end; stage++) {
        const TensorId made = list_.stages[stage].output;
        const int64_t height = made_by(stage).extent.height, first = done_[made];
        const int64_t end = is_last ? height : std::clamp<int64_t>(aims_[made], 0, height);
        if (end <= first)
            continue;
        const int64_t keep_from = oldest_needed(made, first);
        steps.push_back({stage, first, end - first, keep_from});
        const int64_t below = end == height ? buffers_[made].pad_bottom : 0;
        most_rows_[made] = std::max(most_rows_[made], end + below - keep_from);
        done_[made] = end;
    }
}

// The oldest row that this group's stages still need.
int64_t BandWalk::oldest_needed(TensorId tensor, int64_t otherwise) const
{
    int64_t oldest = otherwise;
    for (const size_t reader : links_.readers[tensor]) {
        const Stage &stage = list_.stages[reader];
        const int64_t next = done_[stage.output];
        if (range_.contains(reader) && next < list_.tensors[stage.output].extent.height)
            oldest = std::min(oldest, first_needed(stage, tensor, next));
    }
    return std::max(oldest, -buffers_[tensor].pad_top);
}

} // namespace engine_torch::fused
