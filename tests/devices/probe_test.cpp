// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Processes that are asked, in programs of many habits.
#include "devices/facts.h"
#include "devices/probe.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace dnn_torch;
using namespace std::chrono_literals;

namespace
{

using Outcome = ProbeResult::Outcome;
using Clock = std::chrono::steady_clock;

// Sanitizers and busy machines are slow; what hangs takes far longer than this.
constexpr auto soon = 5s;
constexpr auto plenty = 20s;

ProbeResult shell(const std::string &script, std::chrono::milliseconds limit = plenty)
{
    return run_probe("/bin/sh", {"-c", script}, limit);
}

// How the program treats the signal of an ended child, for one test.
class ChildSignal
{
public:
    explicit ChildSignal(void (*handler)(int))
    {
        struct sigaction action {
        };
        action.sa_handler = handler;
        sigaction(SIGCHLD, &action, &before_);
    }
    ~ChildSignal() { sigaction(SIGCHLD, &before_, nullptr); }
    ChildSignal(const ChildSignal &) = delete;
    ChildSignal &operator=(const ChildSignal &) = delete;

private:
    struct sigaction before_ {
    };
};

void reap_all(int)
{
    int error = errno;
    while (waitpid(-1, nullptr, WNOHANG) > 0)
        ;
    errno = error;
}

// Waits, since somebody else may have to reap it.
bool is_gone(pid_t process)
{
    for (auto end = Clock::now() + soon; Clock::now() < end; std::this_thread::sleep_for(10ms))
        if (kill(process, 0) != 0 && errno == ESRCH)
            return true;
    return false;
}

TEST(RunProbe, ReadsRecords)
{
    ProbeResult result = shell("printf 'device a b\nmemory 12\n\ndevice c\nend\n'");
    EXPECT_EQ(result.outcome, Outcome::finished);
    ASSERT_EQ(result.records.size(), 2U);
    EXPECT_EQ(result.records[0].text("device"), "a b");
    EXPECT_EQ(result.records[0].number("memory"), 12);
    EXPECT_EQ(result.records[1].text("device"), "c");
    EXPECT_FALSE(result.records[1].has("memory"));
}

TEST(RunProbe, TheEndMustBeTheLastLine)
{
    EXPECT_EQ(shell("printf 'end\na b\n'").outcome, Outcome::crashed);
    EXPECT_EQ(shell("printf 'a b\nend'").outcome, Outcome::crashed);
    EXPECT_EQ(shell("printf 'a b\n\nend\n'; exit 3").outcome, Outcome::finished);
}

TEST(RunProbe, TellsOfACrashAndKeepsWhatCameBefore)
{
    ProbeResult result = shell("printf 'stage one\n\n'; kill -SEGV $$");
    EXPECT_EQ(result.outcome, Outcome::crashed);
    EXPECT_EQ(result.detail, "signal 11");
    ASSERT_EQ(result.records.size(), 1U);
    EXPECT_EQ(result.records[0].text("stage"), "one");
    EXPECT_EQ(shell("exit 3").detail, "exit status 3");
}

TEST(RunProbe, TellsWhatCannotBeStarted)
{
    EXPECT_EQ(run_probe("/nowhere/at/all", {}).outcome, Outcome::not_started);
    EXPECT_EQ(run_probe("/", {}).detail, "Permission denied");
}

TEST(RunProbe, EndsWhatHangs)
{
    auto start = Clock::now();
    ProbeResult result =
        shell("trap '' TERM INT HUP; echo pid $$; while :; do sleep 0.1; done", 300ms);
    EXPECT_LT(Clock::now() - start, soon);
    EXPECT_EQ(result.outcome, Outcome::out_of_time);
    EXPECT_EQ(result.detail, "300 ms");
    ASSERT_EQ(result.records.size(), 1U);
    EXPECT_TRUE(is_gone(static_cast<pid_t>(result.records[0].number("pid"))));
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
}

TEST(RunProbe, EndsWhatHangsWithItsOutputClosed)
{
    auto start = Clock::now();
    ProbeResult result = shell("echo pid $$; exec >&-; exec sleep 60", 300ms);
    EXPECT_LT(Clock::now() - start, soon);
    EXPECT_EQ(result.outcome, Outcome::out_of_time);
    EXPECT_TRUE(is_gone(static_cast<pid_t>(result.records.at(0).number("pid"))));
}

// As in a kernel that has no pidfd_open().
TEST(RunProbe, WorksWithoutAHandleOfTheChild)
{
    int lowest = dup(STDIN_FILENO);
    close(lowest);
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    // The probe's pipe takes the two files that are left.
    rlimit few = {.rlim_cur = static_cast<rlim_t>(lowest) + 2, .rlim_max = before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    ProbeResult finished = shell("echo end"),
                hung = shell("ulimit -Sn 64; exec >&-; exec sleep 60", 200ms);
    ProbeResult crashed = shell("kill -SEGV $$");
    setrlimit(RLIMIT_NOFILE, &before);
    EXPECT_EQ(finished.outcome, Outcome::finished);
    EXPECT_EQ(hung.outcome, Outcome::out_of_time);
    EXPECT_EQ(crashed.detail, "signal 11");
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
}

TEST(RunProbe, LeavesNoFileOpen)
{
    int before = dup(STDIN_FILENO);
    close(before);
    shell("echo end");
    shell("exec sleep 60", 50ms);
    int after = dup(STDIN_FILENO);
    close(after);
    EXPECT_EQ(after, before);
}

TEST(RunProbe, DoesNotWaitForGrandchildren)
{
    auto start = Clock::now();
    EXPECT_EQ(shell("sleep 8 & printf 'a b\nend\n'", 300ms).outcome, Outcome::finished);
    EXPECT_LT(Clock::now() - start, soon);
}

TEST(RunProbe, EndsWhatPrintsWithoutEnd)
{
    auto start = Clock::now();
    ProbeResult result = shell("yes; yes");
    EXPECT_LT(Clock::now() - start, plenty);
    EXPECT_EQ(result.outcome, Outcome::crashed);
    EXPECT_EQ(result.detail, "it prints without end");
}

TEST(RunProbe, WorksWhereTheProgramIgnoresItsChildren)
{
    ChildSignal ignored(SIG_IGN);
    EXPECT_EQ(shell("echo end").outcome, Outcome::finished);
    ProbeResult crash = shell("kill -SEGV $$");
    EXPECT_EQ(crash.outcome, Outcome::crashed);
    EXPECT_EQ(crash.detail, "how is not known");
    EXPECT_EQ(shell("exec sleep 60", 200ms).outcome, Outcome::out_of_time);
}

TEST(RunProbe, WorksWhereTheProgramReapsAllChildren)
{
    ChildSignal reaped(reap_all);
    for (int round = 0; round < 20; round++)
        EXPECT_EQ(shell("echo end").outcome, Outcome::finished);
    EXPECT_EQ(shell("kill -SEGV $$").outcome, Outcome::crashed);
    EXPECT_EQ(shell("exec sleep 60", 200ms).outcome, Outcome::out_of_time);
}

TEST(RunProbe, HandsOverNoPreloadAndNoFiles)
{
    constexpr int mine = 57;
    ASSERT_EQ(dup2(STDIN_FILENO, mine), mine);
    setenv("LD_PRELOAD", "", 1);
    setenv("LD_PRELOADED", "kept", 1);
    ProbeResult result = shell("echo preload ${LD_PRELOAD-none}; echo other $LD_PRELOADED;"
                               "[ -e /proc/$$/fd/57 ] && echo leak yes; echo; echo end");
    unsetenv("LD_PRELOAD");
    unsetenv("LD_PRELOADED");
    close(mine);
    ASSERT_EQ(result.records.size(), 1U);
    EXPECT_EQ(result.records[0].text("preload"), "none");
    EXPECT_EQ(result.records[0].text("other"), "kept");
    EXPECT_EQ(result.records[0].text("leak"), "");
}

TEST(RunProbe, HandsOverNoSignalMask)
{
    ChildSignal ignored(SIG_IGN);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    ProbeResult result =
        run_probe("/bin/sed", {"-n", "s/^\\(SigBlk\\|SigIgn\\):\t/\\1 /p; $ s/.*/\\nend/p",
                               "/proc/self/status"});
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    ASSERT_EQ(result.records.size(), 1U);
    EXPECT_EQ(result.records[0].text("SigBlk"), "0000000000000000");
    // glibc lets posix_spawn() ignore two signals of its own, 32 and 33.
    unsigned long long ignored_signals =
        std::strtoull(result.records[0].text("SigIgn").c_str(), nullptr, 16);
    EXPECT_EQ(ignored_signals & 0x7fffffff, 0U);
}

TEST(RunProbe, ServesManyThreads)
{
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; i++)
        threads.emplace_back([i] {
            ProbeResult result = shell("echo number " + std::to_string(i) + "; echo; echo end");
            EXPECT_EQ(result.outcome, Outcome::finished);
            EXPECT_EQ(result.records.at(0).number("number"), i);
        });
    for (std::thread &thread : threads)
        thread.join();
}

// In a process of its own, which starts without 0, 1 and 2.
TEST(RunProbe, WorksWithoutStandardFiles)
{
    pid_t child = fork();
    if (child == 0) {
        for (int file : {0, 1, 2})
            close(file);
        _exit(shell("echo a b; echo; echo end").outcome == Outcome::finished ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
}

TEST(Records, LineEndsInValuesBecomeBlanks)
{
    Record record;
    record.set("key", "one\ntwo\n\nend");
    EXPECT_EQ(record.lines(), "key one two  end\n\n");
    EXPECT_FALSE(parse_records(record.lines()).complete);
}

TEST(Facts, AProbeThatIsNotInstalledIsAFact)
{
    Facts facts = gather_facts({"", "/somewhere/engine-torch.so"});
    EXPECT_EQ(facts.level_zero.probe.outcome, Outcome::not_started);
    EXPECT_EQ(facts.engine.probe.detail, "No such file or directory");
    EXPECT_GE(facts.cpu.cores, 1U);
}

TEST(Facts, CpuAsksNobody)
{
    Facts facts = gather_facts_for("cpu", {"/bin/false", "/somewhere/engine-torch.so"});
    EXPECT_FALSE(facts.engine.probe.asked || facts.level_zero.probe.asked);
}

} // namespace
