// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What device-probe prints, and another process may print in its place: parsed, concluded
// from, and shown.
#include "changes.h"
#include "digest.h"

#include "devices/report.h"
#include "devices/verdict.h"

namespace
{

using dnn_torch::Facts;
using dnn_torch::ProbeResult;
using dnn_torch::Record;
using fuzz::Ending;
using fuzz::Outcome;

Outcome fault(const std::string &words)
{
    return {Ending::fault, 0, words};
}

bool has_control(const std::string &text)
{
    for (const char c : text)
        if ((static_cast<unsigned char>(c) < ' ' && c != '\n') || c == '\x7f')
            return true;
    return false;
}

std::string lines_of(const std::vector<Record> &records)
{
    std::string lines;
    for (const Record &record : records)
        lines += record.lines();
    return lines;
}

// What is written and read again is the same.
bool survives(const std::vector<Record> &records)
{
    const std::string once = lines_of(records);
    return lines_of(dnn_torch::parse_records(once).list) == once;
}

Facts facts_of(const std::vector<Record> &records)
{
    const ProbeResult result = {ProbeResult::Outcome::finished, records, ""};
    Facts facts;
    facts.level_zero = dnn_torch::level_zero_facts(result);
    facts.cuda = dnn_torch::cuda_facts(result);
    facts.engine = dnn_torch::engine_facts(result, "/engine-torch.so");
    dnn_torch::describe_devices(facts);
    return facts;
}

Outcome run(std::string_view input)
{
    const dnn_torch::Records records = dnn_torch::parse_records(input);
    if (!survives(records.list))
        return fault("records that are others when they are written and read");
    const Facts facts = facts_of(records.list);
    if (has_control(dnn_torch::devices_table(facts)))
        return fault("a table with a control byte in it");
    if (has_control(dnn_torch::devices_json(facts)))
        return fault("JSON with a control byte in it");
    fuzz::Digest digest;
    for (const char *device : {"", "cpu", "cuda", "cuda:0", "xpu:1", "auto", "cuda:99999999999"}) {
        const dnn_torch::Verdict verdict = dnn_torch::verdict_for(device, facts);
        if (!verdict.usable && verdict.reason.empty())
            return fault("a device that is not usable, and no reason");
        digest.add(verdict.device + verdict.reason + verdict.remedy);
    }
    return {records.complete ? Ending::accepted : Ending::refused, digest.value(), ""};
}

const fuzz::Language language = {{"device",
                                  "description",
                                  "memory",
                                  "state",
                                  "reason",
                                  "loader",
                                  "loader_failure",
                                  "driver_file",
                                  "present",
                                  "failure",
                                  "init_failure",
                                  "init_code",
                                  "drivers",
                                  "type",
                                  "gpu",
                                  "library",
                                  "driver_version",
                                  "api_major",
                                  "name",
                                  "version",
                                  "unsupported",
                                  "cuda:0",
                                  "xpu:0",
                                  "cuda",
                                  "xpu",
                                  "cpu",
                                  "end",
                                  "\n",
                                  "\n\n",
                                  " ",
                                  "\t",
                                  "\x1b[31m",
                                  "\"",
                                  "\\",
                                  "\xff"},
                                 5000};

std::string change(std::string &input, fuzz::Family family, fuzz::Random &random,
                   const fuzz::Inputs &seeds)
{
    return fuzz::change_by_family(input, family, random, language, seeds);
}

} // namespace

const fuzz::Target fuzz::target = {
    .name = "devices",
    .prepare = nullptr,
    .run = run,
    .change = change,
    .damage_must_show = false,
    .seconds = 10,
    .memory = uint64_t{1} << 28,
    .inputs_a_fork = 1000,
};
