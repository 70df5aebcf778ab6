// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/workers/held_signals.h"

#include <csignal>
#include <gtest/gtest.h>
#include <thread>

using dnn_torch::HeldSignals;

namespace
{

volatile sig_atomic_t first_calls, other_calls;

void first(int)
{
    first_calls = first_calls + 1;
}

void other(int)
{
    other_calls = other_calls + 1;
}

class Signals : public testing::Test
{
protected:
    void SetUp() override
    {
        first_calls = 0;
        other_calls = 0;
        signal(SIGINT, first);
    }
    void TearDown() override { signal(SIGINT, SIG_DFL); }
};

TEST_F(Signals, ComeAfterwardsAsOftenAsTheyCame)
{
    {
        HeldSignals held;
        for (int i = 0; i < 4; i++)
            raise(SIGINT);
        std::thread([] { raise(SIGINT); }).join();
        EXPECT_EQ(first_calls, 0);
    }
    EXPECT_EQ(first_calls, 5);
    raise(SIGINT);
    EXPECT_EQ(first_calls, 6);
}

TEST_F(Signals, WithoutAHandlerDoWhatTheyAlwaysDo)
{
    auto die_of_it = [] {
        HeldSignals held;
        raise(SIGTERM);
    };
    EXPECT_EXIT(die_of_it(), testing::KilledBySignal(SIGTERM), "");
    signal(SIGHUP, SIG_IGN);
    {
        HeldSignals held;
        raise(SIGHUP);
    }
    EXPECT_EQ(signal(SIGHUP, SIG_DFL), SIG_IGN);
}

TEST_F(Signals, AHandlerThatIsSetMeanwhileStays)
{
    {
        HeldSignals held;
        raise(SIGINT);
        signal(SIGINT, other);
    }
    EXPECT_EQ(first_calls, 0);
    EXPECT_EQ(other_calls, 1);
    EXPECT_EQ(signal(SIGINT, other), other);
}

} // namespace
