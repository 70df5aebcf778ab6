// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A child in which nothing of its model has run, kept for the next opening of the same file.  A
// model is often opened to be described, and then with other options; loading an engine takes a
// second each time.
#pragma once

#include "child.h"
#include "settings.h"

#include <memory>

namespace isolation
{

// Keeps the child for a few seconds if another opening could use it, and otherwise ends it.  There
// is one such child: the previous one ends.  Any thread.
void keep_spare(std::shared_ptr<Child> child, const Settings &settings) noexcept;

// Returns the child that was kept, if it was opened from the same file in the same cage, and
// nullptr otherwise.  It may have ended meanwhile.  Any thread.
std::shared_ptr<Child> take_spare(const Settings &settings);

} // namespace isolation
