// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What becomes of findings when their frame goes out: side data, metadata, a record.  And which
// frames the model skips, and what they carry.
#pragma once

#include "host/findings/findings.h"
#include "host/findings/record_format.h"
#include "host/findings/shown_masks.h"
#include "task.h"

#include <memory>
#include <string>

namespace dnn_torch
{

enum class Tracking { off, on, label };

// What becomes of boxes that earlier filters put into a frame's side data.
enum class EarlierBoxes {
    kept,     // what is found is added to them
    replaced, // by what is found
    refined,  // what is found are these very boxes, with more said of them
};

struct FindingsSettings {
    int every = 1;                  // the model sees every that many-th frame
    Tracking track = Tracking::off; // label: the number goes into the box's label, too
    EarlierBoxes earlier = EarlierBoxes::kept;
    ShownMasks masks = ShownMasks::none;
    bool metadata = false;
    std::string destination = {}; // of records: a file, "-", an address; or ""
    RecordFormat format = RecordFormat::automatic;
    std::string source = {}; // for the side data: "dnn_torch_detect: FILE"
};

// It lives as long as the filter: the tasks of later models share it.  Belongs to the filter's
// thread, and is called in the order of frames.
class FindingsStep
{
public:
    explicit FindingsStep(FindingsSettings settings);
    // Ends the records, if end() did not.
    ~FindingsStep();
    FindingsStep(const FindingsStep &) = delete;
    FindingsStep &operator=(const FindingsStep &) = delete;

    // Checks the settings.  Nothing is opened or written before the first frame, because ffmpeg
    // builds each graph once more than it runs.  Throws Error.
    void open();

    // What frames show of masks.
    ShownMasks masks() const;

    // As Task::skips().  After frames that did not come here, and after a change of the size,
    // the model sees the next frame.
    bool skips(const FrameItem &item);

    // As Task::complete().  Gives the item's result its masks, its side data and metadata, and
    // writes its record.  A skipped frame gets what was found last.  A frame that the timeline
    // excludes passes untouched.  Throws Error.
    void complete(FrameItem &item, AVRational time_base);

    // As Task::end().  Throws Error.
    void end();

    // Closes the records, so that a filter of a later graph can go on with them.
    void let_go();

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace dnn_torch
