// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Formats the facts and the verdicts, for people and for programs.
#pragma once

#include "facts.h"

#include <string>

namespace dnn_torch
{

std::string devices_table(const Facts &facts);

// Returns one object; launcher/devices.cpp describes its keys.
std::string devices_json(const Facts &facts);

} // namespace dnn_torch
