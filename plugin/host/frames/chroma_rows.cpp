// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "chroma_rows.h"

// Highway compiles this file once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/frames/chroma_rows.cpp"
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

// Differences of samples need one bit more than samples.
template <class T> using Wider = hwy::MakeSigned<hwy::MakeWide<T>>;
template <class T> using Wide = hn::CappedTag<Wider<T>, row_room / sizeof(Wider<T>)>;
template <class T> using Narrow = hn::Rebind<T, Wide<T>>;
template <class T> using Whole = hn::CappedTag<T, row_room / sizeof(T)>;

template <class T> HWY_ATTR hn::Vec<Wide<T>> load(const T *from)
{
    return hn::PromoteTo(Wide<T>(), hn::LoadU(Narrow<T>(), from));
}

template <class T> HWY_ATTR void store(hn::Vec<Wide<T>> value, T *to)
{
    hn::StoreU(hn::DemoteTo(Narrow<T>(), value), Narrow<T>(), to);
}

template <class T> HWY_ATTR hn::Vec<Wide<T>> constant(int value)
{
    return hn::Set(Wide<T>(), static_cast<Wider<T>>(value));
}

// Halves are rounded up.
template <class T> HWY_ATTR hn::Vec<Wide<T>> mean(hn::Vec<Wide<T>> one, hn::Vec<Wide<T>> other)
{
    return hn::ShiftRight<1>(hn::Add(hn::Add(one, other), constant<T>(1)));
}

template <class T>
HWY_ATTR void part(const T *before, const T *here, const T *after, size_t count, int white,
                   T *first, T *second)
{
    const auto limit = constant<T>(white);
    for (size_t x = 0; x < count; x += hn::Lanes(Wide<T>())) {
        const auto middle = load(here + x);
        const auto rise = hn::Sub(load(after + x), load(before + x));
        const auto room = hn::Min(middle, hn::Sub(limit, middle));
        const auto eighth = hn::ShiftRight<3>(hn::Add(rise, constant<T>(4)));
        const auto step = hn::Max(hn::Min(eighth, room), hn::Neg(room));
        store<T>(hn::Sub(middle, step), first + x);
        store<T>(hn::Add(middle, step), second + x);
    }
}

template <class T> HWY_ATTR void means(const T *one, const T *other, size_t count, T *to)
{
    const Whole<T> d;
    for (size_t x = 0; x < count; x += hn::Lanes(d))
        hn::StoreU(hn::AverageRound(hn::LoadU(d, one + x), hn::LoadU(d, other + x)), d, to + x);
}

template <class T> HWY_ATTR void sited(const Surroundings<T> &from, size_t count, int white, T *to)
{
    const auto limit = constant<T>(white), none = constant<T>(0);
    for (size_t x = 0; x < count; x += hn::Lanes(Wide<T>())) {
        const auto even = load(from.even + x);
        const auto before =
            hn::Sub(load(from.odd_before + x), mean<T>(load(from.even_before + x), even));
        const auto after = hn::Sub(load(from.odd + x), mean<T>(even, load(from.even_after + x)));
        const auto both = hn::Add(hn::Add(before, after), constant<T>(2));
        const auto value = hn::Add(even, hn::ShiftRight<2>(both));
        store<T>(hn::Max(hn::Min(value, limit), none), to + x);
    }
}

template <class T> HWY_ATTR void join(const T *first, const T *second, size_t count, T *to)
{
    const Whole<T> d;
    for (size_t x = 0; x < count; x += hn::Lanes(d))
        hn::StoreInterleaved2(hn::LoadU(d, first + x), hn::LoadU(d, second + x), d, to + 2 * x);
}

template <class T> HWY_ATTR void split(const T *from, size_t count, T *first, T *second)
{
    const Whole<T> d;
    for (size_t x = 0; x < count; x += hn::Lanes(d)) {
        hn::Vec<Whole<T>> one, other;
        hn::LoadInterleaved2(d, from + 2 * x, one, other);
        hn::StoreU(one, d, first + x);
        hn::StoreU(other, d, second + x);
    }
}

