// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What was found by tuning, as an earlier run left it in a file: read back, believed, and
// counted with.
#include "changes.h"
#include "digest.h"

#include "engine_kit/tuning_cache.h"
#include "host/workers/core_budget.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace
{

using engine_torch::TuningCache;
using engine_torch::TuningRecord;
using fuzz::Ending;
using fuzz::Outcome;

constexpr const char *model = "model", *folder = "cache";
// Stands for the lines that say which version wrote a record and what it holds for: they
// are others on each machine.
constexpr std::string_view head_mark = "@HEAD@";

std::string contents_of(const std::filesystem::path &path)
{
    std::ifstream file(path, std::ios::binary);
    const std::istreambuf_iterator<char> begin(file), end;
    return {begin, end};
}

// The file of the one record that there is.
std::filesystem::path cache_file()
{
    for (const auto &entry : std::filesystem::directory_iterator(folder))
        return entry.path();
    return "";
}

TuningCache new_cache()
{
    return TuningCache({model, "the hash of a model", "its settings"});
}

std::string with_head(std::string input, const std::string &head)
{
    for (size_t at = 0; (at = input.find(head_mark, at)) != std::string::npos; at += head.size())
        input.replace(at, head_mark.size(), head);
    return input;
}

std::string first_two_lines(const std::string &contents)
{
    return contents.substr(0, contents.find('\n', contents.find('\n') + 1));
}

bool is_line(const std::string &text)
{
    for (const char c : text)
        if (static_cast<unsigned char>(c) < ' ')
            return false;
    return true;
}

Outcome fault(const std::string &words)
{
    return {Ending::fault, 0, words};
}

// What the host does with the numbers.
bool makes_sense(const TuningRecord &record)
{
    const dnn_torch::Machine machine = {8, int64_t{1} << 34};
    const dnn_torch::CoreBudget budget =
        dnn_torch::divide_cores(machine, {}, {record.run_seconds, record.run_bytes});
    return budget.workers >= 1 && budget.workers <= machine.cores &&
           budget.threads_per_worker >= 1 && budget.threads_per_worker <= machine.cores &&
           budget.in_flight >= 1 && budget.in_flight <= 2 * machine.cores;
}

Outcome checked(const TuningRecord &record)
{
    if (!std::isfinite(record.run_seconds) || record.run_seconds < 0 || record.run_bytes < 0)
        return fault("a record whose numbers make no sense");
    for (const std::string &text :
         {record.variant, record.precision, record.notice, record.hint, record.threaded})
        if (!is_line(text))
            return fault("a record with a control byte in it");
    if (!makes_sense(record))
        return fault("a record from which too many workers come");
    fuzz::Digest digest;
    for (const std::string &text :
         {record.variant, record.precision, record.notice, record.hint, record.threaded,
          std::to_string(record.run_seconds), std::to_string(record.run_bytes)})
        digest.add(text + "\n");
    return {Ending::accepted, digest.value(), ""};
}

// The lines of this machine, known once a record has been kept.
const std::string &head_here()
{
    static const std::string head = [] {
        new_cache().remember({"saved", "fp32", 1, 1, "", ""});
        return first_two_lines(contents_of(cache_file()));
    }();
    return head;
}

Outcome run(std::string_view input)
{
    setenv("DNN_TORCH_CACHE", folder, 1);
    std::ofstream(model) << "any bytes";
    const std::string head = head_here();
    const std::filesystem::path path = cache_file();
    if (path.empty())
        return fault("a record that was not kept");
    std::ofstream(path, std::ios::binary) << with_head(std::string(input), head);
    const auto record = new_cache().recall_from_folder();
    if (!record)
        return {};
    const Outcome outcome = checked(*record);
    if (outcome.ending == Ending::fault)
        return outcome;
    new_cache().remember(*record);
    const auto again = new_cache().recall_from_folder();
    if (!again || checked(*again).digest != outcome.digest)
        return fault("a record that is another when it is read again");
    return outcome;
}

const fuzz::Language language = {{"dnn-torch tuning 6",
                                  "measured",
                                  "guessed",
                                  "kept",
                                  "refused",
                                  "end",
                                  "\n",
                                  "\r",
                                  "@HEAD@",
                                  "saved",
                                  "frozen",
                                  "inference",
                                  "channels_last",
                                  "fp32",
                                  "bf16",
                                  "fp16",
                                  "1e300",
                                  "1e-300",
                                  "\x1b[31m",
                                  " ",
                                  "-",
                                  "."},
                                 2000};

std::string change(std::string &input, fuzz::Family family, fuzz::Random &random,
                   const fuzz::Inputs &seeds)
{
    return fuzz::change_by_family(input, family, random, language, seeds);
}

} // namespace

const fuzz::Target fuzz::target = {
    .name = "tuning",
    .prepare = nullptr,
    .run = run,
    .change = change,
    .damage_must_show = false,
    .seconds = 10,
    .memory = uint64_t{1} << 28,
    .inputs_a_fork = 1000,
};
