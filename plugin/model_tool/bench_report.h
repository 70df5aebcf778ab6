// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The output of `dnn-torch bench`: a table that grows row by row and bars beneath it, or JSON at
// the end.
#pragma once

#include "bars.h"
#include "frame_rate.h"
#include "host/size.h"

#include <functional>
#include <string>
#include <vector>

namespace dnn_torch
{

struct BenchFacts {
    std::string model, device;
    Size size, result;
    std::string format; // of the frames, in words
    std::string filter; // that the model is for
    size_t cores;
    double seconds;
    std::string notice;             // may be empty
    std::vector<std::string> notes; // how frames are brought to the model
};

struct Rate {
    std::string precision;
    Setting setting;
    double frames_per_second;
    std::string form;      // how the engine ran the model
    bool chosen;           // the filter takes this setting by itself
    std::string tile = {}; // the option, where it is not the request's
};

// In the place of a report as JSON, if there is none.
void print_failure(const std::string &model, const std::string &error);

// "fp32, frozen" of the engine's words "fp32, frozen (measured)".
std::string form_in(const std::string &variant);

class BenchReport
{
public:
    // `command` returns a command line for a measured row.
    BenchReport(bool as_json, std::function<std::string(const Rate &)> command)
        : as_json_(as_json), command_(std::move(command))
    {
    }

    // Says what is being done.  On a terminal, the next line overwrites it.
    void say(const std::string &text) const;

    void begin(const BenchFacts &facts);
    // Prints the row at once, so that it remains after a Ctrl-C.
    void add(const Rate &rate);
    // Records what is only drawn: no row, and no setting that is recommended.
    void compare(const Rate &rate) { compared_.push_back(rate); }
    // Records something that was not measured, with the reason.
    void leave_out(const std::string &text) { left_out_.push_back(text); }
    bool empty() const { return rates_.empty(); }
    void end() const;
    // What was measured until now, to be drawn.
    BarChart chart() const;

private:
    std::vector<Bar> bars() const;
    void print_bars() const;
    const Rate *best(const std::string &precision) const;
    void print_best(const char *what, const Rate &rate) const;
    void print_json() const;

    bool as_json_;
    std::function<std::string(const Rate &)> command_;
    BenchFacts facts_{};
    std::vector<Rate> rates_, compared_;
    std::vector<std::string> left_out_;
};

} // namespace dnn_torch
