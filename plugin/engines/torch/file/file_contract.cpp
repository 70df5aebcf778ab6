// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "file_contract.h"

#include "base/compose.h"

#include <cstddef>
#include <nlohmann/json.hpp>

namespace engine_torch
{
namespace
{

using Json = nlohmann::ordered_json;

// A message of the isolated engine holds 16 KiB of text.
constexpr size_t piece_bytes = 8000, most_pieces = 64;
constexpr int deepest = 16; // dump() calls itself

struct TooDeep {
};

Json parse(std::string_view text)
try {
    const auto shallow = [](int depth, Json::parse_event_t, Json &) {
        if (depth > deepest)
            throw TooDeep();
        return true;
    };
    Json parsed = Json::parse(text, shallow, /*allow_exceptions=*/false);
    return parsed.is_discarded() ? Json("no JSON") : parsed;
} catch (const TooDeep &) {
    return "nested too deeply";
}

std::string line_of(std::string_view record)
{
    const Json parsed =
        record.size() > piece_bytes * most_pieces ? Json("too long") : parse(record);
    const std::string line = parsed.dump(-1, ' ', true, Json::error_handler_t::replace);
    return line.size() > piece_bytes * most_pieces ? "\"too long\"" : line;
}

} // namespace

void add_contract(std::string_view key, std::string_view record, Facts &facts)
{
    const std::string line = line_of(record);
    for (size_t at = 0, number = 0; at < line.size(); at += piece_bytes, number++)
        facts[number == 0 ? std::string(key) : dnn_torch::concat(key, ":", number)] =
            line.substr(at, piece_bytes);
}

} // namespace engine_torch
