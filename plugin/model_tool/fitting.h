// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// How the filter would bring frames of any size to a model: by padding, by scaling, in tiles.
#pragma once

#include "base/json.h"
#include "host/probing/range_warning.h"
#include "host/tiling/picture_fit.h"
#include "subject.h"

#include <optional>
#include <string>

namespace dnn_torch
{

struct Fitting {
    std::optional<PictureFit> fit;    // of frames of an odd size
    int multiple = 1;                 // of which width and height must be
    std::string rule;                 // for sizes, found by trying; or ""
    std::string obstacle;             // why there is no fit
    std::optional<Locality> locality; // how far the model looks
    std::string nonlocal_operator;    // why it is not local, if its code says so
    std::string why_unknown;          // where it was not measured
    RangeWarning range;               // of the numbers that it makes
};

// Tries the model as the filter does.  Leaves out what would take a slow model long.
Fitting find_fitting(const ModelWithContract &subject, const Trials &trials);

// "to multiples of 8 (probe), by reflection (usual)".
std::string padding_in_words(const Fitting &fitting, const Contract &contract);

// "local (probe): it looks 18x18 pixels far, by which tiles overlap; ...".
std::string tiles_in_words(const Fitting &fitting, const Contract &contract);

// The same for programs.
json::Value padding_as_json(const Fitting &fitting, const Contract &contract);
json::Value tiles_as_json(const Fitting &fitting, const Contract &contract);

} // namespace dnn_torch
