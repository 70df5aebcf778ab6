// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// How the filter would adapt frames of any size to a model: by padding, by scaling, in tiles.
#pragma once

#include "host/probing/range_warning.h"
#include "host/tiling/picture_fit.h"
#include "subject.h"

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace dnn_torch
{

struct Fitting {
    std::optional<PictureFit> fit;    // of frames of an odd size
    int multiple = 1;                 // width and height must be multiples of it
    std::string rule;                 // for sizes, found by trying; or ""
    std::string obstacle;             // why there is no fit
    std::optional<Locality> locality; // the model's reach
    std::string nonlocal_operator;    // why the model is not local, if its code shows it
    std::string why_unknown;          // why the locality was not measured
    RangeWarning range;               // of the model's output
};

// Tries the model as the filter does.  Skips what would take long for a slow model.
Fitting find_fitting(const ModelWithContract &subject, const Trials &trials);

// Returns "to multiples of 8 (probe), by reflection (default)".
std::string padding_in_words(const Fitting &fitting, const Contract &contract);

// Returns "local (probe): the model looks 18x18 pixels far, by which tiles overlap; ...".
std::string tiles_in_words(const Fitting &fitting, const Contract &contract);

// The same as JSON.
nlohmann::ordered_json padding_as_json(const Fitting &fitting, const Contract &contract);
nlohmann::ordered_json tiles_as_json(const Fitting &fitting, const Contract &contract);

} // namespace dnn_torch
