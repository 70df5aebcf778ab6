// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The only place where exceptions become AVERRORs.
#pragma once

#include "error.h"

extern "C" {
#include <libavutil/error.h>
#include <libavutil/log.h>
}

#include <exception>
#include <new>

namespace dnn_torch
{

// Runs `work` for a C caller.  Logs what it throws once, with `log_ctx`.
template <class Work> int guarded(void *log_ctx, Work &&work) noexcept
{
    try {
        return work();
    } catch (const std::bad_alloc &) {
        av_log(log_ctx, AV_LOG_ERROR, "out of memory\n");
        return AVERROR(ENOMEM);
    } catch (const AnyError &error) {
        av_log(log_ctx, AV_LOG_ERROR, "%s\n", error.what());
        return error.code();
    } catch (const std::exception &error) {
        av_log(log_ctx, AV_LOG_ERROR, "%s\n", error.what());
    } catch (...) {
        av_log(log_ctx, AV_LOG_ERROR, "an unknown exception\n");
    }
    return AVERROR_EXTERNAL;
}

} // namespace dnn_torch
