// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "child.h"

#include "affinity.h"
#include "base/blocked_signals.h"
#include "base/compose.h"
#include "base/module_path.h"
#include "environment.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>

namespace isolation
{
namespace
{

using dnn_torch::BlockedSignals;
using dnn_torch::concat;
using dnn_torch::milliseconds_until;
using dnn_torch::ProgramStart;

constexpr char program_name[] = "engine-host";
// How long a child may take to end when asked to, and how long its end may take to be seen.
constexpr auto time_to_end = std::chrono::seconds(1);
constexpr size_t most_idle_channels = 2;
constexpr auto time_to_greet = std::chrono::seconds(30);

std::string find_program()
{
    char path[PATH_MAX];
    if (!dnn_torch_find_module(reinterpret_cast<const void *>(&find_program), program_name, path,
                               sizeof path))
        throw Failure(DNN_TORCH_NO_FILE, concat("there is no ", program_name, " in ", path,
                                                "; install the filters completely"));
    return path;
}

Failure no_resources(const char *what, int error)
{
    return {DNN_TORCH_OUT_OF_MEMORY,
            concat("the model's process lacks ", what, ": ", std::generic_category().message(error),
                   error == ENOENT ? "; /dev/null may be missing"
                                   : "; raise what limits processes, threads or files (ulimit -u, "
                                     "ulimit -n)",
                   ", or write isolate=0")};
}

// Compute libraries do not always check whether they got the memory that they asked for.
std::string words_on_address_space(int number, rlim_t addresses)
{
    const bool is_fault = number == SIGSEGV || number == SIGBUS || number == SIGABRT;
    if (!is_fault || addresses == RLIM_INFINITY)
        return "";
    return concat(", as when its address space runs out, which is limited to ", addresses >> 20,
                  " MiB; raise it (ulimit -v)");
}

// `addresses` is what the process's address space was limited to.
std::string describe(const dnn_torch::ChildEnd &end, rlim_t addresses)
{
    if (!end.known)
        return "has ended";
    if (WIFEXITED(end.status))
        return concat("ended with exit status ", WEXITSTATUS(end.status));
    const int number = WTERMSIG(end.status);
    const char *name = sigdescr_np(number);
    return concat("was ended by signal ", number, " (", name ? name : "of no name", ")",
                  number == SIGKILL ? ", as when memory runs out"
                                    : words_on_address_space(number, addresses));
}

std::string in_seconds(std::chrono::microseconds time)
{
    return time.count() % 1000000 ? concat(time.count() / 1000, " ms")
                                  : concat(time.count() / 1000000, " s");
}

// The timeout for poll(); -1 never ends.
int poll_time(const std::optional<Clock::time_point> &until)
{
    return until ? milliseconds_until(*until) : -1;
}

} // namespace

void check_status(const ReplyHead &head)
{
    if (head.status == DNN_TORCH_OK)
        return;
    const std::string_view text = text_of(head.message);
    throw Failure(static_cast<DnnTorchStatus>(head.status),
                  text.empty() ? "no reason given" : std::string(text));
}

// ---- beginning ----------------------------------------------------------------------

Child::Child(OnNotice on_notice, std::shared_ptr<engine_torch::TuningBroker> broker)
    : on_notice_(std::move(on_notice)), broker_(std::move(broker)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
    if (!wake_.is_open())
        throw no_resources("a descriptor", errno);
}

// The kernel ends the child when the thread that started it ends.  So a thread that lives as long
// as the child starts it, and not the caller.
std::shared_ptr<Child> Child::start(OnNotice on_notice,
                                    std::shared_ptr<engine_torch::TuningBroker> broker)
{
    std::shared_ptr<Child> child(new Child(std::move(on_notice), std::move(broker)));
    auto channel = make_channel(), tuning = make_channel();
    if (!channel || !tuning)
        throw no_resources("a socket", errno);
    child->control_ = std::move(channel->first);
    child->tuning_ = std::move(tuning->first);
    const ProgramStart start = {.program = find_program(),
                                .arguments = {},
                                .environment = environment_of_child(),
                                .inherited = {channel->second.get(), tuning->second.get()},
                                .has_own_session = true};
    {
        BlockedSignals blocked;
        try {
            std::thread([child, start] { child->watch(start); }).detach();
        } catch (const std::system_error &error) {
            throw no_resources("a thread", error.code().value());
        }
    }
    child->wait_for_start();
    channel.reset();
    tuning.reset();
    std::shared_ptr<Child> handle(child.get(), [child](Child *) { child->ask_to_end(); });
    child->greet();
    return handle;
}

std::shared_ptr<Child> Child::adopt(Descriptor control, OnNotice on_notice)
{
    std::shared_ptr<Child> child(new Child(std::move(on_notice), nullptr));
    child->control_ = std::move(control);
    child->is_started_ = child->is_ended_ = true;
    child->verdict_ = "is no process";
    return child;
}

void Child::wait_for_start()
{
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_started_; });
    if (start_error_)
        throw no_resources("what it needs to start", start_error_);
}

