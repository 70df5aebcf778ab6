// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds something out in a child process, which may do what this process must not.
#pragma once

#include <functional>
#include <string>

namespace dnn_torch
{

struct ChildText {
    std::string text;
    std::string failure; // why the text is not whole; empty if it is
};

// Returns what `find` returns in a child process.  The child ends after `seconds`, and with this
// thread.  Call it with a single thread: others may hold locks that the child then waits for.
ChildText text_of_child(const std::function<std::string()> &find, unsigned seconds);

} // namespace dnn_torch
