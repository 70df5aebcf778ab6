// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Replies that engine-host would never send.
#pragma once

#include <vector>

// Each kind and size of reply that the host may wait for, with numbers that make no sense:
// counts, ranks, extents, strides and offsets beyond all bounds, texts without an end.
std::vector<std::vector<char>> forged_replies();
