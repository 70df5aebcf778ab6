// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "safetensors.h"

#include "base/compose.h"
#include "base/json_check.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace engine_torch
{
namespace
{

using dnn_torch::concat;
using nlohmann::json;

constexpr size_t size_bytes = 8, largest_header = size_t{100} << 20;

constexpr std::array<std::pair<std::string_view, ElementType>, 10> type_names = {{
    {"F64", ElementType::float64},
    {"F32", ElementType::float32},
    {"F16", ElementType::float16},
    {"BF16", ElementType::bfloat16},
    {"I64", ElementType::int64},
    {"I32", ElementType::int32},
    {"I16", ElementType::int16},
    {"I8", ElementType::int8},
    {"U8", ElementType::uint8},
    {"BOOL", ElementType::boolean},
}};

[[noreturn]] void refuse_safetensors()
{
    throw WeightFault("is a damaged safetensors file; copy or download it again");
}

uint64_t header_size(std::string_view file)
{
    uint64_t size = 0;
    if (file.size() >= size_bytes)
        std::memcpy(&size, file.data(), size_bytes);
    return size;
}

// The metadata of a file of ours: the scale in the name of the file from which it was converted.
constexpr const char *metadata_key = "__metadata__", *scale_key = "dnn_torch.named_scale";

int64_t named_scale(const json &header)
{
    const json metadata = header.value(metadata_key, json::object());
    if (!metadata.is_object())
        refuse_safetensors();
    if (!metadata.contains(scale_key) || !metadata[scale_key].is_string())
        return 0;
    const std::string text = metadata[scale_key].get<std::string>();
    return text.size() == 1 && text[0] >= '1' && text[0] <= '9' ? text[0] - '0' : 0;
}

// Another reader might use the other one of two equal keys, and headers are not nested deeply.
json parse(std::string_view header)
{
    constexpr dnn_torch::JsonLimits limits = {.depth = 3, .values = 3'000'000};
    if (!dnn_torch::fault_of_json(header, limits).empty())
        refuse_safetensors();
    return json::parse(header);
}

int64_t whole_number(const json &value)
{
    if (!value.is_number_unsigned() || value.get<uint64_t>() > uint64_t{1} << 48)
        refuse_safetensors();
    return value.get<int64_t>();
}

ElementType type_of(const json &value, const std::string &name)
{
    for (const auto &[text, type] : type_names)
        if (value == text)
            return type;
    throw WeightFault(concat("has ", name, " of a type that is not supported"));
}

// Fills in the shape and returns the number of bytes.
uint64_t take_shape(const json &sizes, Weight &weight)
{
    // Counts empty dimensions as 1, so that no stride can overflow either.
    int64_t bytes = static_cast<int64_t>(bytes_of(weight.type));
    bool is_empty = false;
    if (!sizes.is_array() || sizes.size() > 8)
        refuse_safetensors();
    for (const json &size : sizes) {
        const int64_t number = whole_number(size);
        weight.shape.push_back(number);
        is_empty = is_empty || number == 0;
        if (__builtin_mul_overflow(bytes, std::max<int64_t>(number, 1), &bytes))
            refuse_safetensors();
    }
    weight.strides = packed_strides(weight.shape);
    return is_empty ? 0 : static_cast<uint64_t>(bytes);
}

class Reader
{
public:
    explicit Reader(std::string_view numbers) : numbers_(numbers) {}

    void add(const std::string &name, const json &entry)
    {
        if (!entry.is_object() || entry.size() != 3 || !entry.contains("dtype") ||
            !entry.contains("shape") || !entry.contains("data_offsets"))
            refuse_safetensors();
        Weight weight = {
            .type = type_of(entry["dtype"], name), .shape = {}, .strides = {}, .bytes = {}};
        const uint64_t bytes = take_shape(entry["shape"], weight);
        const json &offsets = entry["data_offsets"];
        if (!offsets.is_array() || offsets.size() != 2)
            refuse_safetensors();
        const auto begin = static_cast<uint64_t>(whole_number(offsets[0]));
        const auto end = static_cast<uint64_t>(whole_number(offsets[1]));
        if (end < begin || end > numbers_.size() || end - begin != bytes)
            refuse_safetensors();
        weight.bytes = numbers_.substr(begin, bytes);
        if (bytes > 0 && !ends_.emplace(begin, end).second)
            refuse_safetensors();
        weights_.emplace(name, std::move(weight));
    }

    // Throws if tensors overlap or leave gaps.
    Weights finish()
    {
        uint64_t filled = 0;
        for (const auto &[begin, end] : ends_) {
            if (begin != filled)
                refuse_safetensors();
            filled = end;
        }
        if (filled != numbers_.size())
            refuse_safetensors();
        return Weights(std::move(weights_));
    }

private:
    std::string_view numbers_;
    std::map<uint64_t, uint64_t> ends_; // where tensors end, by where they begin
    Weights::Map weights_;
};

} // namespace

bool is_safetensors(std::string_view file)
{
    return file.size() > size_bytes + 1 && file.substr(size_bytes, 1) == "{" &&
           header_size(file) <= file.size() - size_bytes && header_size(file) <= largest_header;
}

Weights read_safetensors(std::string_view file)
{
    const uint64_t size = header_size(file);
    const json header = parse(file.substr(size_bytes, size));
    if (!header.is_object())
        refuse_safetensors();
    Reader reader(file.substr(size_bytes + size));
    for (const auto &[name, entry] : header.items())
        if (name != metadata_key)
            reader.add(name, entry);
    Weights weights = reader.finish();
    weights.set_named_scale(named_scale(header));
    return weights;
}

namespace
{

std::string name_of(ElementType type)
{
    for (const auto &[text, each] : type_names)
        if (each == type)
            return std::string(text);
    return "";
}

// Describes the tensors' numbers.  Padded so that the numbers begin at a multiple of 8.
std::string header_of(const Weights &weights)
{
    json header = json::object();
    if (weights.named_scale() != 0)
        header[metadata_key] = {{scale_key, std::to_string(weights.named_scale())}};
    uint64_t at = 0;
    for (const auto &[name, weight] : weights.all()) {
        const uint64_t end = at + bytes_of(weight);
        header[name] = {
            {"dtype", name_of(weight.type)}, {"shape", weight.shape}, {"data_offsets", {at, end}}};
        at = end;
    }
    try {
        std::string text = header.dump();
        text.resize((text.size() + size_bytes - 1) / size_bytes * size_bytes, ' ');
        return text;
    } catch (const json::exception &) {
        throw WeightFault("has names that are not in UTF-8");
    }
}

// Writes the elements in order; the last dimension varies fastest.
void write_elements(const Weight &weight, const std::function<void(std::string_view)> &write)
{
    const size_t element = bytes_of(weight.type);
    std::vector<int64_t> place(weight.shape.size());
    std::string gathered;
    for (uint64_t left = bytes_of(weight) / element; left > 0; left--) {
        int64_t at = 0;
        for (size_t i = 0; i < place.size(); i++)
            at += place[i] * weight.strides[i];
        gathered += weight.bytes.substr(static_cast<size_t>(at) * element, element);
        for (size_t i = place.size(); i > 0 && ++place[i - 1] == weight.shape[i - 1]; i--)
            place[i - 1] = 0;
        if (gathered.size() >= size_t{1} << 20) {
            write(gathered);
            gathered.clear();
        }
    }
    write(gathered);
}

} // namespace

void write_safetensors(const Weights &weights, const std::function<void(std::string_view)> &write)
{
    const std::string header = header_of(weights);
    const uint64_t size = header.size();
    write({reinterpret_cast<const char *>(&size), sizeof size});
    write(header);
    for (const auto &[name, weight] : weights.all())
        if (weight.strides == packed_strides(weight.shape))
            write(weight.bytes);
        else
            write_elements(weight, write);
}

} // namespace engine_torch
