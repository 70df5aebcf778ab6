// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Texts from a child that live as long as the model or the plan that they describe.
#pragma once

#include "base/terminal.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace isolation
{

// Every member function may be called from several threads at once.
class Texts
{
public:
    // Returns the kept answer, or else the text that `ask` returns, which is kept.  Holds no lock
    // while it calls `ask`.
    template <class Ask> const char *answer(const std::string &key, Ask ask)
    {
        {
            const std::lock_guard lock(mutex_);
            if (const auto known = answers_.find(key); known != answers_.end())
                return known->second;
        }
        const std::optional<std::string> text = ask();
        const std::lock_guard lock(mutex_);
        const char *kept = text ? keep(key, *text) : nullptr;
        if (answers_.size() >= most_texts)
            return kept;
        return answers_.try_emplace(key, kept).first->second;
    }

    // Keeps the latest answer for this key.
    void note(const std::string &key, std::string_view text)
    {
        const std::lock_guard lock(mutex_);
        if (const char *kept = keep(key, text))
            answers_[key] = kept;
    }

private:
    // An untrusted child could send another text each time.
    static constexpr size_t most_texts = 100;
    static constexpr std::string_view keys_of_lines[] = {"refused", "architecture_parameters"};

    // Returns null if there are too many already.  Joins lines, except under those keys: a second
    // line in the log would look like another program's.
    const char *keep(const std::string &key, std::string_view text)
    {
        std::string shown = dnn_torch::printable(text);
        if (std::find(std::begin(keys_of_lines), std::end(keys_of_lines), key) ==
            std::end(keys_of_lines))
            std::replace_if(
                shown.begin(), shown.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
        const auto known = texts_.find(shown);
        if (known == texts_.end() && texts_.size() >= most_texts)
            return nullptr;
        return (known == texts_.end() ? texts_.insert(std::move(shown)).first : known)->c_str();
    }

    std::mutex mutex_;
    // ---- under mutex_
    std::set<std::string> texts_;
    std::map<std::string, const char *> answers_;
};

} // namespace isolation
