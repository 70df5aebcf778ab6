// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Runs ffmpeg and our own programs, and ends with them when a signal comes.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace dnn_torch
{

// SIGINT, or another signal that ends programs, has come.
struct Interrupted {
    int signal;
};

// While it exists, those signals wait for throw_if_interrupted() and for Programs.
class SignalsAsExceptions
{
public:
    SignalsAsExceptions();
    ~SignalsAsExceptions();
    SignalsAsExceptions(const SignalsAsExceptions &) = delete;
    SignalsAsExceptions &operator=(const SignalsAsExceptions &) = delete;
};

// Throws Interrupted.
void throw_if_interrupted();

// Lets no process that is started from now on take more than half of the machine's memory, such as
// for the picture of a model that makes a huge one.
void limit_memory();

// A folder for this process alone, without characters that mean something to ffmpeg.  It goes with
// all that is in it.
class TemporaryFolder
{
public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder &) = delete;
    TemporaryFolder &operator=(const TemporaryFolder &) = delete;

    std::string path(std::string_view name) const { return path_ + "/" + std::string(name); }

private:
    std::string path_;
};

struct Outcome {
    bool timed_out = false;
    int status = 0;      // of waitpid()
    long peak_bytes = 0; // of memory, of the largest of its processes
    std::string output, errors;

    bool succeeded() const { return !timed_out && status == 0; }
    // Returns ffmpeg's first error, the filter's before others; or how the program ended.
    std::string reason() const;
};

class Programs
{
public:
    // `launcher` is the path of dnn-torch.
    Programs(std::string launcher, std::string ffmpeg)
        : launcher_(std::move(launcher)), ffmpeg_(std::move(ffmpeg))
    {
    }

    // Runs `dnn-torch run ffmpeg` with these arguments.  Throws Interrupted.
    Outcome ffmpeg(const std::vector<std::string> &arguments, double limit_seconds) const;
    // The same; throws std::runtime_error with `purpose` and the reason if it fails.
    Outcome need_ffmpeg(const std::vector<std::string> &arguments,
                        const std::string &purpose) const;
    // Runs dnn-torch itself.
    Outcome dnn_torch(const std::vector<std::string> &arguments, double limit_seconds) const;

private:
    std::string launcher_, ffmpeg_;
};

} // namespace dnn_torch
