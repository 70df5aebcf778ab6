// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What a command is doing, for those who wait for it.  Any thread.
#pragma once

#include <string>

namespace dnn_torch
{

// Shows the text on standard error if that is a terminal, where the next one overwrites it.  An
// empty text leaves nothing.
void show_progress(const std::string &text);

// Shows the text until the end of the scope.
class Progress
{
public:
    explicit Progress(const std::string &text) { show_progress(text); }
    ~Progress() { show_progress(""); }
    Progress(const Progress &) = delete;
    Progress &operator=(const Progress &) = delete;
};

} // namespace dnn_torch
