// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "sizes.h"

#include "base/compose.h"
#include "host/error.h"

extern "C" {
#include <libavutil/error.h>
#include <libavutil/parseutils.h>
}

#include <charconv>
#include <cmath>
#include <string_view>

namespace dnn_torch
{
namespace
{

constexpr double largest_scale = 64;

[[noreturn]] void refuse(std::string_view name, const std::string &given)
{
    const std::string_view takes = name == "tile"  ? "auto, 0 (never), N or WxH, of 16 or more"
                                   : name == "fit" ? "auto, tile, scale or letterbox"
                                   : name == "scale"
                                       ? "a number above 0, up to 64"
                                       : "a size up to 65536x65536, such as 1920x1080 or hd1080";
    throw Error(AVERROR(EINVAL), concat(name, " takes ", takes, ", not '", given, "'"));
}

std::optional<int> number_from(std::string_view text, int least, int most)
{
    int number = 0;
    const char *const last = text.data() + text.size();
    const auto [end, fault] = std::from_chars(text.data(), last, number);
    if (fault != std::errc() || end != last || number < least || number > most)
        return std::nullopt;
    return number;
}

// Takes "WxH" and libavutil's names of sizes.
std::optional<Size> size_from(const std::string &text)
{
    Size size{};
    if (av_parse_video_size(&size.width, &size.height, text.c_str()) < 0 || size.width < 1 ||
        size.height < 1 || size.width > largest_side || size.height > largest_side)
        return std::nullopt;
    return size;
}

std::optional<double> scale_from(const std::string &text)
{
    double scale = 0;
    const char *const last = text.data() + text.size();
    const auto [end, fault] = std::from_chars(text.data(), last, scale);
    if (fault != std::errc() || end != last || !std::isfinite(scale) || scale <= 0 ||
        scale > largest_scale)
        return std::nullopt;
    return scale;
}

std::optional<Size> tile_from(const std::string &text)
{
    constexpr int least = 16;
    if (text == "0")
        return Size{0, 0};
    const std::optional<int> extent = number_from(text, least, largest_side);
    const std::optional<Size> tile = extent ? Size{*extent, *extent} : size_from(text);
    return tile && tile->width >= least && tile->height >= least ? tile : std::nullopt;
}

// The overlap is below half a tile, so that each tile keeps a middle.
int overlap_from(const std::string &text, const std::optional<Size> &tile)
{
    const bool has_tile = tile && tile->width > 0;
    const int most =
        has_tile ? (std::min(tile->width, tile->height) - 1) / 2 : (largest_side - 1) / 2;
    const std::optional<int> overlap = number_from(text, 0, most);
    if (!overlap)
        throw Error(AVERROR(EINVAL),
                    concat("overlap takes auto or a number of pixels up to ", most,
                           has_tile ? concat(", less than half of tile=", to_text(*tile)) : "",
                           ", not '", text, "'"));
    return *overlap;
}

std::optional<Fit> fit_from(std::string_view text)
{
    return text == "auto"        ? std::optional(Fit::automatic)
           : text == "tile"      ? std::optional(Fit::tile)
           : text == "scale"     ? std::optional(Fit::scale)
           : text == "letterbox" ? std::optional(Fit::letterbox)
                                 : std::nullopt;
}

// Sets `field` to the value, or throws Error if there is none.
template <class Field, class Value>
void set(std::string_view name, const std::string &text, const std::optional<Value> &value,
         Field &field)
{
    if (!value)
        refuse(name, text);
    field = *value;
}

} // namespace

void apply_size_options(const SizeOptions &options, SizeParameters &parameters)
{
    if (!options.tile.empty() && options.tile != "auto")
        set("tile", options.tile, tile_from(options.tile), parameters.tile);
    if (!options.overlap.empty() && options.overlap != "auto")
        parameters.overlap = overlap_from(options.overlap, parameters.tile);
    if (!options.fit.empty())
        set("fit", options.fit, fit_from(options.fit), parameters.fit);
    if (!options.scale.empty())
        set("scale", options.scale, scale_from(options.scale), parameters.scale);
    if (!options.size.empty())
        set("size", options.size, size_from(options.size), parameters.target);
    if (parameters.scale > 0 && parameters.target)
        throw Error(AVERROR(EINVAL), "scale and size both say how large the result is; give one");
}

} // namespace dnn_torch
