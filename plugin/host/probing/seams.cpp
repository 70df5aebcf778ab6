// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "seams.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>

namespace dnn_torch
{
namespace
{

TrialPicture part_of(const TrialPicture &whole, Axis axis, int start, int extent)
{
    TrialPicture part = {.size = whole.size, .samples = {}};
    (axis == Axis::across ? part.size.width : part.size.height) = extent;
    for (size_t i = 0; i < whole.samples.size(); i++)
        if (const int place = place_of(i, whole.size, axis);
            place >= start && place < start + extent)
            part.samples.push_back(whole.samples[i]);
    return part;
}

// Adds the part of a tile that is kept.  Returns false if the tile's result has another size.
bool add_tile(const TrialPicture &whole, const TrialPicture &made, Axis axis, const TileSpan &span,
              Resemblance &likeness)
{
    const int extent = along(made.size, axis);
    const Size cut =
        axis == Axis::across ? Size{extent, whole.size.height} : Size{whole.size.width, extent};
    const int end = std::min(span.end, along(whole.size, axis));
    if (made.size != cut || end - span.offset > extent || span.begin < span.offset)
        return false;
    const TrialPicture wanted = part_of(whole, axis, span.begin, end - span.begin);
    const TrialPicture kept = part_of(made, axis, span.begin - span.offset, end - span.begin);
    if (wanted.samples.size() != kept.samples.size())
        return false;
    for (size_t i = 0; i < wanted.samples.size(); i++)
        likeness.add(wanted.samples[i], kept.samples[i]);
    return true;
}

bool is_seamless(const TrialParameters &parameters, const Cut &cut, Content content,
                 const RunTrial &run)
{
    const TrialPicture picture =
        trial_picture(parameters, content, strip(parameters, cut.axis, cut.extent), cut.axis);
    const TrialPicture whole = run(picture);
    Resemblance likeness;
    for (const TileSpan &span : cut.spans) {
        const TrialPicture made = run(part_of(picture, cut.axis, span.start, cut.tile));
        if (!add_tile(whole, made, cut.axis, span, likeness))
            return false;
    }
    return likeness.holds(parameters);
}

} // namespace

bool is_seamless(const TrialParameters &parameters, const Cut &cut, const RunTrial &run)
{
    for (const Content content : {Content::slope, Content::blocks, Content::points})
        if (!is_seamless(parameters, cut, content, run))
            return false;
    return true;
}

} // namespace dnn_torch
