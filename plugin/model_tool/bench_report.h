// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The output of `dnn-torch bench`: a table, printed row by row, and bars below it; or JSON at the
// end.
#pragma once

#include "bars.h"
#include "frame_rate.h"
#include "host/model/model.h"
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
    std::vector<std::string> notes; // how frames are adapted to the model
};

struct Rate {
    std::string precision;
    Setting setting;
    double frames_per_second;
    Variant variant;       // of the model
    bool chosen;           // the setting is the filter's own choice
    std::string tile = {}; // the option's value, if it is not the request's
};

// Prints an error as JSON, instead of a report.
void print_failure(const std::string &model, const std::string &error);

// Returns "fp32, frozen", or the engine's words if it tells no more.
std::string name_of(const Variant &variant);

class BenchReport
{
public:
    // `command` returns a command line for a measured row.
    BenchReport(bool as_json, std::function<std::string(const Rate &)> command)
        : as_json_(as_json), command_(std::move(command))
    {
    }

    void begin(const BenchFacts &facts);
    // Prints the row at once, so that it remains after a Ctrl-C.
    void add(const Rate &rate);
    // Records a rate that is only drawn: it gets no row and is not recommended.
    void compare(const Rate &rate) { compared_.push_back(rate); }
    // Records what was not measured, with the reason.
    void leave_out(const std::string &text) { left_out_.push_back(text); }
    bool empty() const { return rates_.empty(); }
    void end() const;
    // Returns the measurements so far, to be drawn.
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
