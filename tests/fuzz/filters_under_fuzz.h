// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What the targets that run a filter share: the fake engine's model, and what libav* logs.
#pragma once

#include "fuzz.h"
#include "host/ffmpeg_pointers.h"
#include "host/filters/filters.h"
#include "host/libavfilter/real_registry.h"
#include "host/libavfilter/registry.h"

#include <string>

namespace fuzz
{

// The registry's functions as the preload object would find them; the gate's self-test.
// Logs are kept from here on.
void prepare_filters();

// A model that takes anything, by this name in the working folder.
inline constexpr const char *fake_model = "m.txt";
void write_fake_model();

// What was logged since the last call.
std::string take_log();

// Of an AVERROR that says that the program is at fault and not its user, what is wrong;
// otherwise "".
std::string own_fault(int status, const std::string &log);

} // namespace fuzz
