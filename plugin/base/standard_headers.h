// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A precompiled header with the standard headers that most sources include.  Each source still
// includes what it uses; -Db_pch=false builds without this file.
#ifndef DNN_TORCH_STANDARD_HEADERS_H
#define DNN_TORCH_STANDARD_HEADERS_H

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#endif
