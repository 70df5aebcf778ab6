// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// How the process of a model ends, and what the caller has of it.
#include "scripted_child.h"

#include <atomic>
#include <csignal>
#include <fstream>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>

namespace
{

using namespace std::chrono_literals;

// ---- its end ------------------------------------------------------------------------

struct Death {
    const char *how, *words;
};
const Death deaths[] = {{"segfault", "signal 11 (Segmentation fault)"},
                        {"abort", "signal 6 (Aborted)"},
                        {"throw", "thrown through C"},
                        {"exit", "exit status 3"},
                        {"kill", "signal 9 (Killed)"}};

TEST(Death, AtEachPoint)
{
    for (const Death &death : deaths) {
        const auto script = [&](const char *point) {
            return std::string(point) + ' ' + death.how + "\ndie_at 7\n";
        };
        const std::vector<std::string> words = {"the model's process", death.words, "last said"};
        Scripted loaded(script("die_open")), probed(script("die_probe")),
            planned(script("die_tune")), ran(script("die_run"));
        expect_failure(loaded.model.opened, DNN_TORCH_CRASHED, words);
        expect_failure(probed.model.probe(usual_shape), DNN_TORCH_CRASHED, words);
        expect_failure(planned.model.tune(usual_shape), DNN_TORCH_CRASHED, words);
        Session session(ran.model);
        EXPECT_EQ(run(session, 6).status, DNN_TORCH_OK);
        expect_failure(run(session, 7), DNN_TORCH_CRASHED, words);
        expect_failure(run(session, 6), DNN_TORCH_CRASHED, words);
        expect_failure(ran.model.probe(usual_shape), DNN_TORCH_CRASHED, words);
        expect_failure(Session(ran.model).opened, DNN_TORCH_CRASHED, words);
    }
}

TEST(Death, FromOutside)
{
    Scripted scripted("hang_at 5");
    Session session(scripted.model);
    const pid_t child = only_child();
    std::thread killer([child] {
        std::this_thread::sleep_for(50ms);
        kill(child, SIGKILL);
    });
    EXPECT_LT(seconds_of([&] {
                  expect_failure(run(session, 5), DNN_TORCH_CRASHED, {"signal 9", "memory"});
              }),
              2);
    killer.join();
}

TEST(Death, OfAnEngineHostThatIsNone)
{
    const std::string folder = testing::TempDir() + "hosts-" + std::to_string(getpid());
    const std::string program = folder + "/engine-host", before = getenv("DNN_TORCH_MODULE_PATH");
    mkdir(folder.c_str(), 0700);
    setenv("DNN_TORCH_MODULE_PATH", folder.c_str(), 1);
    const auto opened = [&](const char *script) {
        std::ofstream(program) << "#!/bin/sh\n" << script << "\n";
        chmod(program.c_str(), 0700);
        return Scripted("").model.opened;
    };
    expect_failure(opened("echo no such luck; exit 5"), DNN_TORCH_CRASHED,
                   {"exit status 5", "no such luck"});
    expect_failure(opened("exec 3<&-; exec sleep 60"), DNN_TORCH_CRASHED, {"does not answer"});
    chmod(program.c_str(), 0400);
    expect_failure(Scripted("").model.opened, DNN_TORCH_OUT_OF_MEMORY, {"Permission denied"});
    unlink(program.c_str());
    rmdir(folder.c_str());
    setenv("DNN_TORCH_MODULE_PATH", before.c_str(), 1);
}

// ---- time ---------------------------------------------------------------------------

TEST(Time, OfWhatHangs)
{
    std::vector<std::thread> threads;
    const auto expect_late = [&](const char *script, double limit,
                                 const std::function<Outcome(Model &)> &call) {
        threads.emplace_back([=] {
            Scripted scripted(script, {{"timeout", "0.1"}});
            const double seconds = seconds_of([&] {
                expect_failure(call(scripted.model), DNN_TORCH_CRASHED,
                               {"has not answered within", "timeout"});
            });
            EXPECT_GE(seconds, limit);
            EXPECT_LT(seconds, limit + 5);
        });
    };
    const auto tune = [](Model &model) { return model.tune(usual_shape); };
    const auto probe = [](Model &model) { return model.probe(usual_shape); };
    expect_late("hang_tune 1", 2.4, tune);
    expect_late("die_tune stop", 2.4, tune);
    expect_late("die_probe stop", 2.1, probe);
    expect_late("latency_us 60000000", 2.1, probe);
    for (std::thread &thread : threads)
        thread.join();
}

TEST(Stop, OfWhatDoesNotStop)
{
    Scripted scripted("die_run stop\ndie_at 7");
    auto session = std::make_unique<Session>(scripted.model);
    Session other(scripted.model);
    std::thread stopper([&] {
        std::this_thread::sleep_for(50ms);
        session->stop();
    });
    const double seconds = seconds_of(
        [&] { expect_failure(run(*session, 7), DNN_TORCH_STOPPED, {"did not come back"}); });
    stopper.join();
    EXPECT_GE(seconds, 2);
    EXPECT_LT(seconds, 4);
    EXPECT_EQ(run(*session, 1).status, DNN_TORCH_STOPPED);
    EXPECT_LT(seconds_of([&] { session.reset(); }), 1);
    // The child was not ended: others may share it.
    kill(only_child(), SIGCONT);
    EXPECT_EQ(run(other, 1).status, DNN_TORCH_OK);
}

// ---- starting anew ------------------------------------------------------------------

// A script in a file that changes while it is in use: the next child reads what it is then.
class ChangingScript
{
public:
    explicit ChangingScript(const std::string &script) : file(memfd_create("script", MFD_CLOEXEC))
    {
        become(script);
    }
    ~ChangingScript() { close(file); }
    ChangingScript(const ChangingScript &) = delete;
    ChangingScript &operator=(const ChangingScript &) = delete;

