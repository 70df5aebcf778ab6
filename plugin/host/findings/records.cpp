// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "records.h"

#include "base/compose.h"
#include "destination.h"
#include "host/error.h"
#include "record_text.h"

extern "C" {
#include <libavutil/error.h>
#include <libavutil/log.h>
}

#include <algorithm>
#include <chrono>
#include <list>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

namespace dnn_torch
{
namespace
{

// What a later writer needs to continue.
struct Progress {
    RecordFormat format = RecordFormat::jsonl;
    std::unique_ptr<RecordText> text = {};
    int64_t frames = 0;                           // that have records
    int64_t position = 0;                         // in a file, which is closed
    std::unique_ptr<Destination> connection = {}; // if it is not a file
};

// ---- destinations in use -------------------------------------------------------

constexpr size_t most_kept = 16;

std::mutex mutex;

// Under the mutex.  Never destroyed, because filters may be freed while the program exits.
struct Registry {
    std::set<std::string> in_use;                      // see place_of()
    std::list<std::pair<std::string, Progress>> ended; // the latest first
};

Registry &registry()
{
    static auto *const all = new Registry;
    return *all;
}

void begin_use(const std::string &place, const std::string &name)
{
    std::lock_guard lock(mutex);
    if (!registry().in_use.insert(place).second)
        throw Error(AVERROR(EBUSY), concat("destination=", name,
                                           " is written by another filter; name another one"));
}

void end_use(const std::string &place)
{
    std::lock_guard lock(mutex);
    registry().in_use.erase(place);
}

std::optional<Progress> take_progress(const std::string &place)
{
    std::lock_guard lock(mutex);
    auto &ended = registry().ended;
    auto last = std::find_if(ended.begin(), ended.end(),
                             [&](const auto &one) { return one.first == place; });
    if (last == ended.end())
        return std::nullopt;
    Progress progress = std::move(last->second);
    ended.erase(last);
    return progress;
}

void keep_progress(const std::string &place, Progress progress)
{
    std::list<std::pair<std::string, Progress>> forgotten; // closed without the lock
    std::lock_guard lock(mutex);
    auto &ended = registry().ended;
    ended.emplace_front(place, std::move(progress));
    if (ended.size() > most_kept)
        forgotten.splice(forgotten.end(), ended, std::prev(ended.end()));
}

// Exclusive use of a destination.
class Use
{
public:
    explicit Use(std::string name) : name_(std::move(name)), place_(place_of(name_))
    {
        begin_use(place_, name_);
    }
    ~Use() { end_use(place_); }
    Use(const Use &) = delete;
    Use &operator=(const Use &) = delete;

    const std::string &name() const { return name_; }
    const std::string &place() const { return place_; }

private:
    std::string name_, place_;
};

// ---- writing --------------------------------------------------------------------

// How long a program that ends may wait for a reader.
constexpr std::chrono::seconds last_patience{2};

class RecordFile : public FindingsSink
{
public:
    RecordFile(const std::string &name, RecordFormat format) : use_(name)
    {
        if (!resume(format))
            begin(format);
    }

    // end() was not called if the program was interrupted, the graph was rebuilt, or it failed.
    ~RecordFile() override
    {
        if (!destination_ || has_failed_)
            return;
        try {
            destination_->set_patience(last_patience);
            complete(false);
        } catch (const std::exception &error) {
            av_log(nullptr, AV_LOG_WARNING, "%s\n", error.what());
        }
    }

    void write(const FrameFacts &frame, const Findings &found) override
    {
        FrameFacts numbered = frame;
        numbered.number += first_number_;
        progress_.frames = std::max(progress_.frames, numbered.number + 1);
        send(progress_.text->record(numbered, found));
    }

    void end() override { complete(true); }

private:
    void begin(RecordFormat format)
    {
        progress_.format = format;
        destination_ = std::make_unique<Destination>(use_.name());
        send_new_text();
    }

    // Returns false if there is nothing to continue.
    bool resume(RecordFormat format)
    {
        std::optional<Progress> progress = take_progress(use_.place());
        if (!progress || progress->format != format)
            return false;
        destination_ = progress->connection ? std::move(progress->connection)
                                            : Destination::reopen(use_.name(), progress->position);
        if (!destination_)
            return false;
        destination_->set_patience(Destination::default_patience);
        progress_ = std::move(*progress);
        first_number_ = progress_.frames;
        // An end that was sent over a connection cannot be replaced, so a new text begins.
        if (progress_.position == 0 && progress_.text->end_is_replaced())
            send_new_text();
        return true;
    }

    void send(const std::string &text)
    {
        has_failed_ = true;
        destination_->write(text);
        has_failed_ = false;
    }

    void send_new_text()
    {
        progress_.text = make_record_text(progress_.format);
        send(progress_.text->begin());
    }

    void complete(bool closes)
    {
        if (!destination_)
            return;
        const std::optional<int64_t> before_end = destination_->position();
        send(progress_.text->end());
        const std::optional<int64_t> after_end = destination_->position();
        std::unique_ptr<Destination> destination = std::move(destination_);
        if (before_end || closes)
            destination->close();
        if (before_end)
            keep(*(progress_.text->end_is_replaced() ? before_end : after_end), nullptr);
        else if (!closes)
            keep(0, std::move(destination));
    }

    void keep(int64_t position, std::unique_ptr<Destination> connection)
    {
        progress_.position = position;
        progress_.connection = std::move(connection);
        keep_progress(use_.place(), std::move(progress_));
    }

    Use use_; // destroyed last, after the destination
    Progress progress_ = {};
    std::unique_ptr<Destination> destination_; // null after the end
    int64_t first_number_ = 0;
    bool has_failed_ = false;
};

} // namespace

std::unique_ptr<FindingsSink> open_records(const std::string &destination, RecordFormat format)
{
    return std::make_unique<RecordFile>(
        destination, format == RecordFormat::automatic ? format_for(destination) : format);
}

} // namespace dnn_torch