void Child::note_start(int error, pid_t number)
{
    if (!error)
        process_.emplace(number);
    std::lock_guard lock(mutex_);
    start_error_ = error;
    is_started_ = true;
    is_ended_ = error != 0;
    changed_.notify_all();
}

// Checks that both sides come from one build.
void Child::greet()
{
    const Greeting ours = greeting_of_this_build();
    Greeting theirs = {};
    if (!send(control(), ours))
        throw_crash();
    await(control(), &theirs, sizeof theirs, {.limit = time_to_greet});
    if (std::memcmp(&ours, &theirs, sizeof ours) != 0)
        throw Failure(DNN_TORCH_RUN_FAILED,
                      concat(program_name, " is of another release than engine-isolated.so; "
                                           "install both from one release"));
}

// ---- the watcher's thread -----------------------------------------------------------

void Child::watch(const ProgramStart &given)
{
    pthread_setname_np(pthread_self(), "dnn_torch:child");
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return note_start(errno, -1);
    Descriptor output(ends[0]), input(ends[1]);
    fcntl(output.get(), F_SETFL, O_NONBLOCK);
    ProgramStart start = given;
    start.output = start.errors = input.get();
    pid_t number = -1;
    const int error = start_program(start, number);
    input = Descriptor();
    note_start(error, number);
    if (!error)
        look_after(output.get());
}

void Child::look_after(int output)
{
    // For kernels that give no handle, and for a child that ends while its children print.
    constexpr auto longest_sleep = std::chrono::milliseconds(50);
    int tuning = tuning_.get();
    for (eventfd_t ignored;;) {
        pollfd events[] = {{.fd = output, .events = POLLIN, .revents = 0},
                           {.fd = wake_.get(), .events = POLLIN, .revents = 0},
                           {.fd = handle(), .events = POLLIN, .revents = 0},
                           {.fd = tuning, .events = POLLIN, .revents = 0}};
        std::optional<Clock::time_point> until = end_time();
        if (handle() < 0)
            until =
                std::min(until.value_or(Clock::time_point::max()), Clock::now() + longest_sleep);
        poll(events, std::size(events), poll_time(until));
        if (events[0].revents && !read_output(output))
            output = -1;
        if (events[1].revents)
            eventfd_read(wake_.get(), &ignored);
        if (events[3].revents && !broker_->answer(tuning))
            tuning = -1;
        if (is_overdue())
            process_->end_by_force();
        rlimit addresses = {RLIM_INFINITY, RLIM_INFINITY}; // until it is waited for
        prlimit(process_->number(), RLIMIT_AS, nullptr, &addresses);
        if (const auto end = process_->wait(Clock::now()); end.come) {
            read_output(output);
            return note_end(end, addresses.rlim_cur);
        }
    }
}

// Returns false at the end of the output.
bool Child::read_output(int output)
{
    // Output that comes faster than it is read would hold up the watcher.
    constexpr int most_pieces = 16;
    std::array<char, 4096> piece;
    for (int i = 0; i < most_pieces; i++) {
        const ssize_t got = read(output, piece.data(), piece.size());
        if (got <= 0)
            return got < 0 && (errno == EAGAIN || errno == EINTR);
        printed_.add({piece.data(), static_cast<size_t>(got)});
    }
    return true;
}

std::optional<Clock::time_point> Child::end_time() const
{
    std::lock_guard lock(mutex_);
    return end_at_;
}

// True only once: one SIGKILL is enough.
bool Child::is_overdue()
{
    std::lock_guard lock(mutex_);
    if (!end_at_ || Clock::now() < *end_at_)
        return false;
    end_at_.reset();
    return true;
}

void Child::note_end(const dnn_torch::ChildEnd &end, rlim_t addresses)
{
    printed_.finish();
    std::lock_guard lock(mutex_);
    if (verdict_.empty())
        verdict_ = describe(end, addresses);
    last_words_ = printed_.last();
    is_ended_ = true;
    idle_channels_.clear();
    changed_.notify_all();
}

// ---- the end ------------------------------------------------------------------------

void Child::end_by(Clock::time_point when) noexcept
{
    {
        std::lock_guard lock(mutex_);
        end_at_ = std::min(when, end_at_.value_or(when));
    }
    eventfd_write(wake_.get(), 1);
}

void Child::ask_to_end() noexcept
{
    tell(Kind::end, 0);
    end_by(Clock::now() + time_to_end);
}

