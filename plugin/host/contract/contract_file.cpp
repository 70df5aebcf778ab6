// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "base/compose.h"
#include "base/json_check.h"
#include "contract.h"
#include "contract_fields.h"
#include "host/error.h"

extern "C" {
#include <libavutil/error.h>
}

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

namespace dnn_torch
{
namespace
{

using Json = nlohmann::ordered_json;

constexpr std::string_view input_fields[] = {"order", "range", "mean", "std"};

Json parse(std::string_view text)
{
    constexpr JsonLimits limits = {.depth = 8, .values = 10'000};
    if (const std::string fault = fault_of_json(text, limits); !fault.empty())
        throw Error(AVERROR(EINVAL), fault);
    Json parsed = Json::parse(text);
    if (!parsed.is_object())
        throw Error(AVERROR(EINVAL), "is no JSON object");
    return parsed;
}

// An unknown field could be one that matters and is misspelt.
[[noreturn]] void refuse_field(const std::string &name)
{
    throw Error(AVERROR(EINVAL), concat("has a field ", quoted_for_terminal(name),
                                        " that is not known; docs/contract.md has them all"));
}

void apply_side(const std::string &side, const Json &fields, const std::string &origin,
                Contract &contract)
{
    if (!fields.is_object())
        throw Error(AVERROR(EINVAL), concat("has no object at '", side, "'"));
    const bool is_input = side == "input";
    for (const auto &[name, value] : fields.items()) {
        const std::string field = concat(side, ".", name);
        const bool is_known = std::find(std::begin(input_fields), std::end(input_fields), name) !=
                              std::end(input_fields);
        if (!is_known || (!is_input && !is_field_of_output(name)))
            refuse_field(field);
        try {
            set_field_from_json(name, value, is_input ? contract.input : contract.output);
        } catch (const Error &error) {
            throw Error(error.code(), concat("is wrong: ", side, ".", error.what()));
        }
        contract.origins[field] = origin;
    }
}

// What the file does not say of the output is as it is of the input.
void complete_output(Contract &contract)
{
    for (const std::string_view name : input_fields)
        if (is_field_of_output(name) && contract.origins.count(concat("output.", name)) == 0)
            set_field_from_text(name, field_in_words(name, contract.input), contract.output);
}

} // namespace

void apply_json(std::string_view text, const std::string &origin, Contract &contract)
{
    try {
        const Json parsed = parse(text);
        for (const auto &[name, value] : parsed.items()) {
            if (name != "input" && name != "output")
                refuse_field(name);
            apply_side(name, value, origin, contract);
        }
        complete_output(contract);
    } catch (const Error &error) {
        throw Error(error.code(), concat("the contract '", origin, "' ", error.what()));
    }
}

} // namespace dnn_torch
