// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What `dnn-torch bench` says: a table that grows row by row, or JSON at the end.
#pragma once

#include "frame_rate.h"
#include "host/size.h"

#include <functional>
#include <string>
#include <vector>

namespace dnn_torch
{

struct BenchFacts {
    std::string model, device;
    Size size;
    std::string format; // of the frames, in words
    size_t cores;
    double seconds;
    std::string notice; // may be empty
};

struct Rate {
    std::string precision;
    Setting setting;
    double frames_per_second;
    std::string form; // how the engine ran the model
    bool chosen;      // what the filter does by itself
};

class BenchReport
{
public:
    // `command` makes a command line of what was measured.
    BenchReport(bool as_json, std::function<std::string(const Rate &)> command)
        : as_json_(as_json), command_(std::move(command))
    {
    }

    // What is being done: on a terminal, a line that is written over.
    void say(const std::string &text) const;

    void begin(const BenchFacts &facts);
    // Printed at once, so that it remains after a Ctrl-C.
    void add(const Rate &rate);
    // Something that was not measured, with the reason.
    void leave_out(const std::string &text) { left_out_.push_back(text); }
    bool empty() const { return rates_.empty(); }
    void end() const;

private:
    const Rate *best(const std::string &precision) const;
    void print_best(const char *what, const Rate &rate) const;
    void print_json() const;

    bool as_json_;
    std::function<std::string(const Rate &)> command_;
    BenchFacts facts_{};
    std::vector<Rate> rates_;
    std::vector<std::string> left_out_;
};

} // namespace dnn_torch
