// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Remembers results, so that each is computed once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <future>
#include <list>
#include <mutex>
#include <utility>

namespace dnn_torch
{

// Keeps the `most` results that were requested last.  Any thread.
template <class Key, class Value> class Memo
{
public:
    explicit Memo(size_t most) : most_(most) {}

    // A caller that asks while another thread computes the result waits for it, and gets its
    // failure too.  Failures are not remembered.
    template <class Make> Value get(const Key &key, Make make)
    {
        std::promise<Value> promise;
        std::shared_future<Value> own = promise.get_future().share();
        std::shared_future<Value> known = find_or_add(key, own);
        if (known.valid())
            return known.get();
        try {
            promise.set_value(make());
        } catch (...) {
            forget(key);
            promise.set_exception(std::current_exception());
        }
        return own.get();
    }

private:
    struct Entry {
        Key key;
        std::shared_future<Value> value;
    };

    // Returns the result under that key, or an invalid future if it added `own`.
    std::shared_future<Value> find_or_add(const Key &key, const std::shared_future<Value> &own)
    {
        std::list<Entry> oldest; // freed without the lock
        std::lock_guard lock(mutex_);
        auto entry = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry &each) { return each.key == key; });
        if (entry != entries_.end()) {
            entries_.splice(entries_.end(), entries_, entry);
            return entry->value;
        }
        entries_.push_back({.key = key, .value = own});
        if (entries_.size() > most_)
            oldest.splice(oldest.end(), entries_, entries_.begin());
        return {};
    }

    void forget(const Key &key)
    {
        std::lock_guard lock(mutex_);
        entries_.remove_if([&](const Entry &each) { return each.key == key; });
    }

    const size_t most_;
    std::mutex mutex_;
    // ---- under mutex_ ----
    std::list<Entry> entries_; // the least recently requested first
};

} // namespace dnn_torch
