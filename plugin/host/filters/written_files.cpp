// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "written_files.h"

#include "base/compose.h"
#include "host/contract/contract.h"
#include "host/error.h"
#include "host/results/destination.h"

extern "C" {
#include <libavutil/error.h>
#include <libavutil/mem.h>
#include <libavutil/opt.h>
}

#include <filesystem>
#include <string>
#include <system_error>

namespace dnn_torch
{
namespace
{

// "" if the filter has no such option.
std::string value_of(void *options, const char *option)
{
    uint8_t *value = nullptr;
    if (!av_opt_find(options, option, nullptr, 0, 0) || av_opt_get(options, option, 0, &value) < 0)
        return "";
    const std::string text = reinterpret_cast<const char *>(value);
    av_free(value);
    return text;
}

bool is_same_file(const std::string &one, const std::string &other)
{
    std::error_code absent;
    return std::filesystem::equivalent(one, other, absent);
}

} // namespace

void check_written_files(void *options)
{
    struct Read {
        const char *words;
        std::string path;
    };
    const std::string model = value_of(options, "model");
    const Read all_read[] = {{"the model", model},
                             {"the model's contract", model.empty() ? "" : file_beside(model)},
                             {"the labels", value_of(options, "labels")}};
    for (const char *option : {"stats", "destination"}) {
        const std::string value = value_of(options, option);
        if (value.empty())
            continue;
        for (const Read &read : all_read)
            if (is_same_file(place_of(value), read.path))
                throw Error(AVERROR(EBUSY),
                            concat(option, "=", value, " names ", read.words,
                                   ", which it would overwrite; name another file"));
    }
}

} // namespace dnn_torch
