// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/filters/loop_state.h"

#include <gtest/gtest.h>

using namespace dnn_torch;

namespace
{

constexpr bool async = false, one_at_a_time = true;
constexpr bool newer = false, before_ffmpeg_6 = true;

// A pool of 4 jobs with `jobs` of them in flight, and results that wait.
Load load_of(size_t jobs, size_t results = 0)
{
    return {.pool = true, .jobs = jobs, .most_jobs = 4, .most_results = 8, .results = results};
}

TEST(LoopState, TakesFramesInUntilThePoolIsFull)
{
    LoopState state(async, newer);
    EXPECT_TRUE(state.has_room({})) << "before the first frame there is no pool";
    EXPECT_TRUE(state.has_room(load_of(3, 7)));
    EXPECT_FALSE(state.has_room(load_of(4)));
    EXPECT_FALSE(state.has_room(load_of(0, 8))) << "nobody takes the results";
    Load failed = load_of(1);
    failed.pool_failed = true;
    EXPECT_FALSE(state.has_room(failed));
}

TEST(LoopState, TheRestOfAJobWaitsForRoomAndAllElseForIt)
{
    LoopState state(async, before_ffmpeg_6);
    Load rest = load_of(3, 7), full = load_of(4), unwanted = load_of(0, 8);
    rest.rest = full.rest = unwanted.rest = true;
    EXPECT_FALSE(state.has_room(rest));
    EXPECT_TRUE(state.has_room_for_rest(rest));
    EXPECT_FALSE(state.has_room_for_rest(full));
    EXPECT_FALSE(state.has_room_for_rest(unwanted));
    state.hold();
    Load waiting = load_of(0);
    EXPECT_TRUE(state.may_change(waiting));
    waiting.rest = true;
    EXPECT_FALSE(state.may_change(waiting));
    state.end_input();
    EXPECT_TRUE(state.has_room_for_rest(full)) << "or a failure of it would be ignored";
    state.fail();
    EXPECT_FALSE(state.has_room_for_rest(rest));
}

TEST(LoopState, WaitsForAJobOnlyIfNothingElseCanBeDone)
{
    LoopState state(async, newer);
    EXPECT_FALSE(state.job_is_due({}));
    EXPECT_FALSE(state.job_is_due(load_of(3)));
    EXPECT_TRUE(state.job_is_due(load_of(4)));
    EXPECT_FALSE(state.job_is_due(load_of(4, 1))) << "a result can go out instead";
    Load due = load_of(1, 5);
    due.oldest_is_due = true;
    EXPECT_TRUE(state.job_is_due(due));
    Load failed = load_of(1);
    failed.pool_failed = true;
    EXPECT_TRUE(state.job_is_due(failed)) << "its failure must come out";
    EXPECT_TRUE(LoopState(one_at_a_time, newer).job_is_due(load_of(1)));
}

TEST(LoopState, SendsOneFrameATurnAndThenAsksForNone)
{
    LoopState state(async, newer);
    state.begin_turn();
    EXPECT_FALSE(state.sends(load_of(2)));
    EXPECT_TRUE(state.wants_input());
    EXPECT_TRUE(state.sends(load_of(2, 2)));
    state.frame_sent();
    EXPECT_FALSE(state.sends(load_of(2, 1)));
    EXPECT_FALSE(state.wants_input());
    state.begin_turn();
    EXPECT_TRUE(state.sends(load_of(2, 1)));
}

TEST(LoopState, AChangeWaitsForAllBeforeIt)
{
    LoopState state(async, newer);
    state.begin_turn();
    state.hold();
    EXPECT_EQ(state.phase(), Phase::changing);
    EXPECT_FALSE(state.has_room(load_of(0)));
    EXPECT_FALSE(state.wants_input());
    EXPECT_FALSE(state.may_change(load_of(1)));
    EXPECT_TRUE(state.job_is_due(load_of(1)));
    EXPECT_TRUE(state.may_change(load_of(0, 3))) << "results go out later, in their order";
    EXPECT_TRUE(state.may_change({})) << "the very first frame has another size";
    Load failed = load_of(0);
    failed.pool_failed = true;
    EXPECT_FALSE(state.may_change(failed));
    state.resume();
    EXPECT_TRUE(state.has_room(load_of(0, 3)));
}

TEST(LoopState, DrainsWhatIsInFlight)
{
    LoopState state(async, newer);
    state.end_input();
    EXPECT_EQ(state.phase(), Phase::draining);
    EXPECT_FALSE(state.input_is_open());
    EXPECT_FALSE(state.has_room(load_of(1)));
    EXPECT_TRUE(state.job_is_due(load_of(1)));
    EXPECT_FALSE(state.job_is_due(load_of(1, 1)));
    EXPECT_TRUE(LoopState(async, newer).has_room({}));
    EXPECT_FALSE(state.is_drained(load_of(1)));
    EXPECT_FALSE(state.is_drained(load_of(0, 1)));
    Load gathering = load_of(0);
    gathering.others = 1;
    EXPECT_FALSE(state.is_drained(gathering));
    EXPECT_TRUE(state.is_drained(load_of(0)));
    EXPECT_TRUE(state.is_drained({})) << "no frame has come";
}

// Where a late failure is no failure, all is known before the last frames go out.
TEST(LoopState, BeforeFfmpeg6AllJobsAreAwaitedAtTheEnd)
{
    LoopState state(async, before_ffmpeg_6);
    EXPECT_FALSE(state.job_is_due(load_of(4, 1)));
    state.end_input();
    EXPECT_TRUE(state.job_is_due(load_of(4, 1)));
    state.begin_turn();
    state.frame_sent();
    EXPECT_FALSE(state.sends(load_of(0, 2)));
    state.fail();
    EXPECT_TRUE(state.sends(load_of(0, 2))) << "all in this turn, then the failure";
    EXPECT_TRUE(state.too_late_to_fail());
}

TEST(LoopState, FailsOnceInEachPhase)
{
    for (bool ended : {false, true})
        for (bool changing : {false, true}) {
            LoopState state(async, newer);
            if (changing)
                state.hold();
            if (ended)
                state.end_input();
            state.fail();
            EXPECT_TRUE(state.failing());
            EXPECT_EQ(state.phase(), ended ? Phase::failing_late : Phase::failing);
            EXPECT_EQ(state.input_is_open(), !ended);
            EXPECT_FALSE(state.too_late_to_fail());
            EXPECT_FALSE(state.has_room(load_of(0)));
            EXPECT_FALSE(state.may_change(load_of(0)));
            EXPECT_FALSE(state.job_is_due(load_of(4))) << "what is younger is given up";
            EXPECT_FALSE(state.is_drained(load_of(0)));
            EXPECT_FALSE(state.wants_input());
            state.end_input();
            EXPECT_EQ(state.phase(), Phase::failing_late);
        }
}

TEST(LoopState, AFailureWaitsUntilTheFramesBeforeItAreTaken)
{
    LoopState state(async, newer);
    state.begin_turn();
    state.frame_sent();
    state.frame_sent();
    state.fail();
    state.wait_with_failure();
    state.begin_turn();
    EXPECT_TRUE(state.is_too_early(true)) << "a frame that came in has woken us";
    EXPECT_TRUE(state.is_too_early(true));
    EXPECT_FALSE(state.is_too_early(true)) << "each of these turns has taken a frame of ours";
    state.wait_with_failure();
    EXPECT_FALSE(state.is_too_early(false)) << "downstream wants more";
}

TEST(LoopState, AFailureDoesNotWaitIfThatWouldLoseIt)
{
    LoopState state(async, before_ffmpeg_6);
    state.begin_turn();
    state.frame_sent();
    state.fail();
    state.wait_with_failure();
    state.end_input();
    EXPECT_FALSE(state.is_too_early(true));
}

TEST(LoopState, NothingFollowsTheEnd)
{
    LoopState state(async, newer);
    state.finish();
    EXPECT_EQ(state.phase(), Phase::ended);
    EXPECT_FALSE(state.has_room({}));
    EXPECT_FALSE(state.job_is_due(load_of(4)));
    EXPECT_FALSE(state.input_is_open());
    EXPECT_FALSE(state.wants_input());
}

} // namespace
