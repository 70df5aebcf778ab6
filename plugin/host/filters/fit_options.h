// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The options of filters that fit frames into a model's picture, and their texts.  Any thread.
#pragma once

#include "host/frames/placement.h"
#include "host/size.h"
#include "options.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dnn_torch
{

struct FitTexts {
    const char *help, *automatic, *letterbox;
    const char *unit;
};

// `offset` must be that of an int.
OptionTable fit_options(const FitTexts &texts, size_t offset);

// Returns nullopt if the model decides.
std::optional<Placing> placing_of(int fit);

// The largest extent of a model's picture.
constexpr int largest_extent = 1 << 14;

// Returns the parts of a list, "a|b" or "a,b", without empty ones.
std::vector<std::string> parts_of(std::string_view list, std::string_view separators = "|,");

// Parses the option `size` of a model's picture: "WxH", one number for both, or one of libavutil's
// names.  Throws Error with a text that begins with "size takes"; `or_else` is what the option also
// takes: ", or frame".
Size picture_size_of(const std::string &text, std::string_view or_else);

} // namespace dnn_torch
