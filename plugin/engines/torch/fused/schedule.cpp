// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "schedule.h"

#include "band_walk.h"
#include "rounding.h"

#include <algorithm>
#include <limits>
#include <variant>

namespace engine_torch::fused
{
namespace
{

// A schedule may always need this much memory, or this many times what the smallest one needs.
constexpr size_t modest_arena = size_t{40} << 20;
constexpr double near_smallest = 1.5;

class Scheduler
{
public:
    explicit Scheduler(const ScheduleRequest &request)
        : request_(request), list_(request.list), links_(list_)
    {
    }

    Schedule run()
    {
        for (TensorId tensor = 0; tensor < list_.tensors.size(); tensor++)
            made_.buffers.push_back(buffer_of(tensor));
        for (size_t stage = 0; stage < list_.stages.size();) {
            const StageRange range = largest_group(stage);
            add_group(range);
            stage = range.end;
        }
        place_buffers();
        return std::move(made_);
    }

private:
    Buffer buffer_of(TensorId tensor) const
    {
        Buffer buffer = {.layout = request_.layouts[tensor],
                         .height = list_.tensors[tensor].extent.height};
        buffer.row_bytes = row_bytes_of(buffer.layout, request_.precision);
        for (const size_t reader : links_.readers[tensor]) {
            const Stage &stage = list_.stages[reader];
            const auto *const convolution = std::get_if<Convolution>(&stage.core);
            if (!convolution || stage.inputs.front() != tensor)
                continue;
            const int64_t made = list_.tensors[stage.output].extent.height;
            const int64_t needed = rows_needed(stage.core, {made - 1, made}).end;
            buffer.pad_top = std::max(buffer.pad_top, convolution->padding.y);
            buffer.pad_bottom = std::max(buffer.pad_bottom, needed - buffer.height);
        }
        return buffer;
    }

    // What a group uses in every turn: its windows, the rows that come in and go out, its weights.
    size_t cached_bytes(StageRange range, const BandWalk &walk) const
    {
        size_t bytes = 0;
        for (size_t stage = range.first; stage < range.end; stage++) {
            const TensorId made = list_.stages[stage].output;
            bytes += static_cast<size_t>(walk.most_rows(made)) * made_.buffers[made].row_bytes;
            bytes += request_.weight_bytes[stage];
        }
        return bytes;
    }

    size_t cached_bytes(StageRange range) const
    {
        BandWalk walk(list_, links_, made_.buffers, request_.rows_at_once, range);
        walk.walk(request_.band_rows);
        return cached_bytes(range, walk);
    }

    bool is_convolution(size_t stage) const
    {
        return std::holds_alternative<Convolution>(list_.stages[stage].core);
    }

    // Only convolutions compute enough to begin a group, which costs a pass over memory.  Larger
    // groups use more: doubling and then halving finds the largest that fits.
    StageRange largest_group(size_t first) const
    {
        const std::vector<size_t> ends = ends_of_groups(first);
        const auto fits = [&](size_t end) {
            return cached_bytes({first, ends[end]}) <= request_.cache_bytes;
        };
        size_t fitting = 0, too_far = 1; // there is one end at least
        while (too_far < ends.size() && fits(too_far)) {
            fitting = too_far;
            too_far = std::min(2 * too_far, ends.size());
        }
        while (fitting + 1 < too_far) {
            const size_t middle = fitting + (too_far - fitting) / 2;
            (fits(middle) ? fitting : too_far) = middle;
        }
        return {first, ends[fitting]};
    }

    // Before each convolution but the first one, and at the end.
    std::vector<size_t> ends_of_groups(size_t first) const
    {
        std::vector<size_t> ends;
        bool convolves = false;
        for (size_t stage = first; stage < list_.stages.size(); stage++) {
            if (convolves && is_convolution(stage))
                ends.push_back(stage);
            convolves |= is_convolution(stage);
        }
        ends.push_back(list_.stages.size());
        return ends;
    }

