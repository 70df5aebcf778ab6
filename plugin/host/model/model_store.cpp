// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model_store.h"

#include "base/blocked_signals.h"
#include "file_identity.h"
#include "host/workers/time_limit.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <future>
#include <list>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace dnn_torch
{
namespace
{

using Clock = std::chrono::steady_clock;

constexpr int most_idle = 4;

struct Key {
    const DnnTorchEngine *engine;
    ModelOptions options; // without the path: a file may have several
    FileIdentity file;
    std::vector<ModelPart> parts = {}; // empty until the model was opened for the first time

    bool operator==(const Key &) const = default;
};

struct Loaded {
    std::unique_ptr<Model> model;
    bool may_be_shared;
};

// An entry is loading, in use or idle.
struct Entry {
    Key key;
    std::shared_future<std::shared_ptr<Model>> loading = {}; // valid only while it loads
    const Model *model = nullptr;
    std::weak_ptr<Model> in_use = {};
    std::unique_ptr<Model> idle = nullptr;
    Clock::time_point idle_until = {};
};

struct OpenedFile {
    std::shared_ptr<const Descriptor> file;
    std::optional<FileIdentity> identity; // nullopt if the file cannot be shared
};

// A disk that does not answer must not block a filter for ever.
TimeLimit limit_to_read(const ModelOptions &options)
{
    return {.most = options.timeout,
            .line = "the model's file has not been read within " + in_seconds(options.timeout) +
                    "; raise timeout if it may take longer"};
}

OpenedFile open_and_read(const ModelOptions &options)
{
    const NowDoing now("reading the model's file");
    return value_within(limit_to_read(options), [path = options.path] {
        auto file = std::make_shared<const Descriptor>(open_model_file(path));
        return OpenedFile{.file = file, .identity = identity_of(*file)};
    });
}

// The stamp suffices, without reading the content again: when the content was read, the last
// change was older than one tick of the clock.
bool was_written_to(const OpenedFile &opened, const std::vector<ModelPart> &parts,
                    const ModelOptions &options)
{
    return value_within(limit_to_read(options), [opened, parts] {
        return stamp_of(*opened.file) != opened.identity->stamp ||
               std::any_of(parts.begin(), parts.end(), [](const ModelPart &part) {
                   return !part.stamp || stamp_of(*part.file) != part.stamp;
               });
    });
}

Key key_of(const DnnTorchEngine &engine, const ModelOptions &options, const FileIdentity &file)
{
    Key key = {.engine = &engine, .options = options, .file = file};
    key.options.path.clear();
    return key;
}

// What the parts with the names of `known` are now.  Empty if they cannot be opened, which the
// engine's caller will tell.
std::vector<ModelPart> reopened(const std::vector<ModelPart> &known, const ModelOptions &options)
{
    std::vector<std::string> names;
    names.reserve(known.size());
    for (const ModelPart &part : known)
        names.push_back(part.name);
    if (names.empty())
        return {};
    try {
        return value_within(limit_to_read(options),
                            [path = options.path, names] { return open_parts(path, names); });
    } catch (const Error &) {
        return {};
    }
}

} // namespace

struct ModelStore::State : std::enable_shared_from_this<State> {
    explicit State(std::chrono::milliseconds idle_time) : grace(idle_time) {}

    const std::chrono::milliseconds grace;
    const pid_t process = getpid();

    std::mutex mutex;
    // ---- under the mutex ----
    std::list<Entry> entries;
    bool has_closer = false; // the thread that closes models that were idle long enough

    struct Lease;
    using Opener = std::function<Loaded()>;
    std::vector<ModelPart> parts_of(const FileIdentity &file);
    std::shared_ptr<Model> open(const Key &key, const Opener &opener);
    std::shared_ptr<Model> load(std::list<Entry>::iterator entry, const Opener &opener,
                                std::promise<std::shared_ptr<Model>> promise);
    std::shared_ptr<Model> hand_out(std::unique_ptr<Model> &model);
    void forget(std::list<Entry>::iterator entry);
    void take_back(std::unique_ptr<Model> model) noexcept;
    std::list<Entry> take_surplus();
    bool start_closer() noexcept;
    void close_idle_models();
    std::optional<Clock::time_point> next_expiry() const;
    std::list<Entry> take_idle(const std::function<bool(const Entry &)> &is_meant);
};

// The users of a model share a lease.  When the last one releases it, the store gets the model.
struct ModelStore::State::Lease {
    std::weak_ptr<State> state;
    std::unique_ptr<Model> model;

    ~Lease()
    {
        if (auto store = state.lock(); store && model)
            store->take_back(std::move(model));
    }
};

// Leaves `model` untouched if it throws for lack of memory.
std::shared_ptr<Model> ModelStore::State::hand_out(std::unique_ptr<Model> &model)
{
    auto lease = std::make_shared<Lease>();
    lease->state = weak_from_this();
    lease->model = std::move(model);
    return {lease, lease->model.get()};
}

// ---- opening ------------------------------------------------------------------

// Returns the parts of a model of that file that was opened earlier.
std::vector<ModelPart> ModelStore::State::parts_of(const FileIdentity &file)
{
    std::lock_guard lock(mutex);
    for (const Entry &entry : entries)
        if (entry.key.file == file && !entry.key.parts.empty())
            return entry.key.parts;
    return {};
}

std::shared_ptr<Model> ModelStore::State::open(const Key &key, const Opener &opener)
{
    std::vector<std::shared_ptr<Model>> lost; // released without the lock
    std::unique_lock lock(mutex);
    for (Entry &entry : entries) {
        if (entry.key != key)
            continue;
        if (auto loading = entry.loading; loading.valid()) {
            lock.unlock();
            const std::shared_ptr<Model> &model = loading.get();
            return model ? model : opener().model;
        }
        std::shared_ptr<Model> model = entry.idle ? hand_out(entry.idle) : entry.in_use.lock();
        entry.in_use = model;
        if (!model)
            continue;
        if (!model->is_lost())
            return model;
        lost.push_back(std::move(model));
    }
    std::promise<std::shared_ptr<Model>> promise;
    // Those were opened with other options, to be described.
    std::list<Entry> replaced = take_idle(
        [&](const Entry &entry) { return entry.key.file == key.file && !entry.idle->was_tried(); });
    auto entry = entries.insert(entries.end(), Entry{.key = key, .loading = promise.get_future()});
    lock.unlock();
    replaced.clear(); // before the load, which may use the same process
    return load(entry, opener, std::move(promise));
}

std::shared_ptr<Model> ModelStore::State::load(std::list<Entry>::iterator entry,
                                               const Opener &opener,
                                               std::promise<std::shared_ptr<Model>> promise)
try {
    Loaded loaded = opener();
    const Model *address = loaded.model.get();
    std::shared_ptr<Model> model = hand_out(loaded.model);
    // Waiting threads get it first, or nullptr if each must load its own.
    promise.set_value(loaded.may_be_shared ? model : nullptr);
    std::lock_guard lock(mutex);
    if (!loaded.may_be_shared) {
        entries.erase(entry);
        return model;
    }
    entry->loading = {};
    entry->model = address;
    entry->in_use = model;
    entry->key.parts = model->parts();
    return model;
} catch (...) {
    promise.set_exception(std::current_exception());
    forget(entry);
    throw;
}

void ModelStore::State::forget(std::list<Entry>::iterator entry)
{
    std::lock_guard lock(mutex);
    entries.erase(entry);
}

// ---- after use ------------------------------------------------------------------

// Closes the model at once if it cannot be kept.  A forked child does so too: it has no thread
// of this store, and a lock that was held at the fork is never released there.
void ModelStore::State::take_back(std::unique_ptr<Model> model) noexcept
{
    if (process != getpid())
        return;
    std::list<Entry> closed; // closed without the lock: that may take long
    std::lock_guard lock(mutex);
    auto entry = std::find_if(entries.begin(), entries.end(),
                              [&](const Entry &each) { return each.model == model.get(); });
    if (entry == entries.end())
        return;
    if (model->is_lost()) {
        entries.erase(entry);
        return;
    }
    entry->idle = std::move(model);
    entry->idle_until = Clock::now() + grace;
    // The models that have been idle longest come first.
    entries.splice(entries.end(), entries, entry);
    if (start_closer())
        closed = take_surplus();
    else
        closed.splice(closed.end(), entries, entry);
}

// Under the mutex.  A program that opens one model after the other must not fill the memory.
std::list<Entry> ModelStore::State::take_surplus()
{
    std::list<Entry> closed;
    auto is_idle = [](const Entry &entry) { return entry.idle != nullptr; };
    auto oldest = std::find_if(entries.begin(), entries.end(), is_idle);
    if (std::count_if(entries.begin(), entries.end(), is_idle) > most_idle)
        closed.splice(closed.end(), entries, oldest);
    return closed;
}

// Under the mutex.
bool ModelStore::State::start_closer() noexcept
{
    if (has_closer)
        return true;
    BlockedSignals blocked;
    try {
        std::thread closer([self = shared_from_this()] { self->close_idle_models(); });
        pthread_setname_np(closer.native_handle(), "dnn_torch:store");
        closer.detach();
        return has_closer = true;
    } catch (const std::system_error &) {
        return false;
    }
}

// Wakes up for nothing if the model is in use again.
void ModelStore::State::close_idle_models()
{
    std::unique_lock lock(mutex);
    while (auto end = next_expiry()) {
        lock.unlock();
        std::this_thread::sleep_until(*end);
        lock.lock();
        std::list<Entry> past =
            take_idle([](const Entry &entry) { return entry.idle_until <= Clock::now(); });
        lock.unlock();
        past.clear();
        lock.lock();
    }
    has_closer = false;
}

// Under the mutex.
std::optional<Clock::time_point> ModelStore::State::next_expiry() const
{
    std::optional<Clock::time_point> next;
    for (const Entry &entry : entries)
        if (entry.idle)
            next = next ? std::min(*next, entry.idle_until) : entry.idle_until;
    return next;
}

// Under the mutex.
std::list<Entry> ModelStore::State::take_idle(const std::function<bool(const Entry &)> &is_meant)
{
    std::list<Entry> taken;
    for (auto entry = entries.begin(); entry != entries.end();) {
        auto next = std::next(entry);
        if (entry->idle && is_meant(*entry))
            taken.splice(taken.end(), entries, entry);
        entry = next;
    }
    return taken;
}

// ---- the store ------------------------------------------------------------------

ModelStore::ModelStore(std::chrono::milliseconds grace) : state_(std::make_shared<State>(grace)) {}

std::shared_ptr<Model> ModelStore::open(const DnnTorchEngine &engine, const ModelOptions &options)
{
    OpenedFile opened = open_and_read(options);
    if (!opened.identity)
        return std::make_shared<Model>(engine, options, opened.file);
    Key key = key_of(engine, options, *opened.identity);
    key.parts = reopened(state_->parts_of(key.file), options);
    return state_->open(key, [&] {
        auto model = std::make_unique<Model>(engine, options, opened.file);
        bool is_exclusive = model->metadata("exclusive") == "1";
        bool may_be_shared = !is_exclusive && !was_written_to(opened, model->parts(), options);
        return Loaded{.model = std::move(model), .may_be_shared = may_be_shared};
    });
}

namespace
{

ModelStore *process_store;

// A forked child gets a new store: the old one has no threads there, and its mutex may stay
// locked for ever.
void make_process_store()
{
    constexpr std::chrono::seconds grace(5);
    process_store = new ModelStore(grace); // never destroyed: threads may use it until the end
}

} // namespace

ModelStore &model_store()
{
    static std::once_flag once;
    std::call_once(once, [] {
        make_process_store();
        pthread_atfork(nullptr, nullptr, make_process_store);
    });
    return *process_store;
}

} // namespace dnn_torch
