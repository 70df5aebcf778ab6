// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "filters_under_fuzz.h"

#include "base/lavfi_registry.h"

extern "C" {
#include <libavutil/error.h>
#include <libavutil/log.h>
}

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace fuzz
{
namespace
{

constexpr size_t longest_line = 1024, longest_log = 65536;

std::mutex mutex;
// ---- under mutex
char log_text[longest_log];
size_t log_size = 0;

// Allocates nothing: what is logged may be that there is no memory.
void keep_log(void *, int level, const char *format, va_list arguments)
{
    if (level > AV_LOG_ERROR)
        return;
    const std::lock_guard<std::mutex> lock(mutex);
    if (log_size + longest_line > longest_log)
        return;
    const int written = std::vsnprintf(log_text + log_size, longest_line, format, arguments);
    log_size += std::min(static_cast<size_t>(std::max(written, 0)), longest_line - 1);
}

} // namespace

void prepare_filters()
{
    setenv("DNN_TORCH_MODULE_PATH", FUZZ_MODULES, 1);
    av_log_set_callback(keep_log);
    dnn_torch::set_real_registry(dnn_torch_registry_of(RTLD_DEFAULT));
    dnn_torch::register_filters(dnn_torch::all_filters());
    if (!*dnn_torch::usable_filters())
        throw std::runtime_error("the filters are not offered");
}

void write_fake_model()
{
    std::ofstream(fake_model) << "channels 0\n";
}

std::string take_log()
{
    const std::lock_guard<std::mutex> lock(mutex);
    return {log_text, std::exchange(log_size, 0)};
}

std::string own_fault(int status, const std::string &log)
{
    if (status == AVERROR_BUG || status == AVERROR_BUG2)
        return "an AVERROR_BUG";
    for (const char *words : {"nternal bug", "should not have happened", "Assertion"})
        if (log.find(words) != std::string::npos)
            return std::string("a log that says '") + words + "'";
    return "";
}

} // namespace fuzz
