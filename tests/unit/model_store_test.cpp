// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "failing_threads.h"
#include "host/model/engine_choice.h"
#include "host/model/file_identity.h"
#include "host/model/model_store.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <iterator>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace dnn_torch;
using namespace std::chrono_literals;

namespace
{

constexpr std::chrono::milliseconds for_ever = 1h, at_once = 20ms;
constexpr std::chrono::milliseconds settling = 25ms; // a file that changed before is not shared

// A folder with one model in it, whose loads are counted.
class ModelStoreTest : public testing::Test
{
protected:
    ModelStoreTest() { write(""); }
    ~ModelStoreTest() override
    {
        for (const std::string &path : {model_, other_name_, loads_})
            unlink(path.c_str());
        rmdir(folder_.c_str());
    }

    void write(const std::string &lines) const
    {
        std::ofstream(model_) << "loads " << loads_ << "\n" << lines << "\n";
        std::this_thread::sleep_for(settling);
    }

    ModelOptions options() const
    {
        ModelOptions made;
        made.path = model_;
        made.device = "cpu";
        made.timeout = 30s;
        return made;
    }

    int count(const std::string &event) const
    {
        std::ifstream file(loads_);
        int found = 0;
        for (std::string line; std::getline(file, line);)
            found += line == event;
        return found;
    }
    int loads() const { return count("open"); }

    // What is to come soon; false where it does not.
    static bool soon(const std::function<bool()> &is_so)
    {
        for (int i = 0; i < 500 && !is_so(); i++)
            std::this_thread::sleep_for(10ms);
        return is_so();
    }

    static std::string made_folder()
    {
        std::string name = testing::TempDir() + "dnn_torch_store_XXXXXX";
        return mkdtemp(name.data());
    }