// Highway exports no templates.
HWY_ATTR void part8(const uint8_t *before, const uint8_t *here, const uint8_t *after, size_t count,
                    int white, uint8_t *first, uint8_t *second)
{
    part(before, here, after, count, white, first, second);
}
HWY_ATTR void part16(const uint16_t *before, const uint16_t *here, const uint16_t *after,
                     size_t count, int white, uint16_t *first, uint16_t *second)
{
    part(before, here, after, count, white, first, second);
}
HWY_ATTR void means8(const uint8_t *one, const uint8_t *other, size_t count, uint8_t *to)
{
    means(one, other, count, to);
}
HWY_ATTR void means16(const uint16_t *one, const uint16_t *other, size_t count, uint16_t *to)
{
    means(one, other, count, to);
}
HWY_ATTR void sited8(const Surroundings<uint8_t> &from, size_t count, int white, uint8_t *to)
{
    sited(from, count, white, to);
}
HWY_ATTR void sited16(const Surroundings<uint16_t> &from, size_t count, int white, uint16_t *to)
{
    sited(from, count, white, to);
}
HWY_ATTR void join8(const uint8_t *first, const uint8_t *second, size_t count, uint8_t *to)
{
    join(first, second, count, to);
}
HWY_ATTR void join16(const uint16_t *first, const uint16_t *second, size_t count, uint16_t *to)
{
    join(first, second, count, to);
}
HWY_ATTR void split8(const uint8_t *from, size_t count, uint8_t *first, uint8_t *second)
{
    split(from, count, first, second);
}
HWY_ATTR void split16(const uint16_t *from, size_t count, uint16_t *first, uint16_t *second)
{
    split(from, count, first, second);
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

HWY_EXPORT(part8);
HWY_EXPORT(part16);
HWY_EXPORT(means8);
HWY_EXPORT(means16);
HWY_EXPORT(sited8);
HWY_EXPORT(sited16);
HWY_EXPORT(join8);
HWY_EXPORT(join16);
HWY_EXPORT(split8);
HWY_EXPORT(split16);

} // namespace

void part_row(const uint8_t *before, const uint8_t *here, const uint8_t *after, size_t count,
              int white, uint8_t *first, uint8_t *second)
{
    HWY_DYNAMIC_DISPATCH(part8)(before, here, after, count, white, first, second);
}
void part_row(const uint16_t *before, const uint16_t *here, const uint16_t *after, size_t count,
              int white, uint16_t *first, uint16_t *second)
{
    HWY_DYNAMIC_DISPATCH(part16)(before, here, after, count, white, first, second);
}

void mean_row(const uint8_t *one, const uint8_t *other, size_t count, uint8_t *to)
{
    HWY_DYNAMIC_DISPATCH(means8)(one, other, count, to);
}
void mean_row(const uint16_t *one, const uint16_t *other, size_t count, uint16_t *to)
{
    HWY_DYNAMIC_DISPATCH(means16)(one, other, count, to);
}

void sited_row(const Surroundings<uint8_t> &from, size_t count, int white, uint8_t *to)
{
    HWY_DYNAMIC_DISPATCH(sited8)(from, count, white, to);
}
void sited_row(const Surroundings<uint16_t> &from, size_t count, int white, uint16_t *to)
{
    HWY_DYNAMIC_DISPATCH(sited16)(from, count, white, to);
}

void join_row(const uint8_t *first, const uint8_t *second, size_t count, uint8_t *to)
{
    HWY_DYNAMIC_DISPATCH(join8)(first, second, count, to);
}
void join_row(const uint16_t *first, const uint16_t *second, size_t count, uint16_t *to)
{
    HWY_DYNAMIC_DISPATCH(join16)(first, second, count, to);
}

void split_row(const uint8_t *from, size_t count, uint8_t *first, uint8_t *second)
{
    HWY_DYNAMIC_DISPATCH(split8)(from, count, first, second);
}
void split_row(const uint16_t *from, size_t count, uint16_t *first, uint16_t *second)
{
    HWY_DYNAMIC_DISPATCH(split16)(from, count, first, second);
}

} // namespace dnn_torch
#endif // HWY_ONCE
