// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "fit_options.h"

#include "base/compose.h"
#include "base/terminal.h"
#include "host/error.h"
#include "option_kinds.h"

extern "C" {
#include <libavutil/error.h>
#include <libavutil/parseutils.h>
}

#include <charconv>

namespace dnn_torch
{
namespace
{

enum class FitChoice { automatic, letterbox, stretch, crop };

} // namespace

OptionTable fit_options(const FitTexts &texts, size_t offset)
{
    return {
        with_unit(int_option("fit", texts.help, offset, 0, 0, static_cast<int>(FitChoice::crop)),
                  texts.unit),
        named_value("auto", texts.automatic, FitChoice::automatic, texts.unit),
        named_value("letterbox", texts.letterbox, FitChoice::letterbox, texts.unit),
        named_value("stretch", "whole, with the picture's aspect", FitChoice::stretch, texts.unit),
        named_value("crop", "the middle of it", FitChoice::crop, texts.unit),
    };
}

std::optional<Placing> placing_of(int fit)
{
    switch (static_cast<FitChoice>(fit)) {
    case FitChoice::letterbox:
        return Placing::letterbox;
    case FitChoice::stretch:
        return Placing::stretch;
    case FitChoice::crop:
        return Placing::crop;
    default:
        return std::nullopt;
    }
}

std::vector<std::string> parts_of(std::string_view list, std::string_view separators)
{
    std::vector<std::string> parts;
    while (!list.empty()) {
        const size_t end = list.find_first_of(separators);
        if (const std::string_view part = list.substr(0, end); !part.empty())
            parts.emplace_back(part);
        list.remove_prefix(end == std::string_view::npos ? list.size() : end + 1);
    }
    return parts;
}

Size picture_size_of(const std::string &text, std::string_view or_else)
{
    int extent = 0;
    const char *const last = text.data() + text.size();
    const auto [end, fault] = std::from_chars(text.data(), last, extent);
    Size size = {extent, extent};
    const bool is_number = fault == std::errc() && end == last;
    if ((!is_number && av_parse_video_size(&size.width, &size.height, text.c_str()) < 0) ||
        size.width < 1 || size.height < 1 || size.width > largest_extent ||
        size.height > largest_extent)
        throw Error(AVERROR(EINVAL),
                    concat("size takes a size up to 16384x16384, such as 640x640, one number for "
                           "both",
                           or_else, ", not '", printable(text.substr(0, 40)), "'"));
    return size;
}

} // namespace dnn_torch