    void add_group(StageRange range)
    {
        BandWalk walk(list_, links_, made_.buffers, request_.rows_at_once, range);
        made_.groups.push_back({range.first, range.end, walk.walk(request_.band_rows), 0});
        made_.groups.back().cached_bytes = cached_bytes(range, walk);
        for (size_t stage = range.first; stage < range.end; stage++) {
            Buffer &buffer = made_.buffers[list_.stages[stage].output];
            const bool is_result = std::holds_alternative<Store>(list_.stages[stage].core);
            buffer.capacity = walk.most_rows(list_.stages[stage].output);
            if (links_.is_read_outside(list_.stages[stage].output, range))
                buffer.capacity = buffer.pad_top + buffer.height + buffer.pad_bottom;
            if (is_result) // the caller's memory
                buffer.capacity = 0;
        }
    }

    size_t group_of(size_t stage) const
    {
        const auto found =
            std::find_if(made_.groups.begin(), made_.groups.end(),
                         [&](const Group &group) { return stage < group.end_stage; });
        return static_cast<size_t>(found - made_.groups.begin());
    }

    // A buffer lives from the group that makes it to the last one that reads it.
    struct Life {
        TensorId tensor;
        size_t first_group, last_group;
    };

    Life life_of(TensorId tensor) const
    {
        const auto &readers = links_.readers[tensor];
        const size_t maker = links_.maker[tensor];
        return {tensor, group_of(maker), group_of(readers.empty() ? maker : readers.back())};
    }

    // Puts each buffer, the largest first, into the first gap between those that live meanwhile.
    void place_buffers()
    {
        std::vector<Life> lives, placed;
        for (TensorId tensor = 0; tensor < list_.tensors.size(); tensor++)
            if (made_.buffers[tensor].capacity)
                lives.push_back(life_of(tensor));
        std::stable_sort(lives.begin(), lives.end(), [&](const Life &a, const Life &b) {
            return made_.buffers[a.tensor].bytes() > made_.buffers[b.tensor].bytes();
        });
        for (const Life &life : lives) {
            Buffer &buffer = made_.buffers[life.tensor];
            buffer.offset = gap_for(life, placed);
            made_.arena_bytes =
                std::max(made_.arena_bytes, buffer.offset + aligned(buffer.bytes()));
            placed.push_back(life);
            std::sort(placed.begin(), placed.end(), [&](const Life &a, const Life &b) {
                return made_.buffers[a.tensor].offset < made_.buffers[b.tensor].offset;
            });
        }
    }

    size_t gap_for(const Life &life, const std::vector<Life> &placed) const
    {
        const size_t bytes = aligned(made_.buffers[life.tensor].bytes());
        size_t offset = 0;
        for (const Life &other : placed) {
            const Buffer &buffer = made_.buffers[other.tensor];
            const bool meets =
                life.first_group <= other.last_group && other.first_group <= life.last_group;
            if (!meets)
                continue;
            if (offset + bytes <= buffer.offset)
                return offset;
            offset = std::max(offset, buffer.offset + aligned(buffer.bytes()));
        }
        return offset;
    }

    const ScheduleRequest &request_;
    const StageList &list_;
    const Links links_;
    Schedule made_;
};

} // namespace

Schedule make_schedule(const ScheduleRequest &request)
{
    return Scheduler(request).run();
}

Schedule make_small_schedule(ScheduleRequest request, size_t most_cache_bytes)
{
    std::vector<Schedule> tried = {make_schedule(request)};
    size_t smallest = tried.back().arena_bytes;
    const auto try_with = [&](size_t cache_bytes) {
        request.cache_bytes = cache_bytes;
        tried.push_back(make_schedule(request));
        smallest = std::min(smallest, tried.back().arena_bytes);
    };
    while (smallest > modest_arena && request.cache_bytes < most_cache_bytes)
        try_with(std::min(2 * request.cache_bytes, most_cache_bytes));
    // No cache holds one group of all stages, but that may be a tenth of whole tensors.
    if (smallest > modest_arena)
        try_with(std::numeric_limits<size_t>::max());
    const auto limit =
        std::max(static_cast<double>(modest_arena), near_smallest * static_cast<double>(smallest));
    return std::move(*std::ranges::find_if(tried, [&](const Schedule &each) {
        return static_cast<double>(each.arena_bytes) <= limit;
    }));
}

} // namespace engine_torch::fused
