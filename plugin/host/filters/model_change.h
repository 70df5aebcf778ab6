// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Another model for a filter whose frames pass: asked for by commands or by a changed
// file, and made ready on a thread of its own.
#pragma once

#include "host/inference/background.h"
#include "host/inference/file_watch.h"
#include "host/tasks/task.h"
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

// Opens and plans what is requested.  Runs on a thread that may outlive the filter, so it
// owns, or shares, everything that it uses.  Throws Error.
using PrepareModel = std::function<Work(const ModelRequest &)>;

// Belongs to the filter's thread.
class ModelChange
{
public:
    // `current` is what the filter begins with.
    ModelChange(const ModelRequest &current, bool watches_file);

    // Whether a command of that name changes the model.
    static bool is_command(const std::string &name);
    // Throws Error if the value is none.  The change is begun by the next look().
    void ask(const std::string &name, const std::string &value);

    // Once a turn.  Begins what was asked for since, if nothing is under way, and
    // returns what is ready for frames of that shape.  Throws Error, which names the
    // change, if it cannot be made.
    std::optional<NextModel> look(const FrameShape &input, const PrepareModel &prepare);

    // What was asked for and is not made yet: "model=other.pt", or empty.
    std::string unmade() const;

private:
    void look_at_file();
    void begin(const PrepareModel &prepare);
    std::optional<NextModel> take(const FrameShape &input);

    ModelRequest current_;
    std::optional<FileWatch> watch_, next_watch_;
    std::map<std::string, std::string> asked_; // by option, since the last change began
    std::map<std::string, std::string> under_way_;
    std::unique_ptr<BackgroundValue<NextModel>> work_;
};

} // namespace dnn_torch
