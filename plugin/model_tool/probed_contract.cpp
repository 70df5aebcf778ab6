// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "probed_contract.h"

#include "base/json.h"
#include "host/model/contract_fields.h"
#include "host/model/contract_inputs.h"
#include "host/probing/model_contract.h"

#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace dnn_torch
{
namespace
{

// With `dnn-torch contract net.pt > net.pt.json`, the shell has created or truncated the file.
bool is_stdout(const std::string &path)
{
    struct stat file, output;
    return stat(path.c_str(), &file) == 0 && fstat(STDOUT_FILENO, &output) == 0 &&
           file.st_dev == output.st_dev && file.st_ino == output.st_ino;
}

void add(const std::string &name, const json::Value &value, Contract &contract)
{
    if (contract.origins.count(name) == 0)
        set_field_from_json(name, value, "probe", contract);
}

void add_scale(const FoundSizes &sizes, Contract &contract)
{
    const std::optional<ExtentScale> &across = sizes.across;
    if (!across || across != sizes.down || across->offset != 0 || across->rounded)
        return;
    add("scale", static_cast<float>(across->numerator) / static_cast<float>(across->denominator),
        contract);
}

// The part of the file that holds a field, and the field's name there.
struct FieldPlace {
    std::string side, name;
};

FieldPlace place_of(const std::string &field)
{
    const size_t dot = field.find('.');
    return dot == std::string::npos ? FieldPlace{"", field}
                                    : FieldPlace{field.substr(0, dot), field.substr(dot + 1)};
}

json::Value &part_of(json::Value &all, const std::string &side)
{
    return side.empty() ? all : all[side];
}

bool follows_from_input(const std::string &field, const Contract &contract)
{
    const FieldPlace place = place_of(field);
    return place.side == "output" && contract.origins.count(field) == 0 &&
           field_as_json("input." + place.name, contract) == field_as_json(field, contract);
}

} // namespace

std::string contract_file(const Request &request)
{
    const std::string path = contract_path(request.path);
    return is_stdout(path) ? "" : path;
}

Contract known_contract(const Model &model, const Request &request)
{
    return contract_of(model, request.contract, contract_file(request));
}

void add_trials(const Trials &trials, Contract &contract)
{
    agreed_channels(contract, trials.channels);
    expect_made(contract, trials.output_channels);
    expect_scale(contract, trials.sizes.tried, trials.sizes.result);
    add_scale(trials.sizes, contract);
    if (trials.channels == Channels::any)
        return;
    if (contract.as == As::lab)
        set_ranges_of_lab(count_of(trials.channels), contract);
    add("input.channels", trials.frame_channels(), contract);
    add("output.channels", trials.output_channels, contract);
}

void add_task(const std::string &task, Contract &contract)
{
    add("task", task, contract);
}

std::string origin_of(const std::string &field, const Contract &contract)
{
    const auto found = contract.origins.find(field);
    return found == contract.origins.end() ? "default" : found->second;
}

std::vector<std::string> fields_in_words(const Contract &contract)
{
    std::vector<std::string> lines;
    for (const std::string &name : names_of_fields())
        if (!field_as_json(name, contract).is_null())
            lines.push_back(field_with_origin(name, contract));
    return lines;
}

json::Value with_origins(const Contract &contract)
{
    json::Value all = json::Value::object();
    for (const std::string &name : names_of_fields()) {
        const json::Value value = field_as_json(name, contract);
        const FieldPlace place = place_of(name);
        if (!value.is_null())
            part_of(all, place.side)[place.name] = {{"value", value},
                                                    {"origin", origin_of(name, contract)}};
    }
    return all;
}

std::string file_of(const Contract &contract)
{
    json::Value all = json::Value::object();
    for (const std::string &name : names_of_fields()) {
        const json::Value value = field_as_json(name, contract);
        const FieldPlace place = place_of(name);
        if (!value.is_null() && !follows_from_input(name, contract))
            part_of(all, place.side)[place.name] = value;
    }
    if (json::Value inputs = inputs_as_json(contract); !inputs.is_null())
        all["inputs"] = std::move(inputs);
    return all.dump(2, ' ', true, json::Value::error_handler_t::replace) + "\n";
}

} // namespace dnn_torch