    const DnnTorchEngine &engine_ = *open_engine("fake");
    const std::string folder_ = made_folder();
    const std::string model_ = folder_ + "/model", other_name_ = folder_ + "/other";
    const std::string loads_ = folder_ + "/loads";
};

TEST_F(ModelStoreTest, LoadsAFileOnceForAllWhoUseIt)
{
    ModelStore store(for_ever);
    std::shared_ptr<Model> first = store.open(engine_, options());
    std::shared_ptr<Model> second = store.open(engine_, options());
    EXPECT_EQ(first, second);
    EXPECT_EQ(loads(), 1);
}

TEST_F(ModelStoreTest, KnowsAFileByAnyOfItsNames)
{
    ModelStore store(for_ever);
    ASSERT_EQ(link(model_.c_str(), other_name_.c_str()), 0);
    std::this_thread::sleep_for(settling);
    std::shared_ptr<Model> first = store.open(engine_, options());
    ModelOptions other = options();
    other.path = other_name_;
    EXPECT_EQ(store.open(engine_, other), first);
}

TEST_F(ModelStoreTest, LoadsAgainForOtherOptions)
{
    ModelStore store(for_ever);
    std::shared_ptr<Model> first = store.open(engine_, options());
    for (auto option : {&ModelOptions::input_name, &ModelOptions::output_name,
                        &ModelOptions::precision, &ModelOptions::optimize, &ModelOptions::allow}) {
        ModelOptions other = options();
        (other.*option).assign(1, '0');
        EXPECT_NE(store.open(engine_, other), first);
    }
    EXPECT_EQ(loads(), 6);
}

// The same size and the same time, which was set back.
TEST_F(ModelStoreTest, LoadsAgainWhatWasRewrittenInPlace)
{
    ModelStore store(for_ever);
    write("gain 2");
    struct stat status {
    };
    ASSERT_EQ(stat(model_.c_str(), &status), 0);
    std::shared_ptr<Model> first = store.open(engine_, options());
    std::optional<FileStamp> before = stamp_of(model_);

    write("gain 3");
    const timespec times[] = {status.st_atim, status.st_mtim};
    ASSERT_EQ(utimensat(AT_FDCWD, model_.c_str(), times, 0), 0);
    EXPECT_NE(stamp_of(model_), before);
    EXPECT_NE(store.open(engine_, options()), first);
    EXPECT_EQ(loads(), 2);
}

TEST_F(ModelStoreTest, KeepsWhatNobodyUsesForTheGrace)
{
    ModelStore store(for_ever);
    store.open(engine_, options());
    EXPECT_EQ(count("close"), 0);
    std::shared_ptr<Model> again = store.open(engine_, options());
    std::shared_ptr<Model> shared = store.open(engine_, options());
    EXPECT_EQ(again, shared);
    EXPECT_EQ(loads(), 1);
}

TEST_F(ModelStoreTest, ClosesWhatNobodyUsedForTheGrace)
{
    ModelStore store(at_once);
    for (int round = 1; round <= 3; round++) {
        store.open(engine_, options());
        EXPECT_TRUE(soon([&] { return count("close") == round; }));
        EXPECT_EQ(loads(), round);
    }
}

TEST_F(ModelStoreTest, ClosesNothingThatIsUsedAgain)
{
    ModelStore store(200ms);
    store.open(engine_, options());
    std::shared_ptr<Model> used = store.open(engine_, options());
    std::this_thread::sleep_for(400ms);
    EXPECT_EQ(count("close"), 0);
    EXPECT_EQ(store.open(engine_, options()), used);
    EXPECT_EQ(loads(), 1);
}

TEST_F(ModelStoreTest, KeepsOnlyTheLastFew)
{
    ModelStore store(for_ever);
    for (int i = 0; i < 20; i++) {
        ModelOptions other = options();
        other.precision = std::to_string(i);
        store.open(engine_, other);
        EXPECT_LE(loads() - count("close"), 4);
    }
    ModelOptions last = options();
    last.precision = "19";
    store.open(engine_, last);
    EXPECT_EQ(loads(), 20);
}

TEST_F(ModelStoreTest, AModelOutlivesTheStore)
{
    auto store = std::make_unique<ModelStore>(for_ever);
    std::shared_ptr<Model> model = store->open(engine_, options());
    store.reset();
    EXPECT_EQ(count("close"), 0);
    model.reset();
    EXPECT_EQ(count("close"), 1);
}

TEST_F(ModelStoreTest, OneOfManyThreadsLoads)
{
    write("open_us 200000");
    ModelStore store(for_ever);
    std::vector<std::shared_ptr<Model>> models(8);
    std::vector<std::thread> threads;
    for (auto &model : models)
        threads.emplace_back([&] { model = store.open(engine_, options()); });
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(loads(), 1);
    for (auto &model : models)
        EXPECT_EQ(model, models.front());
}

// Neither is it given to those who wait while it is loaded.
TEST_F(ModelStoreTest, AnExclusiveModelIsSharedWithNobody)
{
    write("exclusive 1\nopen_us 100000");
    ModelStore store(for_ever);
    std::vector<std::shared_ptr<Model>> models(3);
    std::vector<std::thread> threads;
    for (std::shared_ptr<Model> &model : models)
        threads.emplace_back([&] { model = store.open(engine_, options()); });
    for (std::thread &thread : threads)
        thread.join();
    models.push_back(store.open(engine_, options()));
    std::sort(models.begin(), models.end());
    EXPECT_EQ(std::unique(models.begin(), models.end()), models.end());
    EXPECT_EQ(loads(), 4);
}

TEST_F(ModelStoreTest, AllWhoWaitGetTheFailureAndNobodyAfterThem)
{
    write("open_us 200000\nfail_open not today");
    ModelStore store(for_ever);
    std::atomic<int> failures = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&] {
            try {
                store.open(engine_, options());
            } catch (const Error &error) {
                failures += std::string(error.what()) == "not today";
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(failures, 4);
    EXPECT_EQ(loads(), 1);

    EXPECT_THROW(store.open(engine_, options()), Error);
    EXPECT_EQ(loads(), 2);
}

DnnTorchTensor picture()
{
    return {
        .size = sizeof(DnnTorchTensor), .type = DNN_TORCH_F32, .rank = 4, .dims = {1, 1, 8, 16}};
}

// Its process may serve the next opening.
TEST_F(ModelStoreTest, ClosesWhatWasOnlyDescribedForOtherOptions)
{
    ModelStore store(for_ever);
    ModelOptions other = options();
    other.optimize = "0";
    store.open(engine_, options())->metadata("notice");
    std::shared_ptr<Model> tried = store.open(engine_, other);
    EXPECT_EQ(count("close"), 1);
    const Model *const address = tried.get();
    const DnnTorchTensor frame = picture();
    tried->probe({&frame, 1}, 1);
    tried.reset();
    store.open(engine_, options());
    EXPECT_EQ(count("close"), 1);
    EXPECT_EQ(store.open(engine_, other).get(), address);
}

// Whoever comes second runs nothing: what was tried is remembered, also where it failed.
TEST_F(ModelStoreTest, WhatAModelWasTriedOnIsRemembered)
{
    const std::string runs = folder_ + "/other";
    write("channels 1\nlog " + runs);
    ModelStore store(for_ever);
    DnnTorchTensor grey = picture(), rgb = picture();
    rgb.dims[1] = 3;
    for (int i = 0; i < 3; i++) {
        std::shared_ptr<Model> model = store.open(engine_, options());
        EXPECT_EQ(model->probe({&grey, 1}, 1).front().dims[3], 16);
        EXPECT_THROW(model->probe({&rgb, 1}, 1), Error);
    }
    std::ifstream log(runs);
    EXPECT_EQ(std::count(std::istreambuf_iterator<char>(log), {}, '\n'), 1);
}

TEST_F(ModelStoreTest, PlansThatNobodyUsesAreUsedAgain)
{
    ModelStore store(for_ever);
    std::shared_ptr<Model> model = store.open(engine_, options());
    DnnTorchTensor small = picture(), large = picture();
    large.dims[3] = 32;
    const ModelPlan *first = model->plan({&small, 1}, {.tuning_seconds = 1}).get();
    std::shared_ptr<const ModelPlan> plan = model->plan({&small, 1}, {.tuning_seconds = 1});
    EXPECT_EQ(plan.get(), first);
    EXPECT_NE(model->plan({&small, 1}, {.tuning_seconds = 1}), plan)
        << "another stream has its own first frames";
    EXPECT_NE(model->plan({&large, 1}, {.tuning_seconds = 1}), plan);
    EXPECT_NE(model->plan({&small, 1}, {.tuning_seconds = 3}), plan)
        << "it was measured for longer";
}

// One user's call that does not come back is no failure of the others'.
TEST_F(ModelStoreTest, OthersGoOnWithAModelThatIsLost)
{
    ModelStore store(for_ever);
    std::shared_ptr<Model> model = store.open(engine_, options());
    model->give_up();
    DnnTorchTensor shape = picture();
    EXPECT_NO_THROW(model->plan({&shape, 1}, {}));
    EXPECT_NE(store.open(engine_, options()), model);
}

// Two changes at once would look like one.
TEST_F(ModelStoreTest, AFileThatHasJustChangedIsNotShared)
{
    std::ofstream(model_) << "loads " << loads_ << "\n";
    EXPECT_FALSE(identity_of(open_model_file(model_)));
    std::this_thread::sleep_for(settling);
    EXPECT_TRUE(identity_of(open_model_file(model_)));
}

// Reading it would take for ever, and the engine refuses it at once.
TEST_F(ModelStoreTest, AHugeFileIsNotRead)
{
    ASSERT_EQ(truncate(options().path.c_str(), off_t{1} << 40), 0);
    std::this_thread::sleep_for(settling);
    EXPECT_FALSE(identity_of(open_model_file(options().path)));
}

TEST_F(ModelStoreTest, AModelThatDidNotComeBackIsSharedWithNobody)
{
    write("hang_tune 1");
    ModelStore store(for_ever);
    ModelOptions hurried = options();
    hurried.timeout = 50ms;
    std::shared_ptr<Model> lost = store.open(engine_, hurried);
    DnnTorchTensor shape = picture();
    EXPECT_THROW(lost->plan({&shape, 1}, {}), Error);
    EXPECT_TRUE(lost->is_lost());
    EXPECT_NE(store.open(engine_, hurried), lost);
    EXPECT_EQ(loads(), 2);
}

// The bytes of a file that is written to while it is loaded are anybody's guess.
TEST_F(ModelStoreTest, WhatChangesWhileItIsLoadedIsNotShared)
{
    write("open_us 300000");
    ModelStore store(for_ever);
    std::thread writer([this] {
        soon([this] { return loads() == 1; });
        std::ofstream(model_, std::ios::app) << "gain 2\n";
    });
    std::shared_ptr<Model> first = store.open(engine_, options());
    writer.join();
    first.reset();
    EXPECT_EQ(count("close"), 1);
}

TEST_F(ModelStoreTest, LeavesWhatIsNoFileToTheEngine)
{
    ModelStore store(for_ever);
    ModelOptions none = options(), device = options();
    none.path = folder_ + "/none";
    EXPECT_THROW(store.open(engine_, none), Error);
    device.path = "/dev/null"; // an empty script
    std::shared_ptr<Model> first = store.open(engine_, device);
    EXPECT_NE(store.open(engine_, device), first);
}

// Threads that come and go, with a grace about as long as they need.
TEST_F(ModelStoreTest, ManyThreadsLeaveNothingOpen)
{
    ModelStore store(1ms);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&, i] {
            for (int round = 0; round < 50; round++) {
                ModelOptions mine = options();
                mine.precision = std::to_string((i + round) % 3);
                EXPECT_NE(store.open(engine_, mine), nullptr);
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_TRUE(soon([&] { return count("close") == loads(); }));
}

TEST_F(ModelStoreTest, AForkedChildOpensItsOwn)
{
    if (!copies_by_fork_work)
        GTEST_SKIP() << no_copies_by_fork;
    std::shared_ptr<Model> used = model_store().open(engine_, options());
    ModelOptions other = options();
    other.precision = "0";
    model_store().open(engine_, other); // rests
    EXPECT_EQ(in_child([&] {
                  bool own = model_store().open(engine_, options()) != used;
                  used.reset();
                  return own ? 0 : 1;
              }),
              0);
    EXPECT_EQ(loads(), 3);
}

TEST(FileIdentity, OfWhatIsNoRegularFileThereIsNone)
{
    std::string pipe = testing::TempDir() + "dnn_torch_pipe_" + std::to_string(getpid());
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_FALSE(identity_of(open_model_file(pipe)));
    EXPECT_FALSE(identity_of(open_model_file(testing::TempDir())));
    unlink(pipe.c_str());
}

} // namespace
