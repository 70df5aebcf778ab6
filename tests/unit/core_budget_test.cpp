// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pipeline/core_budget.h"

#include <gtest/gtest.h>

using dnn_torch::CoreBudget;
using dnn_torch::divide_cores;

namespace {

TEST(CoreBudget, NeverExceedsTheMachineByItself)
{
    for (size_t cores : {1U, 2U, 3U, 4U, 7U, 16U, 128U}) {
        CoreBudget budget = divide_cores(cores, 0, 0, 0, true);
        EXPECT_LE(budget.workers * budget.threads_per_worker, cores);
        EXPECT_GE(budget.workers, 1U);
        EXPECT_GT(budget.in_flight, budget.workers);
    }
}

TEST(CoreBudget, TwoCoresAreTwoWorkers)
{
    CoreBudget budget = divide_cores(2, 0, 0, 0, true);
    EXPECT_EQ(budget.workers, 2U);
    EXPECT_EQ(budget.threads_per_worker, 1U);
}

TEST(CoreBudget, SynchronousIsOneAtATimeWithAllCores)
{
    CoreBudget budget = divide_cores(8, 4, 0, 16, false);
    EXPECT_EQ(budget.workers, 1U);
    EXPECT_EQ(budget.in_flight, 1U);
    EXPECT_EQ(budget.threads_per_worker, 8U);
}

TEST(CoreBudget, WhatTheUserSaysStands)
{
    CoreBudget budget = divide_cores(2, 5, 3, 7, true);
    EXPECT_EQ(budget.workers, 5U);
    EXPECT_EQ(budget.threads_per_worker, 3U);
    EXPECT_EQ(budget.in_flight, 7U);
}

TEST(CoreBudget, OneRequestNeedsOneWorker)
{
    CoreBudget budget = divide_cores(4, 0, 0, 1, true);
    EXPECT_EQ(budget.workers, 1U);
    EXPECT_EQ(budget.threads_per_worker, 4U);
}

TEST(CoreBudget, ThreadsGivenLeaveRoomForFewerWorkers)
{
    EXPECT_EQ(divide_cores(4, 0, 2, 0, true).workers, 2U);
    EXPECT_EQ(divide_cores(2, 0, 8, 0, true).workers, 1U);
}

} // namespace
