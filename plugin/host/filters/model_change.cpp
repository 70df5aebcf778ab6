// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model_change.h"

#include "host/error.h"

#include <chrono>
#include <exception>
#include <utility>

extern "C" {
#include <libavutil/error.h>
}

namespace dnn_torch
{
namespace
{

// Returns null if no command has the name.
const ModelOption *find_command(const std::string &name)
{
    const ModelOption *const option = find_model_option(name);
    return option && option->changes ? option : nullptr;
}

std::string words_of(const std::map<std::string, std::string> &changes)
{
    std::string words;
    for (const auto &[name, value] : changes)
        words += (words.empty() ? "" : ":") + name + "=" + value;
    return words;
}

NextModel prepared(NextModel next, const PrepareModel &prepare)
try {
    next.work = prepare(next.request);
    return next;
} catch (const std::exception &error) {
    throw Error(AVERROR_EXTERNAL, "cannot change to " + next.changes + ": " + error.what() +
                                      "; the filter goes on as before");
}

} // namespace

ModelChange::ModelChange(const ModelRequest &current, bool watches_file) : current_(current)
{
    if (watches_file)
        watch_.emplace(current.path);
}

bool ModelChange::is_command(const std::string &name)
{
    return find_command(name) != nullptr;
}

void ModelChange::request(const std::string &name, const std::string &value)
{
    if (value.empty())
        throw Error(AVERROR(EINVAL), "the command " + name + " needs a value");
    // An error that is found now must not spoil commands that come later.
    ModelRequest alone;
    find_command(name)->text_in(alone) = value;
    check_values(alone.contract);
    requested_[name] = value;
}

void ModelChange::watch_parts(const Model &model)
{
    if (watch_)
        for (const ModelPart &part : model.parts())
            watch_->add(path_beside(current_.path, part.name));
}

bool ModelChange::is_due()
{
    if (work_)
        return false;
    // A change of the file is a change of its own: a command that fails must not undo it.
    if (requested_.empty())
        check_file();
    return !requested_.empty();
}

std::string ModelChange::pending() const
{
    std::map<std::string, std::string> all = requested_;
    if (work_)
        all.insert(under_way_.begin(), under_way_.end());
    return words_of(all);
}

// A changed file counts as a requested model, though it has the same name.
void ModelChange::check_file()
{
    if (watch_ && watch_->has_changed(std::chrono::steady_clock::now()))
        requested_.try_emplace("model", current_.path);
}

void ModelChange::begin(PrepareModel prepare)
{
    under_way_ = std::exchange(requested_, {});
    NextModel next = {.request = current_, .changes = words_of(under_way_)};
    for (const auto &[name, value] : under_way_)
        find_command(name)->text_in(next.request) = value;
    // The user allowed these operators for the current file, not for another one.
    if (next.request.path != current_.path && !under_way_.contains("allow"))
        next.request.allow.clear();
    // If the file changes from now on, that is another change.
    if (watch_)
        next_watch_.emplace(next.request.path);
    work_ = std::make_unique<BackgroundValue<NextModel>>(
        [next, prepare = std::move(prepare)] { return prepared(next, prepare); });
}

std::optional<NextModel> ModelChange::take(const FrameShape &input)
{
    if (!work_ || !work_->is_done())
        return std::nullopt;
    std::unique_ptr<BackgroundValue<NextModel>> done = std::move(work_);
    NextModel next = done->take();
    const FrameShape &prepared_for = next.work.plan->input;
    if (prepared_for.size != input.size || prepared_for.format != input.format) {
        // The shape of the frames has changed meanwhile: prepare the model once more, with anything
        // newer that was requested.
        requested_.merge(under_way_);
        return std::nullopt;
    }
    current_ = next.request;
    watch_ = next_watch_;
    watch_parts(*next.work.task->model());
    return next;
}

} // namespace dnn_torch
