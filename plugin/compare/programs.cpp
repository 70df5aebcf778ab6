// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "programs.h"

#include "base/child_process.h"
#include "base/compose.h"
#include "base/descriptor.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <poll.h>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace dnn_torch
{
namespace
{

using Clock = ChildProcess::Clock;

// Collecting ends here, so that a program that prints for ever does not fill the memory.
constexpr size_t most_output = 256 << 20, most_errors = 8 << 20;

sigset_t ending_signals()
{
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
        sigaddset(&signals, signal);
    return signals;
}

// The end of a pipe that we read.
class Collector
{
public:
    Collector(std::string &text, size_t most) : text_(text), most_(most)
    {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0)
            throw std::system_error(errno, std::generic_category(), "pipe");
        ours_ = Descriptor(ends[0]);
        theirs_ = Descriptor(ends[1]);
        fcntl(ours_.get(), F_SETFL, O_NONBLOCK);
    }
    int theirs() const { return theirs_.get(); }
    // Below 0 after the end of the stream.
    int ours() const { return ours_.get(); }
    void start() { theirs_ = Descriptor(); }

    void take()
    {
        char buffer[1 << 16];
        for (ssize_t got; ours_.is_open();) {
            got = read(ours_.get(), buffer, sizeof(buffer));
            if (got < 0 && errno != EINTR)
                return;
            if (got == 0)
                ours_ = Descriptor();
            if (got > 0 && text_.size() < most_)
                text_.append(buffer, static_cast<size_t>(got));
        }
    }

private:
    std::string &text_;
    size_t most_;
    Descriptor ours_, theirs_;
};

// Waits until one of them can be read, or a moment has passed.
void wait_for(std::initializer_list<int> descriptors, Clock::time_point deadline)
{
    constexpr int longest_ms = 50;
    std::vector<pollfd> all;
    for (const int each : descriptors)
        all.push_back({.fd = each, .events = POLLIN, .revents = 0});
    poll(all.data(), all.size(), std::min(longest_ms, milliseconds_until(deadline)));
    throw_if_interrupted();
}

// A program and all that it starts in its process group.
class Group
{
public:
    explicit Group(const ProgramStart &start)
    {
        pid_t number = 0;
        if (const int error = start_program(start, number))
            throw std::system_error(error, std::generic_category(), start.program);
        child_.emplace(number);
    }
    ~Group()
    {
        end();
        if (!ended_)
            child_->wait(Clock::now() + std::chrono::milliseconds(200));
    }
    Group(const Group &) = delete;
    Group &operator=(const Group &) = delete;

    void end() const
    {
        if (!ended_)
            kill(-child_->number(), SIGKILL);
    }
    int handle() const { return child_->handle(); }

    bool has_ended(Outcome &outcome)
    {
        rusage usage{};
        ended_ = ended_ || wait4(child_->number(), &outcome.status, WNOHANG, &usage) != 0;
        outcome.peak_bytes = usage.ru_maxrss * 1024;
        return ended_;
    }

    // The process that runs a model ends with ffmpeg, and then is ours, see SignalsAsExceptions.
    static void reap_others(Outcome &outcome)
    {
        const Clock::time_point deadline = Clock::now() + std::chrono::seconds(2);
        for (;;) {
            rusage usage{};
            const pid_t got = wait4(-1, nullptr, WNOHANG, &usage);
            outcome.peak_bytes = std::max(outcome.peak_bytes, usage.ru_maxrss * 1024);
            if (got < 0 || (got == 0 && Clock::now() >= deadline))
                return;
            if (got == 0)
                wait_for({}, Clock::now() + std::chrono::milliseconds(5));
        }
    }

private:
    std::optional<ChildProcess> child_;
    bool ended_ = false;
};

Outcome run(ProgramStart start, double limit_seconds)
{
    const auto limit = std::chrono::duration<double>(limit_seconds);
    const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
    Outcome outcome;
    Collector output(outcome.output, most_output), errors(outcome.errors, most_errors);
    const sigset_t signals = ending_signals();
    const Descriptor interruption(signalfd(-1, &signals, SFD_CLOEXEC));
    start.output = output.theirs();
    start.errors = errors.theirs();
    start.environment = environment_where([](std::string_view) { return true; });
    start.environment.push_back(concat("DNN_TORCH_STARTER=", getpid()));
    start.has_own_session = true;
    throw_if_interrupted();
    Group group(start);
    output.start();
    errors.start();
    while (!group.has_ended(outcome)) {
        if (!outcome.timed_out && Clock::now() >= deadline) {
            outcome.timed_out = true;
            group.end();
        }
        wait_for({group.handle(), output.ours(), errors.ours(), interruption.get()},
                 outcome.timed_out ? Clock::now() + std::chrono::milliseconds(10) : deadline);
        output.take();
        errors.take();
    }
    Group::reap_others(outcome);
    output.take();
    errors.take();
    return outcome;
}

bool is_safe(const std::string &path)
{
    constexpr std::string_view safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789_+./-";
    return path.starts_with('/') && path.find_first_not_of(safe) == path.npos;
}

// Returns the text of a line "[name @ 0x1] [error] text", or "".
std::string error_in(std::string_view line)
{
    for (const std::string_view level : {"[error] ", "[fatal] ", "[panic] "})
        if (const size_t at = line.find(level); at != line.npos)
            return std::string(line.substr(at + level.size()));
    return {};
}

} // namespace

