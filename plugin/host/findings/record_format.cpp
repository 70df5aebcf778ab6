// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "record_format.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace dnn_torch
{
namespace
{

struct Ending {
    std::string_view text;
    RecordFormat format;
};

constexpr std::array endings = {
    Ending{".csv", RecordFormat::csv},
    Ending{".json", RecordFormat::coco},
    Ending{".srt", RecordFormat::srt},
};

bool ends_with(std::string_view text, std::string_view ending)
{
    return text.size() >= ending.size() &&
           std::equal(ending.rbegin(), ending.rend(), text.rbegin(), [](char one, char other) {
               return one == std::tolower(static_cast<unsigned char>(other));
           });
}

} // namespace

RecordFormat format_for(std::string_view destination)
{
    for (const Ending &ending : endings)
        if (ends_with(destination, ending.text))
            return ending.format;
    return RecordFormat::jsonl;
}

} // namespace dnn_torch
