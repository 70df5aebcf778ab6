// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "devices/cpu.h"
#include "devices/topology.h"
#include "host/workers/core_budget.h"

#include <gtest/gtest.h>
#include <ostream>

using namespace dnn_torch;

namespace
{

constexpr int64_t gigabyte = 1 << 30;
constexpr RunCost usual = {0.2, gigabyte / 4};

Machine machine(size_t cores)
{
    return {cores, 64 * gigabyte};
}

CoreBudget divide(size_t cores, const CoreRequest &request, const RunCost &cost = usual)
{
    return divide_cores(machine(cores), request, cost);
}

TEST(CoreBudget, NeverExceedsTheMachineByItself)
{
    for (size_t cores : {1U, 2U, 3U, 4U, 7U, 16U, 128U})
        for (const RunCost &cost :
             {RunCost{}, usual, RunCost{1e-4, 1000}, RunCost{9, 9 * gigabyte}}) {
            CoreBudget budget = divide(cores, {}, cost);
            EXPECT_LE(budget.workers * budget.threads_per_worker, cores);
            EXPECT_GE(budget.workers, 1U);
            EXPECT_EQ(budget.in_flight, budget.workers + 1);
        }
}

TEST(CoreBudget, EachCoreIsAWorkerOfOneThread)
{
    for (size_t cores : {1U, 2U, 16U}) {
        CoreBudget budget = divide(cores, {});
        EXPECT_EQ(budget.workers, cores);
        EXPECT_EQ(budget.threads_per_worker, 1U);
    }
}

TEST(CoreBudget, WorkersFitIntoHalfOfTheMemory)
{
    CoreBudget budget = divide(16, {}, {2.0, 8 * gigabyte});
    EXPECT_EQ(budget.workers, 4U);
    EXPECT_EQ(budget.threads_per_worker, 4U);
    EXPECT_EQ(divide(16, {}, {2.0, 100 * gigabyte}).workers, 1U);
    EXPECT_EQ(divide_cores({16, 0}, {}, {2.0, 100 * gigabyte}).workers, 16U);
}

TEST(CoreBudget, SeveralFiltersHaveAllWorkersAndDivideTheThreads)
{
    const Machine shared = {16, 64 * gigabyte, 2};
    EXPECT_EQ(divide_cores(shared, {}, usual).workers, 16U);
    EXPECT_EQ(divide_cores(shared, {.workers = 1}, usual).threads_per_worker, 8U);
    EXPECT_EQ(divide_cores(shared, {.in_order = true}, usual).threads_per_worker, 8U);
    EXPECT_EQ(divide_cores(shared, {}, {2.0, 8 * gigabyte}).threads_per_worker, 2U);
    EXPECT_EQ(divide_cores({2, 0, 5}, {.workers = 1}, usual).threads_per_worker, 1U);
    EXPECT_EQ(divide_cores(shared, {.workers = 1, .threads = 16}, usual).threads_per_worker, 16U);
    EXPECT_EQ(divide_cores(shared, {.async = false}, usual).threads_per_worker, 16U);
}

TEST(CoreBudget, FiltersAreCountedWhileTheyLive)
{
    EXPECT_EQ(usable_machine().filters, 1U);
    {
        const CoreUse one;
        EXPECT_EQ(usable_machine().filters, 1U);
        const CoreUse other;
        EXPECT_EQ(usable_machine().filters, 2U);
    }
    EXPECT_EQ(usable_machine().filters, 1U);
}

TEST(CoreBudget, ModelsOfNoCostNeedFewWorkers)
{
    EXPECT_EQ(divide(16, {}, {100e-6, 0}).workers, 1U);
    EXPECT_EQ(divide(16, {}, {250e-6, 0}).workers, 3U);
    EXPECT_EQ(divide(128, {}, {5e-3, 0}).workers, 50U);
    EXPECT_EQ(divide(16, {}, {0.1, 0}).workers, 16U);
    EXPECT_EQ(divide(16, {}, {100e-6, 0}).threads_per_worker, 1U);
    EXPECT_EQ(divide(16, {0, 0, 0, false}, {100e-6, 0}).threads_per_worker, 1U);
}

TEST(CoreBudget, UnknownCostIsFourWorkersAtMost)
{
    EXPECT_EQ(divide(2, {}, {}).workers, 2U);
    CoreBudget budget = divide(16, {}, {});
    EXPECT_EQ(budget.workers, 4U);
    EXPECT_EQ(budget.threads_per_worker, 4U);
}

TEST(CoreBudget, ADeviceWantsFewWorkersOfOneThread)
{
    CoreRequest request;
    request.device = true;
    CoreBudget budget = divide(16, request, {1e-3, 0});
    EXPECT_EQ(budget.workers, 4U);
    EXPECT_EQ(budget.threads_per_worker, 1U);
    request.async = false;
    EXPECT_EQ(divide(16, request).threads_per_worker, 1U);
}

TEST(CoreBudget, SynchronousIsOneAtATimeWithAllCores)
{
    CoreBudget budget = divide(8, {4, 0, 16, false});
    EXPECT_EQ(budget.workers, 1U);
    EXPECT_EQ(budget.in_flight, 1U);
    EXPECT_EQ(budget.threads_per_worker, 8U);
}

TEST(CoreBudget, WhatTheUserSaysStands)
{
    CoreBudget budget = divide(2, {5, 3, 7, true}, {1e-6, 100 * gigabyte});
    EXPECT_EQ(budget.workers, 5U);
    EXPECT_EQ(budget.threads_per_worker, 3U);
    EXPECT_EQ(budget.in_flight, 7U);
}

TEST(CoreBudget, NobodyStartsThousandsOfThreads)
{
    EXPECT_EQ(divide(2, {1, 99999, 0, true}).threads_per_worker, most_threads);
    EXPECT_EQ(divide(2, {256, 1000, 0, true}).threads_per_worker, most_threads / 256);
    EXPECT_EQ(divide(2, {0, 99999, 0, false}).threads_per_worker, most_threads);
}

TEST(CoreBudget, OneRequestNeedsOneWorker)
{
    CoreBudget budget = divide(4, {0, 0, 1, true});
    EXPECT_EQ(budget.workers, 1U);
    EXPECT_EQ(budget.threads_per_worker, 4U);
}

TEST(CoreBudget, ThreadsGivenLeaveRoomForFewerWorkers)
{
    EXPECT_EQ(divide(4, {0, 2, 0, true}).workers, 2U);
    EXPECT_EQ(divide(2, {0, 8, 0, true}).workers, 1U);
}

// ---- whole machines ---------------------------------------------------------

struct Whole {
    size_t cores, hyperthreads; // of each core
    double quota;               // 0: none
    size_t filters;
    size_t workers;        // wanted
    size_t threads_of_one; // wanted of a model that runs on one worker alone
};

std::ostream &operator<<(std::ostream &stream, const Whole &it)
{
    return stream << it.cores << " x " << it.hyperthreads << ", quota " << it.quota << ", "
                  << it.filters << " filters";
}

class WholeMachines : public testing::TestWithParam<Whole>
{
protected:
    static Machine machine()
    {
        const Whole &it = GetParam();
        const Processors all(it.cores * it.hyperthreads);
        const Topology topology = {.allowed = all, .cores = it.cores, .nodes = {all}};
        return {.cores = cores_within(worthwhile_cores(topology), it.quota),
                .memory = 1024 * gigabyte,
                .filters = it.filters};
    }
};

TEST_P(WholeMachines, AreDividedByTheirCores)
{
    const CoreBudget usually = divide_cores(machine(), {}, usual);
    EXPECT_EQ(usually.workers, GetParam().workers);
    EXPECT_EQ(usually.threads_per_worker, 1U);
    const CoreBudget in_order = divide_cores(machine(), {.in_order = true}, usual);
    EXPECT_EQ(in_order.workers, 1U);
    EXPECT_EQ(in_order.threads_per_worker, GetParam().threads_of_one);
}

TEST_P(WholeMachines, DoWhatTheUserSays)
{
    const CoreBudget budget = divide_cores(machine(), {.workers = 200, .threads = 1}, usual);
    EXPECT_EQ(budget.workers, 200U);
    EXPECT_EQ(budget.threads_per_worker, 1U);
}

INSTANTIATE_TEST_SUITE_P(Shapes, WholeMachines,
                         testing::Values(Whole{1, 1, 0, 1, 1, 1}, Whole{1, 2, 0, 1, 2, 2},
                                         Whole{2, 1, 0, 1, 2, 2}, Whole{2, 2, 0, 1, 2, 2},
                                         Whole{4, 1, 0, 1, 4, 4}, Whole{4, 2, 0, 2, 4, 2},
                                         Whole{16, 1, 0, 1, 16, 16}, Whole{16, 2, 0, 1, 16, 16},
                                         Whole{16, 2, 4.5, 1, 4, 4}, Whole{16, 2, 24, 3, 16, 5},
                                         Whole{64, 1, 0, 1, 64, 64}, Whole{64, 2, 0, 4, 64, 16},
                                         Whole{64, 2, 100, 1, 64, 64}, Whole{64, 4, 0.5, 4, 1, 1},
                                         Whole{128, 1, 0, 1, 128, 128},
                                         Whole{128, 2, 0, 2, 128, 64},
                                         Whole{128, 2, 16, 2, 16, 8}));

TEST(CoreBudget, ThisMachineHasCoresAndMemory)
{
    EXPECT_GE(usable_machine().cores, 1U);
    EXPECT_GT(usable_machine().memory, 1 << 20);
}

} // namespace