SignalsAsExceptions::SignalsAsExceptions()
{
    const sigset_t signals = ending_signals();
    sigprocmask(SIG_BLOCK, &signals, nullptr);
    signal(SIGCHLD, SIG_DFL);         // otherwise there may be nothing to wait for
    signal(SIGXFSZ, SIG_IGN);         // write() fails instead
    prctl(PR_SET_CHILD_SUBREAPER, 1); // processes that our programs leave behind become ours
}

SignalsAsExceptions::~SignalsAsExceptions()
{
    const sigset_t signals = ending_signals();
    sigprocmask(SIG_UNBLOCK, &signals, nullptr);
}

void throw_if_interrupted()
{
    const sigset_t signals = ending_signals();
    const timespec at_once = {0, 0};
    if (const int signal = sigtimedwait(&signals, nullptr, &at_once); signal > 0)
        throw Interrupted{signal};
}

void limit_memory()
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    rlimit limit{};
    if (pages <= 0 || page <= 0 || getrlimit(RLIMIT_DATA, &limit) != 0)
        return;
    const rlim_t half = static_cast<rlim_t>(pages) * static_cast<rlim_t>(page) / 2;
    limit.rlim_cur = std::min(limit.rlim_cur, half);
    setrlimit(RLIMIT_DATA, &limit);
}

TemporaryFolder::TemporaryFolder()
{
    const std::string given = text_or_empty(getenv("TMPDIR"));
    path_ = (is_safe(given) ? given : "/tmp") + "/dnn-torch-compare-XXXXXX";
    if (!mkdtemp(path_.data()))
        throw std::system_error(errno, std::generic_category(), path_);
}

TemporaryFolder::~TemporaryFolder()
{
    std::error_code error;
    std::filesystem::remove_all(path_, error);
}

std::string Outcome::reason() const
{
    std::string first, of_filter;
    for (std::string_view left = errors; !left.empty();) {
        const std::string_view line = left.substr(0, left.find('\n'));
        const std::string error =
            line.starts_with("dnn-torch: ") ? std::string(line.substr(11)) : error_in(line);
        if (first.empty())
            first = error;
        if (of_filter.empty() && line.find("dnn_torch") != line.npos)
            of_filter = error;
        left.remove_prefix(std::min(line.size() + 1, left.size()));
    }
    if (!of_filter.empty() || !first.empty())
        return of_filter.empty() ? first : of_filter;
    if (WIFSIGNALED(status))
        return concat("ffmpeg was ended by signal ", WTERMSIG(status));
    return concat("ffmpeg ended with exit code ", WEXITSTATUS(status));
}

Outcome Programs::ffmpeg(const std::vector<std::string> &arguments, double limit_seconds) const
{
    std::vector<std::string> words = {"run", ffmpeg_, "-hide_banner", "-nostdin", "-nostats", "-y"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    constexpr int cannot_run = 126, not_found = 127; // dnn-torch's, as the shell's
    Outcome outcome = dnn_torch(words, limit_seconds);
    if (WIFEXITED(outcome.status) &&
        (WEXITSTATUS(outcome.status) == cannot_run || WEXITSTATUS(outcome.status) == not_found))
        throw std::runtime_error(outcome.reason());
    return outcome;
}

Outcome Programs::need_ffmpeg(const std::vector<std::string> &arguments,
                              const std::string &purpose) const
{
    constexpr double limit_seconds = 600;
    Outcome outcome = ffmpeg(arguments, limit_seconds);
    if (!outcome.succeeded())
        throw std::runtime_error(concat(
            purpose, ": ", outcome.timed_out ? "ffmpeg took more than 600 s" : outcome.reason()));
    return outcome;
}

Outcome Programs::dnn_torch(const std::vector<std::string> &arguments, double limit_seconds) const
{
    ProgramStart start;
    start.program = launcher_;
    start.arguments = arguments;
    return run(start, limit_seconds);
}

} // namespace dnn_torch
