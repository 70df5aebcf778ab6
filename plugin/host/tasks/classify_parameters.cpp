// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "classify_parameters.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace dnn_torch
{
namespace
{

// A box's extent along one axis.
struct Stretch {
    int begin, end;
};

// Returns an empty stretch if the box is outside 0..`limit`.
Stretch pixels_between(float begin, float end, int limit)
{
    const auto most = static_cast<float>(limit);
    if (!(begin < most && end > 0 && begin <= end))
        return {0, 0};
    const auto first = static_cast<int>(std::lround(std::clamp(begin, 0.0F, most - 1)));
    const auto last = static_cast<int>(std::lround(std::clamp(end, 0.0F, most)));
    return {first, std::max(last, first + 1)};
}

} // namespace

bool is_target(const std::string &label, const std::vector<std::string> &targets)
{
    constexpr std::string_view before_number = " #";
    return targets.empty() ||
           std::any_of(targets.begin(), targets.end(), [&](const std::string &target) {
               std::string_view rest = label;
               if (!rest.starts_with(target))
                   return false;
               rest.remove_prefix(target.size());
               return rest.empty() || rest.starts_with(before_number);
           });
}

std::optional<Region> region_of(const Box &box, Size frame, Size chroma)
{
    Stretch across = pixels_between(box.left, box.right, frame.width);
    Stretch down = pixels_between(box.top, box.bottom, frame.height);
    if (across.begin == across.end || down.begin == down.end)
        return std::nullopt;
    across.begin -= across.begin % chroma.width;
    down.begin -= down.begin % chroma.height;
    return Region{.x = across.begin,
                  .y = down.begin,
                  .size = {across.end - across.begin, down.end - down.begin}};
}

Placement place_part(const Region &part, Size picture, Placing placing, Size chroma)
{
    Placement placement = place(part.size, picture, placing, chroma);
    placement.source.x += part.x;
    placement.source.y += part.y;
    return placement;
}

} // namespace dnn_torch
