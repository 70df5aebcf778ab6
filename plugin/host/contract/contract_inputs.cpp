// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "contract_inputs.h"

#include "base/compose.h"
#include "contract.h"
#include "host/error.h"

extern "C" {
#include <libavutil/error.h>
}

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace dnn_torch
{
namespace
{

using Json = nlohmann::ordered_json;

void set_input(const std::string &name, const std::string &value, const std::string &origin,
               Contract &contract)
{
    // Engines get all of them as one text.
    const bool is_clean = name.find_first_of("=|") == std::string::npos &&
                          value.find('|') == std::string::npos && !name.empty() && !value.empty();
    if (!is_clean)
        throw Error(AVERROR(EINVAL), concat("inputs takes names and values without '|', not '",
                                            name, "=", value, "'"));
    contract.inputs[name] = value;
    contract.origins[concat("inputs.", name)] = origin;
}

std::string text_from(const Json &value)
{
    if (value.is_string())
        return value.get<std::string>();
    if (value.is_boolean())
        return value.get<bool>() ? "1" : "0";
    return value.is_number() ? value.dump() : "";
}

} // namespace

void apply_inputs_option(const std::string &text, Contract &contract)
{
    std::set<std::string> given;
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find('|', begin), text.size());
        const size_t equals = std::min(text.find('=', begin), end);
        if (equals == begin || equals + 1 >= end)
            throw Error(
                AVERROR(EINVAL),
                concat("inputs takes NAME=VALUE or NAME=VALUE|NAME=VALUE, not '", text, "'"));
        const std::string name = text.substr(begin, equals - begin);
        if (!given.insert(name).second)
            throw Error(AVERROR(EINVAL), concat("inputs has '", name, "' twice"));
        set_input(name, text.substr(equals + 1, end - equals - 1), "option", contract);
        begin = end + 1;
    }
}

void apply_inputs(const Json &inputs, const std::string &origin, Contract &contract)
{
    if (!inputs.is_object())
        throw Error(AVERROR(EINVAL), "has no object at 'inputs'");
    for (const auto &[name, value] : inputs.items())
        set_input(name, text_from(value), origin, contract);
}

std::string inputs_as_text(const Contract &contract)
{
    std::string text;
    for (const auto &[name, value] : contract.inputs)
        add_to_list(text, concat(name, "=", value), "|");
    return text;
}

} // namespace dnn_torch
