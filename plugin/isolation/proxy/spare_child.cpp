// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "spare_child.h"

#include "base/file_stamp.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

namespace isolation
{
namespace
{

constexpr auto longest_rest = std::chrono::seconds(3);

// What two openings in one child must have in common.
struct Subject {
    std::string engine, name;
    int64_t memory_bytes;
    int32_t cage_is_required;
    std::vector<dnn_torch::FileStamp> files;

    bool operator==(const Subject &) const = default;
};

// A permission is for one opening; a device and an export have the cage prepared for them.
bool changes_the_process(const WireOption &option)
{
    const std::string_view key = option.key, value = option.value;
    return key == "allow" || key == "export" || (key == "device" && value != "cpu");
}

// Returns nullopt if each opening needs a child of its own.
std::optional<Subject> subject_of(const Settings &settings)
{
    const OpenRequest &request = *settings.request;
    const WireOption *const begin = request.options, *const end = begin + request.option_count;
    if (request.data_size >= 0 || settings.sink.is_open() || settings.files.empty() ||
        std::any_of(begin, end, changes_the_process))
        return std::nullopt;
    Subject subject = {.engine = request.engine,
                       .name = request.name,
                       .memory_bytes = request.memory_bytes,
                       .cage_is_required = request.cage_is_required,
                       .files = {}};
    subject.files.reserve(settings.files.size());
    for (const Descriptor &file : settings.files) {
        const std::optional<dnn_torch::FileStamp> stamp = dnn_torch::stamp_of(file);
        if (!stamp)
            return std::nullopt;
        subject.files.push_back(*stamp);
    }
    return subject;
}

struct Spare {
    std::shared_ptr<Child> child;
    Subject subject;
};

// In a forked process the lock may be held for ever, and the child is the parent's.
std::atomic<pid_t> owner{0};
std::mutex mutex;
std::optional<Spare> *const kept = new std::optional<Spare>; // no destructor runs at the exit

bool is_owner()
{
    pid_t none = 0;
    owner.compare_exchange_strong(none, getpid());
    return owner == getpid();
}

// The caller destroys what is returned, without the lock.
std::optional<Spare> exchange(std::optional<Spare> next)
{
    const std::lock_guard lock(mutex);
    return std::exchange(*kept, std::move(next));
}

} // namespace

void keep_spare(std::shared_ptr<Child> child, const Settings &settings) noexcept
try {
    std::optional<Subject> subject = subject_of(settings);
    if (!subject || !is_owner() || !child->rest(Clock::now() + longest_rest))
        return;
    exchange(Spare{.child = std::move(child), .subject = std::move(*subject)});
} catch (...) {
    return; // the child ends
}

std::shared_ptr<Child> take_spare(const Settings &settings)
{
    const std::optional<Subject> subject = subject_of(settings);
    if (!subject || !is_owner())
        return nullptr;
    const std::optional<Spare> spare = exchange(std::nullopt);
    return spare && spare->subject == *subject && spare->child->resume() ? spare->child : nullptr;
}

} // namespace isolation
