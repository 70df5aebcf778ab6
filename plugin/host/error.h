// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Errors of frames and models: a code for the program, a line for the user.
#pragma once

extern "C" {
#include <libavutil/error.h>
}

#include <stdexcept>
#include <string>

namespace dnn_torch
{

// What ends a filter or a tool: an Error or a Crash.
class AnyError : public std::runtime_error
{
public:
    // `code` is a negative AVERROR, which the filter returns in the end.
    AnyError(int code, const std::string &line) : std::runtime_error(line), code_(code) {}
    int code() const { return code_; }

private:
    int code_;
};

// Something is wrong with an option, a frame, a file or the model.  Whoever tries the model catches
// it, because it tells something about the model.
class Error : public AnyError
{
public:
    // What the error tells about the model.
    enum class Reason {
        other,
        channels, // it takes another number of channels
        rank      // it takes tensors of another rank
    };

    Error(int code, const std::string &line, Reason reason = Reason::other)
        : AnyError(code, line), reason_(reason)
    {
    }
    Reason reason() const { return reason_; }

private:
    Reason reason_;
};

// Returns FFmpeg's description of an AVERROR.
inline std::string words_of_code(int code)
{
    char words[AV_ERROR_MAX_STRING_SIZE] = "";
    av_strerror(code, words, sizeof(words));
    return words;
}

// The process that ran the model ended.  It tells nothing about frames or sizes, so it passes those
// who try the model.
class Crash : public AnyError
{
public:
    // `was_tried_again`: the run was retried in a new process, which ended as well.
    Crash(int code, const std::string &line, bool was_tried_again)
        : AnyError(code, line), was_tried_again_(was_tried_again)
    {
    }
    bool was_tried_again() const { return was_tried_again_; }

private:
    bool was_tried_again_;
};

} // namespace dnn_torch
