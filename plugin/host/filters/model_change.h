// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Prepares another model for a filter while frames pass.  Commands or a changed file request it,
// and a separate thread opens it.
#pragma once

#include "host/model/file_identity.h"
#include "host/tasks/task.h"
#include "host/workers/background.h"
#include "options.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace dnn_torch
{

// A model that is ready to work.
struct NextModel {
    ModelRequest request;
    std::string changes; // "model=other.pt:precision=bf16"
    Work work;
};

// Opens and plans what is requested.  Runs on a thread that may outlive the filter, so it must own
// or share everything that it uses.  Throws Error.
using PrepareModel = std::function<Work(const ModelRequest &)>;

// Belongs to the filter's thread.
class ModelChange
{
public:
    // `current` is the filter's first model.
    ModelChange(const ModelRequest &current, bool watches_file);

    // Whether a command of that name changes the model.
    static bool is_command(const std::string &name);
    // Throws Error if the value cannot be used.
    void request(const std::string &name, const std::string &value);

    // Returns the model that is ready for frames of that shape, or nullopt.  Throws an Error that
    // names the change if the change is impossible.
    std::optional<NextModel> take(const FrameShape &input);

    // Also watches the files beside the model's file that it was read from.
    void watch_parts(const Model &model);

    // Whether something was requested, or a file has changed, and nothing is under way.
    bool is_due();
    // Begins the change that is due.  Throws Error if no thread can be started.
    void begin(PrepareModel prepare);

    // Returns what was requested and is not done yet: "model=other.pt", or empty.
    std::string pending() const;

private:
    void check_file();

    ModelRequest current_;
    std::optional<FileWatch> watch_, next_watch_;
    std::map<std::string, std::string> requested_; // by option, since the last change began
    std::map<std::string, std::string> under_way_;
    std::unique_ptr<BackgroundValue<NextModel>> work_;
};

} // namespace dnn_torch
