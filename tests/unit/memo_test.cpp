// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/model/memo.h"

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace dnn_torch;
using namespace std::chrono_literals;

namespace
{

TEST(Memo, MakesAResultOnce)
{
    Memo<std::string, int> memo(4);
    int made = 0;
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(memo.get("a", [&] { return ++made; }), 1);
    EXPECT_EQ(memo.get("b", [&] { return ++made; }), 2);
}

TEST(Memo, RemembersWhatWasAskedForLast)
{
    Memo<int, int> memo(2);
    std::vector<int> made;
    auto get = [&](int key) {
        return memo.get(key, [&] {
            made.push_back(key);
            return key;
        });
    };
    for (int key : {1, 2, 1, 3, 1, 2})
        EXPECT_EQ(get(key), key);
    EXPECT_EQ(made, (std::vector{1, 2, 3, 2}));
}

TEST(Memo, AFailureIsNotRemembered)
{
    Memo<int, int> memo(2);
    EXPECT_THROW(memo.get(1, []() -> int { throw std::runtime_error("no"); }), std::runtime_error);
    EXPECT_EQ(memo.get(1, [] { return 7; }), 7);
}

TEST(Memo, OneOfManyThreadsMakesIt)
{
    Memo<int, int> memo(2);
    std::atomic<int> made = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; i++)
        threads.emplace_back([&] {
            EXPECT_EQ(memo.get(1,
                               [&] {
                                   std::this_thread::sleep_for(50ms);
                                   return ++made;
                               }),
                      1);
        });
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(made, 1);
}

} // namespace
