// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "fit_options.h"

#include "option_kinds.h"

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

} // namespace dnn_torch
