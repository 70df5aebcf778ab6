// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A stranger's model in the isolated engine: whatever it does, this process stays whole, each
// call comes back in time, and the next model works.
//
// usage: stranger_engine_test ENGINE_ISOLATED; DNN_TORCH_MODULE_PATH has engine-stranger.so
#include "mischief.h"

#include "../unit/engine_under_test.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <ostream>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <vector>

namespace
{

using Clock = std::chrono::steady_clock;

// Beyond what the limits of a run of one second allow, far from what a test may take.
constexpr std::chrono::seconds patience(20);

// A sanitizer maps more memory than any limit allows.
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
constexpr bool memory_is_limited = false;
#else
constexpr bool memory_is_limited = true;
#endif

// The model's process inherits it: enough for any picture here, and soon taken.
constexpr rlim_t most_memory = rlim_t{1} << 30;

bool check_results = true;

// Ends a run as the host does when its time is over.
class TimeLimit
{
public:
    explicit TimeLimit(Session &session)
        : thread_([this, &session] {
              std::unique_lock held(lock_);
              if (!changed_.wait_for(held, std::chrono::seconds(1), [this] { return over_; }))
                  session.stop();
          })
    {
    }
    ~TimeLimit()
    {
        {
            std::lock_guard held(lock_);
            over_ = true;
        }
        changed_.notify_one();
        thread_.join();
    }
    TimeLimit(const TimeLimit &) = delete;
    TimeLimit &operator=(const TimeLimit &) = delete;

private:
    std::mutex lock_;
    std::condition_variable changed_;
    bool over_ = false;
    std::thread thread_;
};

// Opens the model, and does with it all that a host does.  Returns the first failure.
Outcome use_model(const std::string &text)
{
    DnnTorchSource source = {.size = sizeof source,
                             .name = "stranger",
                             .fd = -1,
                             .data = text.data(),
                             .data_size = text.size()};
    Model model(source, {{"engine", "stranger"}, {"timeout", "1"}});
    if (model.opened.status != DNN_TORCH_OK)
        return model.opened;
    model.tensors(DNN_TORCH_INPUTS);
    model.metadata("format");
    Pictures pictures(1, 3, 8, 16);
    if (Outcome end = model.probe(pictures.shape()); end.status != DNN_TORCH_OK)
        return end;
    if (Outcome end = model.tune(pictures.shape(), 0.1); end.status != DNN_TORCH_OK)
        return end;
    Session session(model);
    if (session.opened.status != DNN_TORCH_OK)
        return session.opened;
    session.warm();
    for (int i = 0; i < 2; i++) {
        TimeLimit limit(session);
        if (Outcome end = session.run(pictures); end.status != DNN_TORCH_OK)
            return end;
    }
    if (check_results) {
        EXPECT_EQ(samples_of(session.output), pictures.samples);
    }
    return session.reset();
}

struct Deed {
    std::string when, what;
};

void PrintTo(const Deed &deed, std::ostream *output)
{
    *output << deed.when << " " << deed.what;
}

class StrangersModel : public testing::TestWithParam<Deed>
{
};

TEST_P(StrangersModel, HarmsNobody)
{
    Clock::time_point begin = Clock::now();
    Outcome end = use_model(GetParam().when + " " + GetParam().what);
    EXPECT_LT(Clock::now() - begin, patience);
    std::printf("%s\n", end.status ? end.message.c_str() : "went on");
    EXPECT_EQ(use_model("").status, DNN_TORCH_OK);
}

using Names = std::vector<std::string>;

void add_deeds(std::vector<Deed> &deeds, const Names &when, const Names &what)
{
    for (const std::string &moment : when)
        for (const std::string &name : what)
            if (memory_is_limited || name != "take_all_memory")
                deeds.push_back({moment, name});
}

// The process may die at each point of the protocol.  What takes a while is done at few.
std::vector<Deed> all_deeds()
{
    std::vector<Deed> deeds;
    add_deeds(deeds, {"open", "run"}, sudden_mischief());
    add_deeds(deeds, {"tensors", "metadata", "probe", "plan", "session", "warm", "reset", "close"},
              {"exit_at_once", "segfault", "garbage", "shut_everything", "eat_everything"});
    add_deeds(deeds, {"probe", "run"}, endless_mischief());
    return deeds;
}

INSTANTIATE_TEST_SUITE_P(Deeds, StrangersModel, testing::ValuesIn(all_deeds()),
                         [](const auto &deed) { return deed.param.when + "_" + deed.param.what; });

// The results may be the stranger's own, for it may always return what it likes.  Many of one
// test, because each takes a millisecond.
TEST(Stranger, MayForgeReplies)
{
    check_results = false;
    for (const char *when :
         {"open", "tensors", "metadata", "probe", "plan", "session", "run", "reset"})
        for (const std::string &what : forged_mischief()) {
            Clock::time_point begin = Clock::now();
            use_model(std::string(when) + " " + what);
            EXPECT_LT(Clock::now() - begin, patience) << when << " " << what;
        }
    check_results = true;
    EXPECT_EQ(use_model("").status, DNN_TORCH_OK);
}

// The cage is closed before the model is opened, and stays closed.
TEST(Stranger, ReachesNothingFromItsEngine)
{
    for (const char *when : {"open attempts", "probe attempts", "run attempts"})
        EXPECT_EQ(use_model(when).message, "") << when;
}

TEST(Stranger, CannotWriteToThePicturesOfTheHost)
{
    Outcome end = use_model("run overwrite");
    EXPECT_EQ(end.status, DNN_TORCH_CRASHED) << end.message;
}

void limit_memory()
{
    rlimit memory = {};
    getrlimit(RLIMIT_DATA, &memory);
    memory.rlim_cur = std::min(most_memory, memory.rlim_max);
    setrlimit(RLIMIT_DATA, &memory);
}

} // namespace

int main(int count, char **words)
{
    testing::InitGoogleTest(&count, words);
    engine(count > 1 ? words[1] : "");
    if (memory_is_limited)
        limit_memory();
    return RUN_ALL_TESTS();
}
