// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/json.h"
#include "findings.h"

#include <vector>

namespace dnn_torch
{

// [{"label": "cat", "confidence": 0.5}]
inline json::Value classes_value(const std::vector<LabelScore> &classes)
{
    json::Value list = json::Value::array();
    for (const LabelScore &score : classes)
        list.push_back(
            {{"label", score.label}, {"confidence", json::rounded(score.confidence, 4)}});
    return list;
}

} // namespace dnn_torch
