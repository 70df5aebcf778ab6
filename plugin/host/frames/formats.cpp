// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

namespace dnn_torch
{
namespace
{

// libavfilter prefers the first format if all fit equally well.
constexpr AVPixelFormat rgb_table[] = {
    AV_PIX_FMT_RGB24,   AV_PIX_FMT_BGR24,   AV_PIX_FMT_GBRP,     AV_PIX_FMT_RGBA,
    AV_PIX_FMT_BGRA,    AV_PIX_FMT_ARGB,    AV_PIX_FMT_ABGR,     AV_PIX_FMT_RGB0,
    AV_PIX_FMT_BGR0,    AV_PIX_FMT_0RGB,    AV_PIX_FMT_0BGR,     AV_PIX_FMT_GBRAP,
    AV_PIX_FMT_RGB48,   AV_PIX_FMT_BGR48,   AV_PIX_FMT_RGBA64,   AV_PIX_FMT_BGRA64,
    AV_PIX_FMT_GBRP9,   AV_PIX_FMT_GBRP10,  AV_PIX_FMT_GBRP12,   AV_PIX_FMT_GBRP14,
    AV_PIX_FMT_GBRP16,  AV_PIX_FMT_GBRAP10, AV_PIX_FMT_GBRAP12,
#ifdef AV_PIX_FMT_GBRAP14
    AV_PIX_FMT_GBRAP14,
#endif
    AV_PIX_FMT_GBRAP16, AV_PIX_FMT_GBRPF32, AV_PIX_FMT_GBRAPF32,
#ifdef AV_PIX_FMT_RGBF32
    AV_PIX_FMT_RGBF32,
#endif
#ifdef AV_PIX_FMT_RGBAF32
    AV_PIX_FMT_RGBAF32,
#endif
};

constexpr AVPixelFormat luma_table[] = {
    AV_PIX_FMT_GRAY8,      AV_PIX_FMT_GRAY9,      AV_PIX_FMT_GRAY10,     AV_PIX_FMT_GRAY12,
    AV_PIX_FMT_GRAY14,     AV_PIX_FMT_GRAY16,     AV_PIX_FMT_GRAYF32,    AV_PIX_FMT_YA8,
    AV_PIX_FMT_YA16,
#ifdef AV_PIX_FMT_YAF32
    AV_PIX_FMT_YAF32,
#endif
    AV_PIX_FMT_YUV420P,    AV_PIX_FMT_YUV422P,    AV_PIX_FMT_YUV444P,    AV_PIX_FMT_YUV440P,
    AV_PIX_FMT_YUV411P,    AV_PIX_FMT_YUV410P,    AV_PIX_FMT_YUVJ420P,   AV_PIX_FMT_YUVJ422P,
    AV_PIX_FMT_YUVJ444P,   AV_PIX_FMT_YUVJ440P,   AV_PIX_FMT_YUVJ411P,   AV_PIX_FMT_YUV420P9,
    AV_PIX_FMT_YUV422P9,   AV_PIX_FMT_YUV444P9,   AV_PIX_FMT_YUV420P10,  AV_PIX_FMT_YUV422P10,
    AV_PIX_FMT_YUV444P10,  AV_PIX_FMT_YUV440P10,  AV_PIX_FMT_YUV420P12,  AV_PIX_FMT_YUV422P12,
    AV_PIX_FMT_YUV444P12,  AV_PIX_FMT_YUV440P12,  AV_PIX_FMT_YUV420P14,  AV_PIX_FMT_YUV422P14,
    AV_PIX_FMT_YUV444P14,  AV_PIX_FMT_YUV420P16,  AV_PIX_FMT_YUV422P16,  AV_PIX_FMT_YUV444P16,
    AV_PIX_FMT_YUVA420P,   AV_PIX_FMT_YUVA422P,   AV_PIX_FMT_YUVA444P,   AV_PIX_FMT_YUVA420P9,
    AV_PIX_FMT_YUVA422P9,  AV_PIX_FMT_YUVA444P9,  AV_PIX_FMT_YUVA420P10, AV_PIX_FMT_YUVA422P10,
    AV_PIX_FMT_YUVA444P10, AV_PIX_FMT_YUVA422P12, AV_PIX_FMT_YUVA444P12, AV_PIX_FMT_YUVA420P16,
    AV_PIX_FMT_YUVA422P16, AV_PIX_FMT_YUVA444P16, AV_PIX_FMT_NV12,       AV_PIX_FMT_NV21,
    AV_PIX_FMT_NV16,       AV_PIX_FMT_NV24,       AV_PIX_FMT_NV42,       AV_PIX_FMT_NV20,
    AV_PIX_FMT_P010,       AV_PIX_FMT_P210,       AV_PIX_FMT_P410,
#ifdef AV_PIX_FMT_P012
    AV_PIX_FMT_P012,
#endif
#ifdef AV_PIX_FMT_P212
    AV_PIX_FMT_P212,
#endif
#ifdef AV_PIX_FMT_P412
    AV_PIX_FMT_P412,
#endif
    AV_PIX_FMT_P016,       AV_PIX_FMT_P216,       AV_PIX_FMT_P416,
};

constexpr AVPixelFormat full_yuv_table[] = {
    AV_PIX_FMT_YUV444P,   AV_PIX_FMT_YUVJ444P,   AV_PIX_FMT_YUV444P9,   AV_PIX_FMT_YUV444P10,
    AV_PIX_FMT_YUV444P12, AV_PIX_FMT_YUV444P14,  AV_PIX_FMT_YUV444P16,  AV_PIX_FMT_YUVA444P,
    AV_PIX_FMT_YUVA444P9, AV_PIX_FMT_YUVA444P10, AV_PIX_FMT_YUVA444P12, AV_PIX_FMT_YUVA444P16,
};

// The library may be an older release of its major than the headers, without the newest formats.
template <class... Tables> std::vector<AVPixelFormat> known_of(const Tables &...tables)
{
    std::vector<AVPixelFormat> known;
    for (std::span<const AVPixelFormat> table : {std::span<const AVPixelFormat>(tables)...})
        for (AVPixelFormat format : table)
            if (av_pix_fmt_desc_get(format))
                known.push_back(format);
    known.push_back(AV_PIX_FMT_NONE);
    return known;
}

Element element_of(const AVPixFmtDescriptor &format)
{
    if (format.flags & AV_PIX_FMT_FLAG_FLOAT)
        return Element::f32;
    return sample_bytes(format) == 1 ? Element::u8 : Element::u16;
}

// Returns the formats of `list` that are wanted.
template <class Wanted>
std::vector<AVPixelFormat> chosen_of(const AVPixelFormat *list, const Wanted &is_wanted)
{
    std::vector<AVPixelFormat> chosen;
    for (; *list != AV_PIX_FMT_NONE; list++)
        if (is_wanted(*list, *av_pix_fmt_desc_get(*list)))
            chosen.push_back(*list);
    chosen.push_back(AV_PIX_FMT_NONE);
    return chosen;
}

std::vector<AVPixelFormat> with_alpha(const AVPixelFormat *list)
{
    return chosen_of(list, [](AVPixelFormat, const auto &format) { return has_alpha(format); });
}

// Returns the position in the group that no channel has, or -1.
int unseen_position(const RowLayout &layout)
{
    for (int position = 0; position < layout.group; position++) {
        const int *end = layout.position + layout.channels;
        if (std::find(layout.position, end, position) == end)
            return position;
    }
    return -1;
}

RowLayout layout_of(const AVPixFmtDescriptor &descriptor, int channels, int first_component)
{
    const AVComponentDescriptor &first = descriptor.comp[0];
    RowLayout layout{};
    layout.first = first_component;
    layout.element = element_of(descriptor);
    layout.shift = first.shift;
    layout.white =
        layout.element == Element::f32 ? 1.0F : static_cast<float>((1 << first.depth) - 1);
    layout.channels = channels;
    layout.group = first.step / sample_bytes(descriptor);
    for (int c = 0; c < layout.channels; c++)
        layout.position[c] = descriptor.comp[first_component + c].offset / sample_bytes(descriptor);
    layout.unseen = unseen_position(layout);
    return layout;
}

} // namespace

bool is_rgb(const AVPixFmtDescriptor &format)
{
    return (format.flags & AV_PIX_FMT_FLAG_RGB) != 0;
}

bool is_rgb(AVPixelFormat format)
{
    return is_rgb(*av_pix_fmt_desc_get(format));
}

bool has_alpha(const AVPixFmtDescriptor &format)
{
    return (format.flags & AV_PIX_FMT_FLAG_ALPHA) != 0;
}

bool has_alpha(AVPixelFormat format)
{
    return has_alpha(*av_pix_fmt_desc_get(format));
}

bool has_forced_range(AVPixelFormat format)
{
    const char *name = av_get_pix_fmt_name(format);
    return name && std::string_view(name).starts_with("yuvj");
}

const AVPixelFormat *formats_for_any_model()
{
    static const auto list = known_of(rgb_table, luma_table);
    return list.data();
}
const AVPixelFormat *formats_for_rgb_models()
{
    static const auto list = known_of(rgb_table, full_yuv_table);
    return list.data();
}
const AVPixelFormat *formats_for_luma_models()
{
    static const auto list = known_of(luma_table);
    return list.data();
}

const AVPixelFormat *full_chroma_formats()
{
    static const auto list = known_of(full_yuv_table);
    return list.data();
}

const AVPixelFormat *formats_with_luma_first()
{
    static const auto list = known_of(luma_table, rgb_table);
    return list.data();
}

const AVPixelFormat *formats_with_colours()
{
    static const auto list =
        chosen_of(formats_for_any_model(),
                  [](AVPixelFormat, const auto &format) { return format.nb_components >= 3; });
    return list.data();
}

const AVPixelFormat *grey_formats()
{
    static const auto list =
        chosen_of(formats_for_luma_models(),
                  [](AVPixelFormat, const auto &format) { return format.nb_components == 1; });
    return list.data();
}
const AVPixelFormat *opaque_rgb_formats()
{
    static const auto list =
        chosen_of(formats_for_any_model(), [](AVPixelFormat format, const auto &described) {
            return is_rgb(described) && !has_alpha(described) && row_layout(format, 3).unseen < 0;
        });
    return list.data();
}
const AVPixelFormat *rgb_formats_with_alpha()
{
    static const auto list =
        chosen_of(formats_for_any_model(), [](AVPixelFormat, const auto &format) {
            return is_rgb(format) && has_alpha(format);
        });
    return list.data();
}
const AVPixelFormat *formats_with_alpha(int channels)
{
    static const auto rgb = with_alpha(formats_for_rgb_models());
    static const auto luma = with_alpha(formats_for_luma_models());
    return channels == 1 ? luma.data() : rgb.data();
}
const AVPixelFormat *any_formats_with_alpha()
{
    static const auto list = with_alpha(formats_for_any_model());
    return list.data();
}

int model_channels(AVPixelFormat format)
{
    return is_rgb(format) ? 3 : 1;
}

bool needs_colours(AVPixelFormat format, int channels)
{
    return channels == 3 && model_channels(format) == 1;
}

int sample_bytes(const AVPixFmtDescriptor &format)
{
    int depth = format.comp[0].depth;
    return depth <= 8 ? 1 : depth <= 16 ? 2 : 4;
}

RowLayout row_layout(AVPixelFormat format, int channels, int first_component)
{
    return layout_of(*av_pix_fmt_desc_get(format), channels, first_component);
}

} // namespace dnn_torch
