// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What a user wants of a detector, and how that changes while frames pass.
#pragma once

#include "host/detection/suppression.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace dnn_torch
{

// What may change between two frames.
struct DetectTerms {
    float confidence = 0.25F; // what is found with less is dropped
    SuppressionTerms suppression = {};
    std::vector<std::string> classes = {}; // names or numbers of those that are kept; empty: all
};

// What the classes of a model are called.
struct ClassNames {
    std::vector<std::string> labels = {};
    int count = 0; // of classes; 0: not known
};

// Throws Error if a wanted class is none of the model's.
void check_classes(const std::vector<std::string> &wanted, const ClassNames &names);

// Which classes are kept, by their numbers.
class WantedClasses
{
public:
    // Names that the model does not know stand for nothing.
    WantedClasses(const std::vector<std::string> &wanted, const ClassNames &names);

    bool has(int label) const;

private:
    bool all_;
    std::vector<int> numbers_; // sorted
};

// The terms of each frame.  The thread of the filter sets them; any thread asks for them.
class TermsInTime
{
public:
    explicit TermsInTime(DetectTerms terms);

    // For frames that begin() is called for from now on.
    void set(DetectTerms terms);
    // The frame of that number came in, or has gone out.  Frames come and go in order.
    void begin(int64_t frame);
    void end(int64_t frame);

    // Returns those of the next frame.
    std::shared_ptr<const DetectTerms> latest() const;
    // Returns the terms of a frame between its begin() and its end().
    std::shared_ptr<const DetectTerms> at(int64_t frame) const;

private:
    struct Since {
        int64_t frame;
        std::shared_ptr<const DetectTerms> terms;
    };

    mutable std::mutex mutex_;
    // ---- under mutex_
    std::shared_ptr<const DetectTerms> next_; // null: nothing new
    std::deque<Since> terms_;                 // never empty
};

} // namespace dnn_torch
