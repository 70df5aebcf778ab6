// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Writes a frame's findings when it goes out: side data, metadata, a record.  Decides which earlier
// findings frames get that the model did not get.
#pragma once

#include "host/findings/findings.h"
#include "host/findings/record_text.h"
#include "host/findings/shown_masks.h"
#include "host/frames/stencil.h"
#include "task.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace dnn_torch
{

enum class Tracking { off, on, label };

// How to treat boxes that earlier filters put into a frame's side data.
enum class EarlierBoxes {
    kept,     // new boxes are added to them
    replaced, // by the new boxes
    refined,  // the findings are these boxes, with classes added
};

struct FindingsSettings {
    Tracking track = Tracking::off; // label: the track number is also put into the box's label
    EarlierBoxes earlier = EarlierBoxes::kept;
    ShownMasks masks = ShownMasks::none;
    Hiding hiding = Hiding::black;
    bool metadata = false;
    std::string destination = {}; // of records: a file, "-", an address; or ""
    RecordFormat format = RecordFormat::automatic;
    std::string source = {}; // of the side data: "dnn_torch_detect: FILE"
};

// Lives as long as the filter, and is shared by the tasks of later models.  Called on the filter's
// thread, in the order of frames.
class FindingsStep
{
public:
    explicit FindingsStep(FindingsSettings settings);
    // Ends the records if end() was not called.
    ~FindingsStep();
    FindingsStep(const FindingsStep &) = delete;
    FindingsStep &operator=(const FindingsStep &) = delete;

    // Checks the settings.  Nothing is opened or written before the first frame, because ffmpeg
    // builds each graph once more than it runs.  Throws Error.
    void open();

    // Returns how masks are drawn into frames.
    ShownMasks masks() const;

    // As Task::complete().  Adds masks, side data and metadata to the item's result, and writes its
    // record.  A skipped frame gets the last findings.  A frame excluded by the timeline is left
    // unchanged.  Throws Error.
    void complete(FrameItem &item, AVRational time_base);

    // As Task::learn().
    void learn(const FrameItem &earlier);

    // As Task::end().  Throws Error.
    void end();

    // Closes the records, so that the filter of a later graph can continue them.
    void close_records();

private:
    struct State;
    std::unique_ptr<State> state_;
};

// A task that gives its frames to the step.  Shared has the settings, TimedParameters and the step
// of all tasks of a filter.
template <class Shared> class FindingsTask : public Task, public RecordingTask
{
public:
    void begin(const FrameItem &item) override { shared_.parameters->begin(item.number); }
    void complete(FrameItem &item) override
    {
        shared_.parameters->end(item.number);
        shared_.step->complete(item, time_base_);
    }
    void learn(const FrameItem &earlier) override { shared_.step->learn(earlier); }
    void end() override { shared_.step->end(); }
    Reuse reuse() const override { return Reuse::findings; }
    void close_records() override { shared_.step->close_records(); }

protected:
    FindingsTask(std::shared_ptr<Model> model, const Contract &contract, size_t batch_size,
                 Shared shared)
        : Task(std::move(model)), contract_(contract), shared_(std::move(shared)),
          batch_size_(batch_size)
    {
    }

    const Contract contract_;
    const Shared shared_;
    const size_t batch_size_;
    AVRational time_base_ = {0, 1}; // of the frames
};

} // namespace dnn_torch
