// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The "model" that the fake engine runs: a text of lines `key value`.
#pragma once

#include "engine_kit/failure.h"
#include "scripted_tensor.h"

#include <cstdint>
#include <string>
#include <vector>

namespace fake_engine
{

using engine_kit::Failure;

// What ends with _at names a picture: the one whose first sample is N/255.
// Negative values name none.
struct Script {
    int channels = 0;            // that it takes; 0 for any number
    int output_channels = 0;     // 0 for as many as come in
    int enlarge = 1, reduce = 1; // `scale 2` or `scale 1/2`
    int shrink = 0;              // off each extent, after scaling
    int pad_to = 1;              // rounds each extent up to a multiple, before scaling
    int longest = 0;             // the most that an extent may become; 0 for any
    int turn = 0;                // 1: width and height change places
    float gain = 1, offset = 0;

    int64_t latency_us = 0;
    int64_t latency_random_us = 0; // at most this much more
    int64_t seed = 0;

    int64_t open_us = 0;       // that opening takes
    std::string loads;         // a file that gets a line "open" or "close" for each
    std::string fail_open;     // the message; empty to open; one that only looks may open it
    std::string fail_rgb;      // the message for pictures of 3 channels; empty to run them
    int fail_rgb_status = 7;   // a DnnTorchStatus
    int rgb_from = 0;          // from that width on they are run; 0: never
    int fail_session_open = 0; // the how-maniest; 0 for none
    int fail_at = -1;
    int64_t fail_at_run = -1; // the how-maniest run of all, from 0
    std::string fail_text = "the script says that this picture fails";
    int out_of_memory_at = -1;
    int hang_at = -1; // until session_stop()
    // 1: for ever, and nobody can stop it
    int hang_open = 0;
    int hang_tune = 0;
    // How the process dies, see death.h.
    std::string die_open, die_probe, die_tune, die_run;
    int die_at = -1;   // the picture of die_run
    std::string print; // what each run prints on standard output
    int nan_at = -1;

    // Views that no engine may return.
    int wrong_batch_at = -1;
    int wrong_size_at = -1;
    int wrong_element_at = -1;

    // What tuning finds out.
    std::string fail_tune; // the message; empty to tune
    int64_t tuned_us = 0;
    int64_t tuned_bytes = 0;
    int interleaved = 0;
    int takes_integers = 0;
    int in_order = 0;
    int exclusive = 0;
    float each_run = 0; // what a session's results grow by with each run, until it is reset
    // 1: results grow by the run's `predecessor_distance`, and by 100 if `more` is set
    int tells_turn = 0;
    std::string hint;

    // What each run returns with results=tensors; none: its picture.
    std::vector<ScriptedTensor> tensors;

    std::string notice;
    // 1: once a picture was run the model is said to run as it was saved.  Results of a plan that
    // was to do so grow by 1000.
    int gives_up = 0;
    int tells_samples = 0; // 1: results grow by the first sample that a plan is calibrated with
    // A file that gets a line "CxHxW FIRST..." for each plan with pictures to calibrate with: their
    // first samples, as codes of 8 bits.
    std::string samples_log;
    std::string log; // a file that gets a line "thread batch number behind more" for each run
};

// Throws a Failure that names the source and, for a bad line, its number.
Script read_script(const DnnTorchSource &source);

} // namespace fake_engine
