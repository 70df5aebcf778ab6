// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Counts with their nouns.
#pragma once

#include "compose.h"

#include <concepts>
#include <string>
#include <string_view>

namespace dnn_torch
{

// Returns "1 frame", "2 frames".  `many` is the plural, if it does more than add an s.
std::string counted(std::integral auto count, std::string_view noun, std::string_view many = {})
{
    if (count == 1)
        return concat("1 ", noun);
    return many.empty() ? concat(count, " ", noun, "s") : concat(count, " ", many);
}

inline std::string counted_classes(std::integral auto count)
{
    return counted(count, "class", "classes");
}

} // namespace dnn_torch
