// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "extra_pads.h"

#include <lavfi_abi.h>

extern "C" {
#include <libavutil/error.h>
#include <libavutil/mem.h>
}

#include <cerrno>

namespace dnn_torch
{
namespace
{

// Grows an array that libavutil allocated.  Leaves it unchanged if there is no memory.
template <class T> bool grow(T *&array, size_t count)
{
    void *const larger = av_realloc_array(array, count, sizeof(T));
    if (larger)
        array = static_cast<T *>(larger);
    return larger != nullptr;
}

} // namespace

int append_input_pad(AVFilterContext *ctx, const std::string &name)
{
    auto *pads = reinterpret_cast<lavfi_abi::Pad *>(ctx->input_pads);
    const unsigned count = ctx->nb_inputs;
    char *const own_name = av_strdup(name.c_str());
    if (own_name && grow(pads, count + 1))
        ctx->input_pads = reinterpret_cast<AVFilterPad *>(pads);
    else
        pads = nullptr;
    if (!pads || !grow(ctx->inputs, count + 1)) {
        av_free(own_name);
        return AVERROR(ENOMEM);
    }
    pads[count] = {};
    pads[count].name = own_name;
    pads[count].type = AVMEDIA_TYPE_VIDEO;
    pads[count].flags = lavfi_abi::pad_flag_free_name;
    ctx->inputs[count] = nullptr;
    ctx->nb_inputs = count + 1;
    return 0;
}

} // namespace dnn_torch
