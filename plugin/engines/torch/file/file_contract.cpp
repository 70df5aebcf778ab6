// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "file_contract.h"

#include "base/compose.h"
#include "base/json.h"
#include "base/json_check.h"

#include <cstddef>

namespace engine_torch
{
namespace
{

using OrderedJson = dnn_torch::json::Value;

// A message of the isolated engine holds 16 KiB of text.
constexpr size_t piece_bytes = 8000, most_pieces = 64;
// Limits for dump(), which is recursive.
constexpr dnn_torch::JsonLimits limits = {.depth = 16, .values = 100'000};

// Returns an object, or a string that says what is wrong with the record.
OrderedJson parse_contract(std::string_view record)
{
    if (record.size() > piece_bytes * most_pieces)
        return "is too long";
    if (std::string fault = dnn_torch::fault_of_json(record, limits); !fault.empty())
        return fault;
    OrderedJson parsed = OrderedJson::parse(record);
    return parsed.is_object() ? parsed : OrderedJson("is no JSON object");
}

std::string contract_line(std::string_view record)
{
    const std::string line = dnn_torch::json::line_of(parse_contract(record));
    return line.size() > piece_bytes * most_pieces ? "\"is too long\"" : line;
}

} // namespace

void add_contract(std::string_view key, std::string_view record, Facts &facts)
{
    const std::string line = contract_line(record);
    for (size_t at = 0, number = 0; at < line.size(); at += piece_bytes, number++)
        facts[number == 0 ? std::string(key) : dnn_torch::concat(key, ":", number)] =
            line.substr(at, piece_bytes);
}

} // namespace engine_torch
