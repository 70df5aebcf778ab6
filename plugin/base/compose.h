// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Puts texts together.  Any thread; nothing is owned but strings.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace dnn_torch
{

// An absent text is an empty one.
inline std::string text_or_empty(const char *text)
{
    return text ? text : "";
}

inline void append_part(std::string &text, std::string_view part)
{
    text += part;
}

template <std::integral Number> void append_part(std::string &text, Number part)
{
    text += std::to_string(part);
}

// Texts and whole numbers in a row: concat("device cuda:", 3, " is lost").
//
// libfmt would do more, for half a second more of every file that includes it
// and a library whose major version differs in each suite.  std::format takes
// this place when GCC 12 is no longer supported.
template <class... Parts> std::string concat(const Parts &...parts)
{
    std::string text;
    (append_part(text, parts), ...);
    return text;
}

// Appends `item` to a list.  `between` comes before all items but the first.
inline void add_to_list(std::string &list, std::string_view item, std::string_view between = ", ")
{
    if (!list.empty())
        list += between;
    list += item;
}

// "a, b, c".
template <class Items> std::string joined(const Items &items, std::string_view between = ", ")
{
    std::string list;
    for (const auto &item : items)
        add_to_list(list, item, between);
    return list;
}

// "8.44.100", of the number that avfilter_version() returns.
inline std::string version_text(unsigned version)
{
    return concat(version >> 16, ".", version >> 8 & 255, ".", version & 255);
}

} // namespace dnn_torch
