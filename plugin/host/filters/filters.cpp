// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "filters.h"

namespace dnn_torch
{

const AVFilter *const *all_filters()
{
    static const AVFilter *const filters[] = {dnn_torch_filter(), dnn_torch_detect_filter(),
                                              dnn_torch_classify_filter(),
                                              dnn_torch_interpolate_filter(), nullptr};
    return filters;
}

} // namespace dnn_torch
