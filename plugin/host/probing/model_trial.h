// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Runs the trials on an open model.
#pragma once

#include "host/model/model.h"
#include "locality.h"
#include "range_warning.h"
#include "seams.h"

#include <vector>

namespace dnn_torch
{

// See measure_locality().  Throws Error also if the model keeps state between pictures.
Locality measure_on(Model &model, const TrialParameters &parameters);

// See is_seamless().  Returns false also if the model cannot run such strips.
bool is_seamless_on(Model &model, const TrialParameters &parameters, const std::vector<Cut> &cuts);

// See warning_of_range(); runs a picture that goes from dark to bright.  Returns no warning if the
// model cannot run it.
RangeWarning range_warning_on(Model &model, const TrialParameters &parameters,
                              const Contract &contract);

// What a model makes of a dark frame and a bright one.
struct PairTrial {
    bool makes_numbers = true; // no NaN
    bool sees_time = true;     // the frame shortly after the first one differs from a late one
    // The early one is as dark as the first frame, the late one as bright as the second, and
    // between two bright ones is a bright one; or the first two the other way round.
    bool is_forward = false, is_backward = false;
};

// Runs an interpolator that takes a time shortly after the first frame and shortly before the
// second one.  Throws Error also if the model cannot run such frames.
PairTrial try_pair_on(Model &model, const Contract &contract);

} // namespace dnn_torch
