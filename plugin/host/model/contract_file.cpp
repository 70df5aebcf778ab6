// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "base/compose.h"
#include "base/json_check.h"
#include "contract_fields.h"
#include "contract_inputs.h"
#include "contract_json.h"
#include "host/error.h"

extern "C" {
#include <libavutil/error.h>
}

#include <nlohmann/json.hpp>
#include <string>

namespace dnn_torch
{
namespace
{

using Json = nlohmann::ordered_json;

Json parse(std::string_view text, bool is_of_engine)
{
    constexpr JsonLimits limits = {.depth = 8, .values = 10'000};
    if (const std::string fault = fault_of_json(text, limits); !fault.empty())
        throw Error(AVERROR(EINVAL), fault);
    Json parsed = Json::parse(text);
    if (is_of_engine && parsed.is_string())
        throw Error(AVERROR(EINVAL), parsed.get<std::string>());
    if (!parsed.is_object())
        throw Error(AVERROR(EINVAL), "is no JSON object");
    return parsed;
}

void apply_side(const std::string &side, const Json &fields, const std::string &origin,
                Contract &contract)
{
    if (!fields.is_object())
        throw Error(AVERROR(EINVAL), concat("has no object at '", side, "'"));
    for (const auto &[name, value] : fields.items())
        set_field_from_json(concat(side, ".", name), value, origin, contract);
}

} // namespace

void apply_json(std::string_view text, const TextOrigin &origin, Contract &contract)
{
    try {
        const Json parsed = parse(text, origin.is_of_engine);
        for (const auto &[name, value] : parsed.items())
            if (name == "inputs")
                apply_inputs(value, origin.name, contract);
            else if (name == "input" || name == "output")
                apply_side(name, value, origin.name, contract);
            else
                set_field_from_json(name, value, origin.name, contract);
        if (contract.origins.count("output.depth") != 0 && contract.as != As::depth)
            throw Error(AVERROR(EINVAL), "has output.depth, which is for output.as depth");
    } catch (const Error &error) {
        throw Error(error.code(), concat("the contract '", origin.file, "' ", error.what()));
    }
}

} // namespace dnn_torch
