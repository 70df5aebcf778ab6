// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "sandbox.h"

#include "crash_place.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fuzz
{
namespace
{

constexpr size_t most_at_once = 1000;

// What one child tells, in memory that outlives it.
struct Note {
    Ending ending;
    uint64_t digest;
    double seconds;
    char words[240];
};

struct Board {
    std::atomic<size_t> done;        // inputs
    std::atomic<int64_t> started_ns; // of the input under way; 0: none is
    std::atomic<int64_t> cpu_ns;     // that the child had used by then
    std::atomic<bool> runs;          // it has been let in
    char subject[80];                // what it is about; may be empty
    CrashPlace crash;
    Note notes[most_at_once];
};

Board &board()
{
    static Board *const shared = [] {
        void *memory =
            mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            throw std::runtime_error("no shared memory");
        return static_cast<Board *>(memory);
    }();
    return *shared;
}

int64_t now_ns(clockid_t clock = CLOCK_MONOTONIC)
{
    struct timespec now = {};
    clock_gettime(clock, &now);
    return now.tv_sec * int64_t{1000000000} + now.tv_nsec;
}

uint64_t mapped_bytes()
{
    std::ifstream file("/proc/self/statm");
    uint64_t pages = 0;
    file >> pages;
    return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

void limit(__rlimit_resource_t what, uint64_t most)
{
    const struct rlimit both = {most, most};
    setrlimit(what, &both);
}

// A sanitizer maps more than any limit allows, and has one of its own.
void limit_resources()
{
    limit(RLIMIT_CORE, 0);
    if (!getenv("DNN_TORCH_SANITIZED"))
        limit(RLIMIT_AS, mapped_bytes() + target.memory);
}

// What is printed is not looked at; FUZZ_VERBOSE lets it through.
void silence()
{
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nowhere, STDIN_FILENO);
    if (getenv("FUZZ_VERBOSE"))
        return;
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
}

// A folder of the child's own, which its parent removes; in memory, for speed, unless
// TMPDIR wants it elsewhere.
std::filesystem::path make_folder()
{
    const bool in_memory = !getenv("TMPDIR") && access("/dev/shm", W_OK) == 0;
    const std::filesystem::path where =
        in_memory ? "/dev/shm" : std::filesystem::temp_directory_path();
    std::string name = (where / "dnn_torch_fuzz.XXXXXX").string();
    if (!mkdtemp(name.data()))
        throw std::runtime_error("no folder " + name);
    return name;
}

void write_note(Note &note, const Outcome &outcome, int64_t started_ns)
{
    note.ending = outcome.ending;
    note.digest = outcome.digest;
    note.seconds = static_cast<double>(now_ns() - started_ns) / 1e9;
    const size_t size = std::min(outcome.words.size(), sizeof note.words - 1);
    memcpy(note.words, outcome.words.data(), size);
    note.words[size] = '\0';
}

[[noreturn]] void be_child(size_t first, size_t count, const MakeInput &make)
{
    silence();
    watch_for_crashes(board().crash);
    limit_resources();
    for (size_t i = 0; i < count; i++) {
        const std::string input = make(first + i);
        const int64_t started_ns = now_ns();
        board().runs = false;
        board().cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
        board().started_ns = started_ns;
        write_note(board().notes[i], target.run(input), started_ns);
        board().started_ns = 0;
        board().done = i + 1;
    }
    _exit(0);
}

// By the processor's time, for the machine may be busy; one that waits uses none, and has
// so much more of the clock's, and 5 s at least: with 16 others on two cores a child that is
// runnable gets less than an eighth of its time.  What was let in is no finding: it is not waited
// for long.
bool is_late(pid_t child)
{
    constexpr double patience = 6, least_patience_seconds = 5;
    const int64_t started_ns = board().started_ns;
    clockid_t clock = 0;
    if (!started_ns || clock_getcpuclockid(child, &clock) != 0)
        return false;
    const double seconds = static_cast<double>(now_ns() - started_ns) / 1e9;
    const double cpu_seconds = static_cast<double>(now_ns(clock) - board().cpu_ns) / 1e9;
    const double limit = board().runs ? target.seconds / 5 : target.seconds;
    return cpu_seconds > limit || seconds > std::max(limit * patience, least_patience_seconds);
}

// Returns the status, and whether the child had to be killed for being late.
std::pair<int, bool> wait_for(pid_t child)
{
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGCHLD);
    const struct timespec step = {0, 100000000};
    for (bool killed = false;;) {
        int status = 0;
        if (waitpid(child, &status, WNOHANG) == child)
            return {status, killed};
        if (!killed && is_late(child)) {
            kill(child, SIGKILL);
            killed = true;
        }
        sigtimedwait(&wanted, nullptr, &step);
    }
}

Result read_note(const Note &note)
{
    Result result;
    result.outcome = {note.ending, note.digest, note.words};
    result.seconds = note.seconds;
    return result;
}

// Of the input that the child did not get past.
Result last_result(int status, bool killed)
{
    Result result;
    const CrashPlace &crash = board().crash;
    const bool crashed = crash.signal || !killed;
    result.event = crashed ? Event::crashed : board().runs ? Event::too_long : Event::hung;
    result.seconds = static_cast<double>(now_ns() - board().started_ns) / 1e9;
    if (crashed) {
        result.signal = crash.signal ? crash.signal : WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        const std::string subject = board().subject;
        result.place = subject + (subject.empty() ? "" : ": ") + words_of(crash);
    }
    return result;
}

void clear_board()
{
    board().done = 0;
    board().started_ns = 0;
    board().runs = false;
    board().crash = {};
    board().subject[0] = '\0';
}

// Returns how many it got through, the one that ended it included.
size_t run_one_child(size_t first, size_t count, const MakeInput &make, const TakeResult &take)
{
    clear_board();
    const std::filesystem::path folder = make_folder();
    const pid_t child = fork();
    if (child < 0)
        throw std::runtime_error(std::string("no child: ") + strerror(errno));
    if (child == 0) {
        if (chdir(folder.c_str()) < 0)
            _exit(1);
        be_child(first, count, make);
    }
    const auto [status, killed] = wait_for(child);
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    const size_t done = board().done;
    for (size_t i = 0; i < done; i++)
        take(first + i, read_note(board().notes[i]));
    if (done == count)
        return count;
    take(first + done, last_result(status, killed));
    return done + 1;
}

} // namespace

