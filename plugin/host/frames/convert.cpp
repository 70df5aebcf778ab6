// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "convert.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

// Highway compiles this file once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/frames/convert.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace dnn_torch
{
namespace HWY_NAMESPACE
{
namespace
{

namespace hn = hwy::HWY_NAMESPACE;

// Rows are converted in pieces whose buffers fit into the L1 cache.  A piece is a multiple of every
// number of lanes, so that it holds whole vectors.
constexpr size_t piece = 512;
constexpr size_t vector_bytes = 64;

template <class T> using Tag = hn::CappedTag<T, vector_bytes / sizeof(T)>;

template <class T> struct Pieces {
    alignas(vector_bytes) T channel[4][piece];
};

// ---- groups of samples to pieces and back --------------------------------------

template <int group, class T> HWY_ATTR void split_vector(const T *from, Pieces<T> &to, size_t x)
{
    const Tag<T> d;
    hn::Vec<Tag<T>> a, b, c, e;
    if constexpr (group == 2)
        hn::LoadInterleaved2(d, from, a, b);
    if constexpr (group == 3)
        hn::LoadInterleaved3(d, from, a, b, c);
    if constexpr (group == 4)
        hn::LoadInterleaved4(d, from, a, b, c, e);
    hn::StoreU(a, d, to.channel[0] + x);
    hn::StoreU(b, d, to.channel[1] + x);
    if constexpr (group >= 3)
        hn::StoreU(c, d, to.channel[2] + x);
    if constexpr (group == 4)
        hn::StoreU(e, d, to.channel[3] + x);
}

template <int group, class T> HWY_ATTR void join_vector(const Pieces<T> &from, size_t x, T *to)
{
    const Tag<T> d;
    const auto a = hn::LoadU(d, from.channel[0] + x);
    const auto b = hn::LoadU(d, from.channel[1] + x);
    if constexpr (group == 2)
        hn::StoreInterleaved2(a, b, d, to);
    if constexpr (group == 3)
        hn::StoreInterleaved3(a, b, hn::LoadU(d, from.channel[2] + x), d, to);
    if constexpr (group == 4)
        hn::StoreInterleaved4(a, b, hn::LoadU(d, from.channel[2] + x),
                              hn::LoadU(d, from.channel[3] + x), d, to);
}

// Neither function reads or writes beyond `count` groups of a row: the last groups go through a
// buffer.
template <int group, class T> HWY_ATTR void split_groups(const T *from, size_t count, Pieces<T> &to)
{
    const size_t lanes = hn::Lanes(Tag<T>());
    size_t x = 0;
    for (; x + lanes <= count; x += lanes)
        split_vector<group>(from + x * group, to, x);
    if (x == count)
        return;
    T last[group * vector_bytes / sizeof(T)] = {};
    memcpy(last, from + x * group, (count - x) * group * sizeof(T));
    split_vector<group>(last, to, x);
}

template <int group, class T> HWY_ATTR void join_groups(const Pieces<T> &from, size_t count, T *to)
{
    const size_t lanes = hn::Lanes(Tag<T>());
    size_t x = 0;
    for (; x + lanes <= count; x += lanes)
        join_vector<group>(from, x, to + x * group);
    if (x == count)
        return;
    T last[group * vector_bytes / sizeof(T)];
    join_vector<group>(from, x, last);
    memcpy(to + x * group, last, (count - x) * group * sizeof(T));
}

template <class T> HWY_ATTR void split(int group, const T *from, size_t count, Pieces<T> &to)
{
    switch (group) {
    case 2:
        return split_groups<2>(from, count, to);
    case 3:
        return split_groups<3>(from, count, to);
    default:
        return split_groups<4>(from, count, to);
    }
}

template <class T> HWY_ATTR void join(int group, const Pieces<T> &from, size_t count, T *to)
{
    switch (group) {
    case 2:
        return join_groups<2>(from, count, to);
    case 3:
        return join_groups<3>(from, count, to);
    default:
        return join_groups<4>(from, count, to);
    }
}

// ---- samples to floats and back ------------------------------------------------

using Floats = Tag<float>;
constexpr size_t most_floats = vector_bytes / sizeof(float);

// Without a map, value / white is rounded once.  With a map, white is part of the factor, so that
// a map to 0..white returns the integer samples exactly.
struct Scale {
    bool is_mapped = false;
    float factor = 1, offset = 0;
};

Scale scale_in(const RowLayout &layout, int channel)
{
    if (!layout.numbers || layout.colours)
        return {};
    return {true, layout.numbers->factor[channel] / layout.white, layout.numbers->offset[channel]};
}

Scale scale_out(const RowLayout &layout, int channel)
{
    if (!layout.numbers || layout.colours)
        return {false, layout.white, 0};
    const float factor = layout.white / layout.numbers->factor[channel];
    return {true, factor, -layout.numbers->offset[channel] * factor};
}

// Rounds the product and the sum separately, on every instruction set.
template <class V> HWY_ATTR V mapped(V value, const Scale &scale)
{
    const Floats d;
    return hn::Add(hn::Mul(value, hn::Set(d, scale.factor)), hn::Set(d, scale.offset));
}

template <class T, bool is_mapped>
HWY_ATTR void vector_to_floats(const T *from, float *to, int shift, float white, const Scale &scale)
{
    const Floats d;
    if constexpr (sizeof(T) == sizeof(float)) {
        const auto value = hn::LoadU(d, from);
        if constexpr (is_mapped)
            hn::StoreU(mapped(value, scale), d, to);
        else
            hn::StoreU(value, d, to);
    } else {
        const hn::RebindToSigned<Floats> d_int;
        const auto code = hn::PromoteTo(d_int, hn::LoadU(hn::Rebind<T, Floats>(), from));
        const auto value = hn::ConvertTo(d, hn::ShiftRightSame(code, shift));
        if constexpr (is_mapped)
            hn::StoreU(mapped(value, scale), d, to);
        else
            hn::StoreU(hn::Div(value, hn::Set(d, white)), d, to);
    }
}

// Marks in `nan` the lanes that are NaN.  They become 0 in the format's samples.
template <class T, bool is_mapped>
HWY_ATTR void vector_from_floats(const float *from, T *to, int shift, float white,
                                 const Scale &scale, hn::Vec<Floats> &nan)
{
    const Floats d;
    const auto given = hn::LoadU(d, from);
    // Another process may share the memory.  Without this, the compiler reads it once for each use.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    const auto is_nan = hn::IsNaN(given);
    nan = hn::IfThenElse(is_nan, hn::Set(d, 1.0F), nan);
    if constexpr (sizeof(T) == sizeof(float)) {
        if constexpr (is_mapped)
            hn::StoreU(hn::IfThenZeroElse(is_nan, mapped(given, scale)), d, to);
        else
            hn::StoreU(hn::IfThenZeroElse(is_nan, given), d, to);
    } else {
        auto scaled = hn::Mul(given, hn::Set(d, scale.factor));
        if constexpr (is_mapped)
            scaled = hn::Add(scaled, hn::Set(d, scale.offset));
        const auto sound = hn::IfThenZeroElse(is_nan, scaled);
        const auto bounded = hn::Min(hn::Max(sound, hn::Zero(d)), hn::Set(d, white));
        const auto code = hn::ShiftLeftSame(hn::NearestInt(bounded), shift);
        const hn::Rebind<T, Floats> d_code;
        hn::StoreU(hn::DemoteTo(d_code, code), d_code, to);
    }
}

template <class T, bool is_mapped>
HWY_ATTR void to_floats_by(const Scale &scale, const T *from, float *to, size_t count,
                           const RowLayout &layout)
{
    const size_t lanes = hn::Lanes(Floats());
    const int shift = layout.shift;
    const float white = layout.white;
    size_t x = 0;
    for (; x + lanes <= count; x += lanes)
        vector_to_floats<T, is_mapped>(from + x, to + x, shift, white, scale);
    if (x == count)
        return;
    T last[most_floats] = {};
    float result[most_floats];
    memcpy(last, from + x, (count - x) * sizeof(T));
    vector_to_floats<T, is_mapped>(last, result, shift, white, scale);
    memcpy(to + x, result, (count - x) * sizeof(float));
}

template <class T>
HWY_ATTR void to_floats(const T *from, float *to, size_t count, const RowLayout &layout,
                        int channel)
{
    const Scale scale = scale_in(layout, channel);
    if (scale.is_mapped)
        to_floats_by<T, true>(scale, from, to, count, layout);
    else
        to_floats_by<T, false>(scale, from, to, count, layout);
}

// Returns whether there was a NaN.
template <class T, bool is_mapped>
HWY_ATTR bool from_floats_by(const Scale &scale, const float *from, T *to, size_t count,
                             const RowLayout &layout)
{
    const Floats d;
    const size_t lanes = hn::Lanes(d);
    const int shift = layout.shift;
    const float white = layout.white;
    auto nan = hn::Zero(d);
    size_t x = 0;
    for (; x + lanes <= count; x += lanes)
        vector_from_floats<T, is_mapped>(from + x, to + x, shift, white, scale, nan);
    if (x < count) {
        float last[most_floats] = {};
        T result[most_floats];
        memcpy(last, from + x, (count - x) * sizeof(float));
        vector_from_floats<T, is_mapped>(last, result, shift, white, scale, nan);
        memcpy(to + x, result, (count - x) * sizeof(T));
    }
    return !hn::AllTrue(d, hn::Eq(nan, hn::Zero(d)));
}

template <class T>
HWY_ATTR bool from_floats(const float *from, T *to, size_t count, const RowLayout &layout,
                          int channel)
{
    const Scale scale = scale_out(layout, channel);
    return scale.is_mapped ? from_floats_by<T, true>(scale, from, to, count, layout)
                           : from_floats_by<T, false>(scale, from, to, count, layout);
}

// ---- rows of floats whose step is not 1 ----------------------------------------

bool side_by_side(const FloatRow &row, int channels)
{
    if (row.step != channels || channels < 3)
        return false;
    for (int c = 1; c < channels; c++)
        if (row.channel[c] != row.channel[0] + c)
            return false;
    return true;
}

HWY_ATTR void spread(const Pieces<float> &from, int channels, size_t count, const FloatRow &to,
                     size_t start)
{
    const auto first = static_cast<ptrdiff_t>(start) * to.step;
    if (side_by_side(to, channels))
        return join(channels, from, count, to.channel[0] + first);
    for (int c = 0; c < channels; c++)
        for (size_t x = 0; x < count; x++)
            to.channel[c][first + static_cast<ptrdiff_t>(x) * to.step] = from.channel[c][x];
}

HWY_ATTR void collect(const FloatRow &from, int channels, size_t start, size_t count,
                      Pieces<float> &to)
{
    const auto first = static_cast<ptrdiff_t>(start) * from.step;
    if (side_by_side(from, channels))
        return split(channels, from.channel[0] + first, count, to);
    for (int c = 0; c < channels; c++)
        for (size_t x = 0; x < count; x++)
            to.channel[c][x] = from.channel[c][first + static_cast<ptrdiff_t>(x) * from.step];
}

// ---- between Y, U, V and R, G, B ------------------------------------------------

// Vectors read beyond the samples.  There must be no NaN there.
HWY_ATTR void pad(Pieces<float> &pieces, size_t count)
{
    const size_t end = std::min(piece, (count + most_floats - 1) / most_floats * most_floats);
    for (auto &channel : pieces.channel)
        std::fill(channel + count, channel + end, 0.0F);
}

constexpr float most_rgb = 4;

// Rounds each sum and each product separately, on every instruction set.
template <class V> HWY_ATTR V blend(const float (&factor)[4], V a, V b, V c)
{
    const Floats d;
    const V ab = hn::Add(hn::Mul(a, hn::Set(d, factor[0])), hn::Mul(b, hn::Set(d, factor[1])));
    return hn::Add(hn::Add(ab, hn::Mul(c, hn::Set(d, factor[2]))), hn::Set(d, factor[3]));
}

// No YUV sample converts to more than this.  Infinities would become NaN where they are added.
template <class V> HWY_ATTR V bounded(V value)
{
    const Floats d;
    return hn::Min(hn::Max(value, hn::Set(d, -most_rgb)), hn::Set(d, most_rgb));
}

// Returns the map that is applied after the conversion to R, G and B.
Scale scale_of_rgb(const RowLayout &layout, int channel)
{
    if (!layout.numbers)
        return {};
    return {true, layout.numbers->factor[channel], layout.numbers->offset[channel]};
}

Scale scale_to_rgb(const RowLayout &layout, int channel)
{
    if (!layout.numbers)
        return {};
    const float factor = 1 / layout.numbers->factor[channel];
    return {true, factor, -layout.numbers->offset[channel] * factor};
}

HWY_ATTR void make_rgb(const RowLayout &layout, Pieces<float> &pieces, size_t count)
{
    const Floats d;
    const Colours &colours = *layout.colours;
    const Scale scale[] = {scale_of_rgb(layout, 0), scale_of_rgb(layout, 1),
                           scale_of_rgb(layout, 2)};
    pad(pieces, count);
    for (size_t x = 0; x < count; x += hn::Lanes(d)) {
        const auto luma = hn::Load(d, pieces.channel[0] + x);
        const auto blue = hn::Load(d, pieces.channel[1] + x);
        const auto red = hn::Load(d, pieces.channel[2] + x);
        for (int c = 0; c < 3; c++) {
            const auto whole = blend(colours.to_rgb[c], luma, blue, red);
            const auto value = layout.cut ? hn::Clamp(whole, hn::Zero(d), hn::Set(d, 1.0F)) : whole;
            hn::Store(scale[c].is_mapped ? mapped(value, scale[c]) : value, d,
                      pieces.channel[c] + x);
        }
    }
}

// Returns whether there was a NaN.  It becomes 0.
HWY_ATTR bool make_yuv(const RowLayout &layout, Pieces<float> &pieces, size_t count)
{
    const Floats d;
    const Colours &colours = *layout.colours;
    const Scale scale[] = {scale_to_rgb(layout, 0), scale_to_rgb(layout, 1),
                           scale_to_rgb(layout, 2)};
    pad(pieces, count);
    auto sound = hn::Eq(hn::Zero(d), hn::Zero(d));
    const auto checked = [&](int channel, size_t x) HWY_ATTR {
        const auto given = hn::Load(d, pieces.channel[channel] + x);
        const auto is_nan = hn::IsNaN(given);
        sound = hn::AndNot(is_nan, sound);
        const auto value = scale[channel].is_mapped ? mapped(given, scale[channel]) : given;
        return bounded(hn::IfThenZeroElse(is_nan, value));
    };
    for (size_t x = 0; x < count; x += hn::Lanes(d)) {
        const auto red = checked(0, x);
        const auto green = checked(1, x);
        const auto blue = checked(2, x);
        for (int c = 0; c < 3; c++)
            hn::Store(blend(colours.from_rgb[c], red, green, blue), d, pieces.channel[c] + x);
    }
    return !hn::AllTrue(d, sound);
}

// ---- whole rows ----------------------------------------------------------------

template <class T> T *samples(const FrameRow &row, int channel)
{
    return static_cast<T *>(row.channel[channel]);
}

template <class T>
HWY_ATTR void read_samples(const RowLayout &layout, const FrameRow &from, const FloatRow &to,
                           size_t width)
{
    Pieces<T> apart;
    Pieces<float> floats;
    const bool grouped = layout.group > 1, direct = to.step == 1 && !layout.colours;
    const auto group = static_cast<size_t>(layout.group);
    for (size_t x = 0; x < width; x += piece) {
        const size_t count = std::min(piece, width - x);
        if (grouped)
            split(layout.group, samples<T>(from, 0) + x * group, count, apart);
        for (int c = 0; c < layout.channels; c++)
            to_floats(grouped ? apart.channel[layout.position[c]] : samples<T>(from, c) + x,
                      direct ? to.channel[c] + x : floats.channel[c], count, layout, c);
        if (layout.colours)
            make_rgb(layout, floats, count);
        if (!direct)
            spread(floats, layout.channels, count, to, x);
    }
}

template <class T> void fill_unseen(const RowLayout &layout, Pieces<T> &apart)
{
    T *unseen = apart.channel[layout.unseen];
    std::fill(unseen, unseen + piece, static_cast<T>(layout.white));
}

template <class T>
HWY_ATTR bool write_samples(const RowLayout &layout, const FloatRow &from, const FrameRow *source,
                            const FrameRow &to, size_t width)
{
    Pieces<T> apart;
    Pieces<float> floats;
    const bool grouped = layout.group > 1, direct = from.step == 1 && !layout.colours;
    const auto group = static_cast<size_t>(layout.group);
    const bool keep = source && layout.unseen >= 0;
    bool nan = false;
    if (!keep && layout.unseen >= 0)
        fill_unseen(layout, apart);
    for (size_t x = 0; x < width; x += piece) {
        const size_t count = std::min(piece, width - x);
        if (!direct)
            collect(from, layout.channels, x, count, floats);
        if (layout.colours)
            nan |= make_yuv(layout, floats, count);
        if (keep)
            split(layout.group, samples<T>(*source, 0) + x * group, count, apart);
        for (int c = 0; c < layout.channels; c++)
            nan |= from_floats(direct ? from.channel[c] + x : floats.channel[c],
                               grouped ? apart.channel[layout.position[c]] : samples<T>(to, c) + x,
                               count, layout, c);
        if (grouped)
            join(layout.group, apart, count, samples<T>(to, 0) + x * group);
    }
    return nan;
}

HWY_ATTR void read_any(const RowLayout &layout, const FrameRow &from, const FloatRow &to,
                       size_t width)
{
    switch (layout.element) {
    case Element::u8:
        return read_samples<uint8_t>(layout, from, to, width);
    case Element::u16:
        return read_samples<uint16_t>(layout, from, to, width);
    default:
        return read_samples<float>(layout, from, to, width);
    }
}

HWY_ATTR bool write_any(const RowLayout &layout, const FloatRow &from, const FrameRow *source,
                        const FrameRow &to, size_t width)
{
    switch (layout.element) {
    case Element::u8:
        return write_samples<uint8_t>(layout, from, source, to, width);
    case Element::u16:
        return write_samples<uint16_t>(layout, from, source, to, width);
    default:
        return write_samples<float>(layout, from, source, to, width);
    }
}

const char *target()
{
    return hwy::TargetName(HWY_TARGET);
}

} // namespace
} // namespace HWY_NAMESPACE
} // namespace dnn_torch
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dnn_torch
{
namespace
{

HWY_EXPORT(read_any);
HWY_EXPORT(write_any);
HWY_EXPORT(target);

} // namespace

void read_row(const RowLayout &layout, const FrameRow &from, const FloatRow &to, size_t width)
{
    HWY_DYNAMIC_DISPATCH(read_any)(layout, from, to, width);
}

bool write_row(const RowLayout &layout, const FloatRow &from, const FrameRow *source,
               const FrameRow &to, size_t width)
{
    return HWY_DYNAMIC_DISPATCH(write_any)(layout, from, source, to, width);
}

const char *convert_target()
{
    return HWY_DYNAMIC_DISPATCH(target)();
}

} // namespace dnn_torch
#endif // HWY_ONCE