    void become(const std::string &script) const
    {
        EXPECT_EQ(ftruncate(file, 0), 0);
        EXPECT_EQ(pwrite(file, script.data(), script.size(), 0),
                  static_cast<ssize_t>(script.size()));
    }
    DnnTorchSource source() const
    {
        return {.size = sizeof(DnnTorchSource),
                .name = "a script",
                .fd = file,
                .data = nullptr,
                .data_size = 0};
    }

    const int file;
};

struct Retried {
    int status;
    int retries;
};

Retried run_counting(Session &session, int number)
{
    const auto pictures = picture(number);
    const DnnTorchTensor in = tensor_of(pictures->view);
    DnnTorchTensor out = {.size = sizeof out};
    DnnTorchRun report = {.size = sizeof report};
    DnnTorchMessage message = {};
    const int status = engine().session_run(session.get(), &in, 1, &out, 1, &report, &message);
    if (status == DNN_TORCH_OK) {
        EXPECT_EQ(samples_of(images_of(out)), pictures->samples);
    } else {
        expect_message(message);
    }
    return {status, report.retries};
}

TEST(Restarts, TryTheFrameOnceMore)
{
    const ChangingScript script("die_run segfault\ndie_at 7");
    Model model(script.source(), {{"restarts", "2"}});
    Session session(model);
    void *const memory = session.memory(1000);
    ASSERT_NE(memory, nullptr);
    Session other(model);
    EXPECT_EQ(run_counting(session, 6).retries, 0);
    EXPECT_EQ(run(other, 6).status, DNN_TORCH_OK);
    script.become("notice another child");
    const Retried retried = run_counting(session, 7);
    EXPECT_EQ(retried.status, DNN_TORCH_OK);
    EXPECT_EQ(retried.retries, 1);
    EXPECT_EQ(model.notice(), "another child");
    // Others go over to the new child by themselves.
    const Retried followed = run_counting(other, 7);
    EXPECT_EQ(followed.status, DNN_TORCH_OK);
    EXPECT_EQ(followed.retries, 0);
    EXPECT_EQ(session.memory(1000), memory);
    EXPECT_EQ(other.reset().status, DNN_TORCH_OK);
}

// What the first sample of a run grows by that tells its turn.
float told_turn(Session &session, int number, int64_t predecessor_distance, int32_t more)
{
    const auto pictures = picture(number);
    pictures->samples[0] = 0;
    const DnnTorchTensor in = tensor_of(pictures->view);
    DnnTorchTensor out = {.size = sizeof out};
    DnnTorchRun report = {.size = sizeof report};
    report.number = number;
    report.predecessor_distance = predecessor_distance;
    report.more = more;
    DnnTorchMessage message = {};
    EXPECT_EQ(engine().session_run(session.get(), &in, 1, &out, 1, &report, &message), DNN_TORCH_OK)
        << message.text;
    return samples_of(images_of(out))[0];
}

TEST(Turns, ComeThrough)
{
    Scripted scripted("tells_turn 1");
    Session session(scripted.model);
    EXPECT_EQ(told_turn(session, 0, 0, 0), 0);
    EXPECT_EQ(told_turn(session, 5, 3, 0), 3);
    EXPECT_EQ(told_turn(session, 5, 3, 1), 103);
}

// Those before it ran in a child that is no more.
TEST(Turns, AreForgottenWithTheChild)
{
    const ChangingScript script("die_run segfault\ndie_at 7");
    Model model(script.source(), {{"restarts", "2"}});
    Session session(model);
    script.become("tells_turn 1");
    EXPECT_EQ(run_counting(session, 7).retries, 1);
    EXPECT_EQ(told_turn(session, 8, 1, 1), 100);
    // A plan that was made since then has lost none.
    EXPECT_EQ(model.tune(usual_shape).status, DNN_TORCH_OK);
    EXPECT_EQ(told_turn(session, 9, 1, 0), 1);
}

// The new child has not seen the pictures.
TEST(Restarts, CalibrateAsBefore)
{
    Scripted scripted("tells_samples 1\ndie_run segfault\ndie_at 7", {{"restarts", "2"}});
    const auto samples = picture(128);
    const DnnTorchTensor given = tensor_of(samples->view);
    ASSERT_EQ(scripted.model.tune(usual_shape, 0, &given).status, DNN_TORCH_OK);
    Session session(scripted.model);
    const float before = told_turn(session, 5, 0, 0);
    EXPECT_EQ(before, samples->samples[0]);
    EXPECT_EQ(run_counting(session, 7).status, DNN_TORCH_CRASHED);
    EXPECT_EQ(told_turn(session, 5, 0, 0), before);
}

// What the first pictures showed need not show in those after the restart.
TEST(Restarts, RunAsSavedWhatWasFoundToBeWrong)
{
    Scripted scripted("gives_up 1\ndie_run segfault\ndie_at 7", {{"restarts", "2"}});
    Session session(scripted.model), other(scripted.model);
    EXPECT_EQ(told_turn(session, 5, 0, 0), 0);
    EXPECT_EQ(run_counting(session, 7).status, DNN_TORCH_CRASHED);
    EXPECT_EQ(told_turn(session, 8, 0, 0), 1000);
    EXPECT_EQ(told_turn(other, 9, 0, 0), 1000);
}

TEST(Restarts, AreUsedUp)
{
    Scripted scripted("die_run abort\ndie_at 7", {{"restarts", "2"}});
    Session session(scripted.model);
    for (int i = 0; i < 2; i++) {
        const Retried bad = run_counting(session, 7);
        EXPECT_EQ(bad.status, DNN_TORCH_CRASHED);
        EXPECT_EQ(run_counting(session, 6).status, i == 0 ? DNN_TORCH_OK : DNN_TORCH_CRASHED);
    }
    EXPECT_EQ(becomes_true([] { return children().empty(); }), true);
}

TEST(Restarts, ThatFailSayWhy)
{
    const ChangingScript script("die_run exit\ndie_at 7");
    Model model(script.source(), {{"restarts", "2"}});
    Session session(model);
    script.become("gain nonsense");
    expect_failure(run(session, 7), DNN_TORCH_CRASHED, {"exit status 3", "anew", "line 1"});
}

// A frame that ends each child must not take others with it.
TEST(Restarts, SpareOtherRuns)
{
    Scripted scripted("latency_us 20000\ndie_run kill\ndie_at 7", {{"restarts", "100"}});
    scripted.model.plan();
    std::atomic<int> bad{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&, i] {
            Session session(scripted.model);
            for (int n = 0; n < 8; n++) {
                const int number = i == 0 && n % 4 == 2 ? 7 : 1;
                const int status = run_counting(session, number).status;
                EXPECT_EQ(status, number == 7 ? DNN_TORCH_CRASHED : DNN_TORCH_OK);
                bad += status == DNN_TORCH_CRASHED;
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(bad, 2);
}

} // namespace