bool Child::rest(Clock::time_point until)
{
    on_notice_ = [](std::string_view) {};
    {
        const std::lock_guard lock(mutex_);
        if (is_ended_ || end_at_)
            return false;
        idle_channels_.clear();
    }
    tell(Kind::close, 0);
    end_by(until);
    return true;
}

bool Child::resume()
{
    const std::lock_guard lock(mutex_);
    const bool is_here = !is_ended_ && end_at_;
    end_at_.reset();
    return is_here;
}

void Child::end_by_force(const std::string &verdict)
{
    {
        std::lock_guard lock(mutex_);
        if (verdict_.empty())
            verdict_ = verdict;
    }
    end_by(Clock::now());
}

void Child::refuse(std::string_view what)
{
    end_by_force(concat("sent what makes no sense (", what, ") and was ended"));
    throw_crash();
}

void Child::follow_affinity(pid_t thread) const noexcept
{
    if (process_)
        share_affinity(process_->number(), thread);
}

bool Child::has_ended() const
{
    std::lock_guard lock(mutex_);
    return is_ended_;
}

// A child that closed its channel and still runs is as good as dead.
void Child::throw_crash()
{
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, time_to_end, [this] { return is_ended_; })) {
        lock.unlock();
        end_by_force("does not answer and was ended");
        lock.lock();
        changed_.wait_for(lock, time_to_end, [this] { return is_ended_; });
    }
    std::string text = "the model's process " + verdict_;
    if (!last_words_.empty())
        text += "; it last said: " + last_words_;
    throw Crash(text);
}

// ---- talking ------------------------------------------------------------------------

void Child::tell(Kind kind, int64_t id) noexcept
{
    send(control(), PlainRequest{{.kind = kind, .reserved = 0, .id = id}});
}

Descriptor Child::open_channel()
{
    auto channel = make_channel();
    if (!channel)
        throw no_resources("a socket", errno);
    const int end = channel->second.get();
    if (!send(control(), PlainRequest{{.kind = Kind::channel, .reserved = 0, .id = 0}},
              Sending::never_waits, {&end, 1})) {
        // Descriptors in flight count against all of a user's processes.
        if (errno == ETOOMANYREFS)
            throw no_resources("a descriptor", errno);
        throw_crash();
    }
    return std::move(channel->first);
}

Descriptor Child::take_channel()
{
    {
        std::lock_guard lock(mutex_);
        if (!idle_channels_.empty()) {
            Descriptor channel = std::move(idle_channels_.back());
            idle_channels_.pop_back();
            return channel;
        }
    }
    return open_channel();
}

void Child::give_channel(Descriptor channel)
{
    std::lock_guard lock(mutex_);
    if (!is_ended_ && idle_channels_.size() < most_idle_channels)
        idle_channels_.push_back(std::move(channel));
}

void Child::await(int channel, void *reply, size_t size, const Patience &patience)
{
    std::optional<Clock::time_point> until;
    if (patience.limit)
        until = Clock::now() + *patience.limit;
    int stop_event = patience.stop_event;
    for (;;) {
        pollfd events[] = {{.fd = channel, .events = POLLIN, .revents = 0},
                           {.fd = handle(), .events = POLLIN, .revents = 0},
                           {.fd = stop_event, .events = POLLIN, .revents = 0}};
        const int count = poll(events, std::size(events), poll_time(until));
        switch (receive_now(channel, reply, size)) {
        case Receipt::whole:
            return;
        case Receipt::other_size:
            refuse("a message of another size");
        case Receipt::closed:
            throw_crash();
        case Receipt::nothing_yet:
            break;
        }
        if (events[1].revents)
            throw_crash();
        if (count == 0 && until && Clock::now() >= *until)
            throw_late(patience, stop_event);
        if (events[2].revents) {
            stop_event = -1;
            const auto end = Clock::now() + std::chrono::seconds(Patience::stop_seconds);
            until = std::min(end, until.value_or(end));
        }
    }
}

// `stop_event` is below 0 if the caller wanted to stop.
void Child::throw_late(const Patience &patience, int stop_event)
{
    if (!patience.ends_child || (patience.stop_event >= 0 && stop_event < 0))
        throw Lost();
    end_by_force(concat("has not answered within ", in_seconds(*patience.limit),
                        " and was ended; raise timeout if it may take longer"));
    throw_crash();
}

void Child::check_head(const ReplyHead &head, Kind kind)
{
    if (head.kind != kind)
        refuse("a reply to something else");
    // Only this side says that the child has ended.
    if (head.status < DNN_TORCH_OK || head.status > DNN_TORCH_NEEDS_PARTS ||
        head.status == DNN_TORCH_CRASHED)
        refuse("a status that is not known");
    on_notice_(text_of(head.notice));
}

} // namespace isolation
