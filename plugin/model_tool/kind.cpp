// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kind.h"

#include "host/error.h"

#include <string>

namespace dnn_torch
{
namespace
{

bool succeeds(const std::function<void()> &attempt)
try {
    attempt();
    return true;
} catch (const AnyError &) {
    return false;
}

} // namespace

Kind find_kind(const Contract &contract, const Attempts &attempts)
{
    const std::string &task = contract.model.task;
    if (task == "detect" || task == "pose" || task == "obb") {
        attempts.detector();
        return Kind::detector;
    }
    if (task == "classify") {
        attempts.classifier();
        return Kind::classifier;
    }
    try {
        attempts.picture();
        return Kind::picture;
    } catch (const Error &) {
        if (succeeds(attempts.detector))
            return Kind::detector;
        if (succeeds(attempts.classifier))
            return Kind::classifier;
        throw;
    }
}

} // namespace dnn_torch
