// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The page in which one line is replaced by the data.
#pragma once

#include <string_view>

namespace dnn_torch
{

// The contents of page.html.  "@DATA@" is in it once.
extern const std::string_view page_template;

} // namespace dnn_torch