bool Result::is_finding() const
{
    return event == Event::crashed || event == Event::hung ||
           (event == Event::ended &&
            (outcome.ending == Ending::fault || outcome.ending == Ending::out_of_memory));
}

std::string Result::kind() const
{
    switch (event) {
    case Event::crashed:
        return "signal " + std::to_string(signal) + " in " + place;
    case Event::hung:
        return "hang";
    case Event::too_long:
        return "too long";
    case Event::ended:
        break;
    }
    return outcome.ending == Ending::out_of_memory ? "memory" : outcome.words;
}

void run_in_children(size_t first, size_t count, const MakeInput &make, const TakeResult &take)
{
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigset_t before;
    sigprocmask(SIG_BLOCK, &children, &before);
    while (count > 0) {
        const size_t at_once = std::min({count, target.inputs_a_fork, most_at_once});
        const size_t done = run_one_child(first, at_once, make, take);
        first += done;
        count -= done;
    }
    sigprocmask(SIG_SETMASK, &before, nullptr);
}

Result run_alone(const std::string &input)
{
    Result result;
    run_in_children(
        0, 1, [&input](size_t) { return input; },
        [&result](size_t, const Result &each) { result = each; });
    return result;
}

void require_one_thread()
{
    const std::filesystem::directory_iterator threads("/proc/self/task"), end;
    if (std::distance(threads, end) != 1)
        throw std::runtime_error("the target left threads running; they would not be forked");
}

void input_runs(bool runs)
{
    board().runs = runs;
}

void input_is_about(std::string_view subject)
{
    const size_t size = std::min(subject.size(), sizeof board().subject - 1);
    memcpy(board().subject, subject.data(), size);
    board().subject[size] = '\0';
}

} // namespace fuzz
