// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device_choice.h"

#include "devices/verdict.h"
#include "engine_library.h"
#include "host/error.h"
#include "host/workers/time_limit.h"

extern "C" {
#include <libavutil/error.h>
}

namespace dnn_torch
{

DeviceChoice choose_device(const std::string &device, const std::string &engine)
{
    // No driver is asked for the CPU, or for a word that is not a device.
    Facts facts;
    if (std::string places; needs_probe(device)) {
        const ProbePlaces programs = {find_module_file("device-probe", places),
                                      find_engine(engine)};
        const NowDoing now("asking the drivers for " + device);
        facts = value_within({.most = {}, .line = ""},
                             [=] { return gather_facts_for(device, programs); });
    }
    Verdict verdict = verdict_for(device, facts);
    if (!verdict.usable)
        throw Error(AVERROR(ENODEV), "device=" + device + " cannot be used: " + verdict.reason +
                                         (verdict.remedy.empty() ? "" : "; ") + verdict.remedy);
    return {verdict.device, verdict.reason};
}

} // namespace dnn_torch
