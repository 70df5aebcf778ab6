// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A precompiled header for the tests: reading GoogleTest takes two seconds for each source.  Each
// source still includes what it uses; -Db_pch=false builds without this file.
#ifndef DNN_TORCH_TEST_HEADERS_H
#define DNN_TORCH_TEST_HEADERS_H

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#endif
