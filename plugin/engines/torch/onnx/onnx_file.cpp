// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "onnx_file.h"

#include "base/compose.h"
#include "dnn_torch/engine.h"
#include "engine_kit/text.h"
#include "protobuf.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace engine_torch
{
namespace
{

using dnn_torch::concat;

constexpr size_t most_extents = 8, most_nodes = 100'000, longest_name = 1024;
// Eight names must fit into a DnnTorchMessage.
constexpr size_t longest_file_name = 120;

std::string text_of(std::string_view bytes)
{
    if (bytes.size() > longest_name)
        throw WeightFault("is a damaged ONNX file: it has a name of more than 1024 bytes");
    return std::string(bytes);
}

// ---- tensors

struct TensorParts {
    std::string name;
    int64_t type = 0;
    bool is_elsewhere = false;
    std::map<std::string, std::string> place; // where then: "location", "offset", "length"
    std::vector<int64_t> shape;
    std::string_view raw;
    std::string decoded; // of numbers that are not raw
};

void append_number(std::string &to, int64_t number, size_t bytes)
{
    char raw[sizeof number];
    std::memcpy(raw, &number, sizeof number); // little-endian machines only, as the raw data is
    to.append(raw, bytes);
}

void take_numbers(const ProtoFields &field, TensorParts &parts)
{
    const auto type = element_type(parts.type);
    const size_t bytes = type ? bytes_of(*type) : sizeof(int64_t);
    field.numbers([&](int64_t number) { append_number(parts.decoded, number, bytes); });
}

void take_place(std::string_view entry, TensorParts &parts)
{
    std::string key, value;
    for (ProtoFields field(entry); field.next();) {
        if (field.field() == 1)
            key = text_of(field.bytes());
        if (field.field() == 2)
            value = text_of(field.bytes());
    }
    parts.place.insert_or_assign(key, value);
}

// The type comes before the numbers in the files of all programs, but need not.
int64_t type_in(std::string_view message)
{
    int64_t type = 0;
    for (ProtoFields field(message); field.next();)
        if (field.field() == 2)
            type = field.number();
    return type;
}

TensorParts parts_of(std::string_view message)
{
    TensorParts parts;
    parts.type = type_in(message);
    for (ProtoFields field(message); field.next();) {
        switch (field.field()) {
        case 1: // dims
            field.numbers([&](int64_t extent) { parts.shape.push_back(extent); });
            break;
        case 4:  // float_data
        case 10: // double_data
            parts.decoded += field.bytes();
            break;
        case 5: // int32_data, also of narrower types
        case 7: // int64_data
            take_numbers(field, parts);
            break;
        case 8:
            parts.name = text_of(field.bytes());
            break;
        case 9:
            parts.raw = field.bytes();
            break;
        case 13:
            take_place(field.bytes(), parts);
            break;
        case 14:
            parts.is_elsewhere = field.number() == 1;
            break;
        default:
            break;
        }
    }
    return parts;
}

[[noreturn]] void refuse_tensor(const TensorParts &parts, const std::string &words)
{
    throw WeightFault(concat("has a tensor (", parts.name, ") ", words));
}

uint64_t count_of(const TensorParts &parts)
{
    constexpr uint64_t most = uint64_t{1} << 40;
    uint64_t count = 1;
    if (parts.shape.size() > most_extents)
        refuse_tensor(parts, "of more than 8 dimensions");
    for (const int64_t extent : parts.shape) {
        if (extent < 0 || static_cast<uint64_t>(extent) > most / std::max<uint64_t>(count, 1))
            refuse_tensor(parts, "of an impossible shape; copy or download it again");
        count *= static_cast<uint64_t>(extent);
    }
    return count;
}

uint64_t place_of(const TensorParts &parts, const char *key, uint64_t otherwise)
{
    const auto given = parts.place.find(key);
    if (given == parts.place.end())
        return otherwise;
    uint64_t number = 0;
    const char *const end = given->second.data() + given->second.size();
    const auto parsed = std::from_chars(given->second.data(), end, number);
    if (parsed.ec != std::errc() || parsed.ptr != end)
        refuse_tensor(parts, concat("whose ", key, " in another file is no number"));
    return number;
}

// Returns the bytes in a file beside this one, or none if that is absent.
std::string_view bytes_beside(const TensorParts &parts, uint64_t size, OnnxModel &model,
                              const OnnxParts &given)
{
    const auto location = parts.place.find("location");
    const std::string name = location == parts.place.end() ? "" : location->second;
    const bool is_name = !name.empty() && name[0] != '.' && name.find('/') == name.npos &&
                         name.size() <= longest_file_name && engine_kit::printable(name) == name;
    if (!is_name)
        refuse_tensor(parts, concat("whose numbers are in '", engine_kit::printable(name),
                                    "', and only a file beside the model is read; write both into "
                                    "one: python3 -c \"import onnx; "
                                    "onnx.save(onnx.load('net.onnx'), 'whole.onnx')\""));
    const auto file = given.find(name);
    if (file == given.end()) {
        if (std::find(model.absent.begin(), model.absent.end(), name) == model.absent.end())
            model.absent.push_back(name);
        if (model.absent.size() > DNN_TORCH_PARTS)
            throw WeightFault("has its weights in more than 8 files; write them into one: python3 "
                              "-c \"import onnx; onnx.save(onnx.load('net.onnx'), 'whole.onnx')\"");
        return {};
    }
    const uint64_t offset = place_of(parts, "offset", 0);
    const uint64_t length = place_of(parts, "length", size);
    if (offset > file->second.size() || length > file->second.size() - offset)
        refuse_tensor(parts, concat("which lies beyond the end of '", name,
                                    "'; copy or download both files again"));
    return file->second.substr(offset, length);
}

Weight tensor_of(TensorParts &&parts, OnnxModel &model, const OnnxParts &given)
{
    const std::optional<ElementType> type = element_type(parts.type);
    if (!type)
        refuse_tensor(parts, "of a type that is not known here");
    const uint64_t size = count_of(parts) * bytes_of(*type);
    if (parts.is_elsewhere)
        parts.raw = bytes_beside(parts, size, model, given);
    Weight tensor = {.type = *type,
                     .shape = parts.shape,
                     .strides = packed_strides(parts.shape),
                     .bytes = parts.raw};
    if (!model.absent.empty())
        return tensor;
    if (!parts.decoded.empty()) {
        model.decoded.push_back(std::move(parts.decoded));
        tensor.bytes = model.decoded.back();
    }
    if (tensor.bytes.size() != size)
        refuse_tensor(parts, "of another size than its shape; copy or download it again");
    return tensor;
}

// ---- nodes

// Reads messages that hold tensors, which become the model's.
struct Reading {
    OnnxModel &model;
    const OnnxParts &given;
    size_t node_count = 0, depth = 0; // of graphs in graphs

    OnnxAttribute attribute_of(std::string_view message, std::string &name);
    OnnxNode node_of(std::string_view message);
    void take_node(OnnxNode &&node, OnnxGraph &graph);
    void read_graph(std::string_view message, OnnxGraph &graph);
};

OnnxAttribute Reading::attribute_of(std::string_view message, std::string &name)
{
    OnnxAttribute attribute;
    for (ProtoFields field(message); field.next();) {
        switch (field.field()) {
        case 1:
            name = text_of(field.bytes());
            break;
        case 2:
            attribute.real = field.real();
            break;
        case 3:
            attribute.number = field.number();
            break;
        case 4:
            attribute.text = text_of(field.bytes());
            break;
        case 5:
            attribute.tensor = tensor_of(parts_of(field.bytes()), model, given);
            break;
        case 6: {
            const auto graph = std::make_shared<OnnxGraph>();
            read_graph(field.bytes(), *graph);
            attribute.graph = graph;
            break;
        }
        case 7: { // floats, mostly packed
            const std::string_view bytes = field.bytes();
            for (size_t at = 0; at + sizeof(float) <= bytes.size(); at += sizeof(float)) {
                attribute.reals.emplace_back();
                std::memcpy(&attribute.reals.back(), bytes.data() + at, sizeof(float));
            }
            break;
        }
        case 8:
            field.numbers([&](int64_t number) { attribute.numbers.push_back(number); });
            break;
        case 20:
            attribute.type = field.number();
            break;
        default:
            break;
        }
    }
    return attribute;
}

OnnxNode Reading::node_of(std::string_view message)
{
    OnnxNode node;
    for (ProtoFields field(message); field.next();) {
        std::string name;
        switch (field.field()) {
        case 1:
            node.inputs.push_back(text_of(field.bytes()));
            break;
        case 2:
            node.outputs.push_back(text_of(field.bytes()));
            break;
        case 3:
            node.name = text_of(field.bytes());
            break;
        case 4:
            node.type = text_of(field.bytes());
            break;
        case 5: {
            OnnxAttribute attribute = attribute_of(field.bytes(), name);
            node.attributes.insert_or_assign(name, std::move(attribute));
            break;
        }
        case 7:
            node.domain = text_of(field.bytes());
            break;
        default:
            break;
        }
    }
    if (node.domain == "ai.onnx")
        node.domain.clear();
    return node;
}

// ---- inputs and outputs

int64_t extent_of(std::string_view message)
{
    int64_t extent = -1;
    for (ProtoFields field(message); field.next();)
        if (field.field() == 1)
            extent = field.number();
    return extent > 0 ? extent : -1;
}

void take_tensor_type(std::string_view message, OnnxValue &value)
{
    for (ProtoFields field(message); field.next();) {
        if (field.field() == 1)
            value.type = element_type(field.number());
        if (field.field() != 2)
            continue;
        value.has_shape = true;
        for (ProtoFields shape(field.bytes()); shape.next();)
            if (shape.field() == 1)
                value.shape.push_back(extent_of(shape.bytes()));
    }
}

OnnxValue value_of(std::string_view message)
{
    OnnxValue value;
    for (ProtoFields field(message); field.next();) {
        if (field.field() == 1)
            value.name = text_of(field.bytes());
        if (field.field() != 2)
            continue;
        for (ProtoFields type(field.bytes()); type.next();)
            if (type.field() == 1)
                take_tensor_type(type.bytes(), value);
    }
    return value;
}

// ---- the model

// A constant is a tensor of the file like any other.
void Reading::take_node(OnnxNode &&node, OnnxGraph &graph)
{
    const auto value = node.attributes.find("value");
    const bool is_tensor = node.type == "Constant" && node.domain.empty() &&
                           value != node.attributes.end() && value->second.tensor &&
                           node.outputs.size() == 1;
    if (is_tensor)
        model.tensors.insert_or_assign(node.outputs[0], *value->second.tensor);
    else
        graph.nodes.push_back(std::move(node));
}

void Reading::read_graph(std::string_view message, OnnxGraph &graph)
{
    constexpr size_t deepest = 8;
    if (++depth > deepest)
        throw WeightFault("is an ONNX model with graphs in graphs, more than 8 deep");
    for (ProtoFields field(message); field.next();) {
        switch (field.field()) {
        case 1:
            if (++node_count > most_nodes)
                throw WeightFault("is an ONNX model of more than 100,000 operators");
            take_node(node_of(field.bytes()), graph);
            break;
        case 5: {
            TensorParts parts = parts_of(field.bytes());
            const std::string name = parts.name;
            model.tensors.insert_or_assign(name, tensor_of(std::move(parts), model, given));
            break;
        }
        case 11:
            graph.inputs.push_back(value_of(field.bytes()));
            break;
        case 12:
            graph.outputs.push_back(value_of(field.bytes()));
            break;
        case 15:
            throw WeightFault("is an ONNX model with sparse tensors, which are not read");
        default:
            break;
        }
    }
    depth--;
}

// "domain" and "version", or "key" and "value"
std::pair<std::string, std::string> entry_of(std::string_view message, int64_t &number)
{
    std::pair<std::string, std::string> entry;
    for (ProtoFields field(message); field.next();) {
        if (field.field() == 1)
            entry.first = text_of(field.bytes());
        else if (field.field() == 2 && field.is_bytes())
            entry.second = field.bytes();
        else if (field.field() == 2)
            number = field.number();
    }
    return entry;
}

} // namespace

std::optional<ElementType> element_type(int64_t number)
{
    switch (number) {
    case 1:
        return ElementType::float32;
    case 2:
        return ElementType::uint8;
    case 3:
        return ElementType::int8;
    case 5:
        return ElementType::int16;
    case 6:
        return ElementType::int32;
    case 7:
        return ElementType::int64;
    case 9:
        return ElementType::boolean;
    case 10:
        return ElementType::float16;
    case 11:
        return ElementType::float64;
    case 16:
        return ElementType::bfloat16;
    default:
        return std::nullopt;
    }
}

bool may_be_onnx(std::string_view bytes)
{
    // Its version, and then its producer, its graph or its operators' version.
    return bytes.size() > 8 && bytes[0] == 8 && bytes[1] > 0 && bytes[1] < 32 &&
           (bytes[2] == 0x12 || bytes[2] == 0x3A || bytes[2] == 0x42 || bytes[2] == 0x72);
}

OnnxModel read_onnx(std::string_view bytes, const OnnxParts &parts)
{
    OnnxModel model;
    std::string_view graph;
    for (ProtoFields field(bytes); field.next();) {
        int64_t number = 0;
        switch (field.field()) {
        case 1:
            model.version = field.number();
            break;
        case 2:
        case 3:
            dnn_torch::add_to_list(model.producer, engine_kit::printable(text_of(field.bytes())),
                                   " ");
            break;
        case 7:
            graph = field.bytes();
            break;
        case 8: {
            const std::string domain = entry_of(field.bytes(), number).first;
            if (domain.empty() || domain == "ai.onnx")
                model.operators = number;
            break;
        }
        case 14:
            model.properties.insert(entry_of(field.bytes(), number));
            break;
        default:
            break;
        }
    }
    Reading{.model = model, .given = parts}.read_graph(graph, model);
    // Older files list their weights as inputs, too.
    std::erase_if(model.inputs,
                  [&](const OnnxValue &input) { return model.tensors.count(input.name) > 0; });
    if (model.nodes.empty() || model.inputs.empty() || model.outputs.empty())
        throw WeightFault("is an ONNX file without a graph from inputs to outputs");
    return model;
}

} // namespace engine_torch
