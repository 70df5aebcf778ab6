// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The process that runs a model, as the host side sees it.
#pragma once

#include "base/child_process.h"
#include "engine_kit/failure.h"
#include "engine_kit/tuning_broker.h"
#include "isolation/protocol/channel.h"
#include "isolation/protocol/messages.h"
#include "printed_lines.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <sys/resource.h>
#include <vector>

namespace isolation
{

using Clock = std::chrono::steady_clock;
using engine_kit::Failure;

// The process has ended, or was ended because it could not be trusted any more.
class Crash : public Failure
{
public:
    explicit Crash(const std::string &text) : Failure(DNN_TORCH_CRASHED, text) {}
};

// The child has not answered in time and still runs.  The channel cannot be used any more.
class Lost : public Failure
{
public:
    Lost() : Failure(DNN_TORCH_STOPPED, "the model was stopped and did not come back") {}
};

// How long to wait for a reply.
struct Patience {
    std::optional<std::chrono::microseconds> limit;
    // Becomes readable when the caller wants to stop; below 0: never.  The child then has
    // `stop_seconds` left.
    int stop_event = -1;
    // Whether the child is ended after the limit.  It is not if the caller stopped the request.
    bool ends_child = true;

    static constexpr int stop_seconds = 2;
};

// Throws a Failure if the child's reply says that the request failed.
void check_status(const ReplyHead &head);

// The text in a fixed field, which need not be terminated.
template <size_t size> std::string_view text_of(const char (&field)[size])
{
    const std::string_view all(field, size);
    return all.substr(0, all.find('\0'));
}

// Every member function may be called from several threads at once.
class Child
{
public:
    using OnNotice = std::function<void(std::string_view)>;

    // Starts engine-host.  When the last copy of the pointer is destroyed, the child is asked to
    // end, and it is killed a second later; nobody waits for that.  `on_notice` gets the model's
    // notice with each reply.  `broker` answers the child's questions.  Throws a Failure.
    static std::shared_ptr<Child> start(OnNotice on_notice,
                                        std::shared_ptr<engine_torch::TuningBroker> broker);

    // The same for a child that the caller plays, at the other end of that channel.  It has no
    // process and is not greeted.
    static std::shared_ptr<Child> adopt(Descriptor control, OnNotice on_notice);

    Child(const Child &) = delete;
    Child &operator=(const Child &) = delete;

    int control() const { return control_.get(); }

    // Sets who gets the model's notices, while nobody talks to the child.
    void report_to(OnNotice on_notice) { on_notice_ = std::move(on_notice); }

    // Closes the model, of which nothing is in use, and ends the child at that time unless resume()
    // is called before.  Returns false if it has ended.
    bool rest(Clock::time_point until);
    // Returns false if the child has ended, or ends now.  Afterwards a model may be opened in it.
    bool resume();

    // Opens a channel, which a thread of its own serves in the child.  Throws a Failure.
    Descriptor open_channel();

    // Gives that thread of the child the calling thread's CPU affinity, as share_affinity() does.
    // Does nothing if the child has no such thread, or the system refuses.
    void follow_affinity(pid_t thread) const noexcept;

    // Sends a request without a reply over the control channel.
    void tell(Kind kind, int64_t id) noexcept;

    // Sends a request and returns its reply.  Throws a Crash.
    template <class Reply, class Request>
    Reply ask(int channel, const Request &request, const Patience &patience,
              std::span<const int> descriptors = {})
    {
        if (!send(channel, request, Sending::never_waits, descriptors))
            throw_crash();
        return receive<Reply>(channel, request.head.kind, patience);
    }
    template <class Reply> Reply receive(int channel, Kind kind, const Patience &patience)
    {
        auto reply = std::make_unique<Reply>();
        await(channel, reply.get(), sizeof(Reply), patience);
        check_head(reply->head, kind);
        return *reply;
    }

    // The same over any idle channel, for requests that belong to no session.
    template <class Reply, class Request>
    Reply ask(const Request &request, const Patience &patience,
              std::span<const int> descriptors = {})
    {
        Descriptor channel = take_channel();
        Reply reply = ask<Reply>(channel.get(), request, patience, descriptors);
        give_channel(std::move(channel));
        return reply;
    }

    // Ends the child because what it sent makes no sense, and throws a Crash.
    [[noreturn]] void refuse(std::string_view what);

    bool has_ended() const;

    // Throws a Crash that says how the child has ended.  Ends it if it has not.
    [[noreturn]] void throw_crash();

private:
    Child(OnNotice on_notice, std::shared_ptr<engine_torch::TuningBroker> broker);

    void wait_for_start();
    void greet();

    // On the watcher's thread.
    void watch(const dnn_torch::ProgramStart &given);
    void note_start(int error, pid_t number);
    void look_after(int output);
    bool read_output(int output);
    bool is_overdue();
    void note_end(const dnn_torch::ChildEnd &end, rlim_t addresses);

    // Becomes readable when the process ends; below 0 if the kernel has no such handle.
    int handle() const { return process_ ? process_->handle() : -1; }
    std::optional<Clock::time_point> end_time() const;
    void end_by(Clock::time_point when) noexcept;
    void ask_to_end() noexcept;
    void end_by_force(const std::string &verdict);

    Descriptor take_channel();
    void give_channel(Descriptor channel);
    void await(int channel, void *reply, size_t size, const Patience &patience);
    void check_head(const ReplyHead &head, Kind kind);
    [[noreturn]] void throw_late(const Patience &patience, int stop_event);

    OnNotice on_notice_;
    const std::shared_ptr<engine_torch::TuningBroker> broker_;
    Descriptor control_, wake_, tuning_;
    std::optional<dnn_torch::ChildProcess> process_; // set by the start
    PrintedLines printed_;                           // of the watcher's thread

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    // ---- under mutex_
    bool is_started_ = false, is_ended_ = false;
    int start_error_ = 0;
    std::string verdict_, last_words_;
    std::optional<Clock::time_point> end_at_; // when the child is killed
    std::vector<Descriptor> idle_channels_;
};

} // namespace isolation
