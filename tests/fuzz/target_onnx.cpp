// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// ONNX files: what reads them and writes their operators as code.
#include "changes.h"
#include "digest.h"
#include "engines/torch/onnx/onnx_network.h"
#include "reading.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace
{

using fuzz::Ending;
using fuzz::Outcome;

// Reads all bytes of all tensors, which must lie in the file.
uint64_t digest_of(const engine_torch::OnnxNetwork &network)
{
    fuzz::Digest digest;
    digest.add(network.network.source);
    digest.add(network.contract);
    for (const auto &[name, weight] : network.weights.all()) {
        digest.add(name);
        digest.add(weight.shape.data(), weight.shape.size() * sizeof(int64_t));
        digest.add(weight.bytes);
    }
    return digest.value();
}

// The file beside it, "net.data".
std::vector<engine_torch::FileBytes> parts()
{
    static const std::string numbers(64, '\1');
    const DnnTorchSource source = {.size = sizeof source,
                                   .name = "net.data",
                                   .fd = -1,
                                   .data = numbers.data(),
                                   .data_size = numbers.size()};
    std::vector<engine_torch::FileBytes> all;
    all.emplace_back(source);
    return all;
}

Outcome read(const DnnTorchSource &source)
{
    engine_torch::FileBytes bytes(source);
    if (!engine_torch::OnnxFile::is_one(bytes))
        return {Ending::refused, 0, "is no ONNX file"};
    const engine_torch::OnnxFile file(std::move(bytes), parts());
    return {Ending::accepted, digest_of(file.network()), ""};
}

Outcome run(std::string_view input)
{
    return fuzz::outcome_of_reading(input, "net.onnx", read);
}

// ---- fields of messages, whose lengths fit again ----------------------------------------

// A field of a message in protobuf's encoding.
struct Field {
    uint64_t key = 0;    // its number and its type
    uint64_t number = 0; // if it is one
    std::string bytes;   // if it has a length, or a fixed size
};

constexpr uint64_t varint = 0, eight_bytes = 1, with_length = 2, four_bytes = 5;

bool take_varint(std::string_view &text, uint64_t &number)
{
    number = 0;
    for (unsigned shift = 0; shift < 64 && !text.empty(); shift += 7) {
        const auto byte = static_cast<unsigned char>(text.front());
        text.remove_prefix(1);
        number |= uint64_t{byte & 0x7fU} << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

void put_varint(std::string &text, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        text += static_cast<char>(number | 0x80);
    text += static_cast<char>(number);
}

// Returns nothing if that is no message.
std::vector<Field> fields_of(std::string_view text)
{
    std::vector<Field> fields;
    while (!text.empty()) {
        Field field;
        if (!take_varint(text, field.key))
            return {};
        const uint64_t type = field.key % 8;
        uint64_t size = type == eight_bytes ? 8 : type == four_bytes ? 4 : 0;
        if ((type == varint && !take_varint(text, field.number)) ||
            (type == with_length && !take_varint(text, size)) || size > text.size() ||
            (type != varint && type != with_length && size == 0))
            return {};
        field.bytes = text.substr(0, size);
        text.remove_prefix(size);
        fields.push_back(std::move(field));
    }
    return fields;
}

std::string text_of(const std::vector<Field> &fields)
{
    std::string text;
    for (const Field &field : fields) {
        put_varint(text, field.key);
        if (field.key % 8 == varint)
            put_varint(text, field.number);
        if (field.key % 8 == with_length)
            put_varint(text, field.bytes.size());
        text += field.bytes;
    }
    return text;
}

std::string change_place(std::vector<Field> &fields, fuzz::Random &random)
{
    const size_t at = random.below(fields.size());
    switch (random.below(4)) {
    case 0:
        fields.erase(fields.begin() + static_cast<ptrdiff_t>(at));
        return "remove a field";
    case 1:
        fields.insert(fields.begin() + static_cast<ptrdiff_t>(random.below(fields.size())),
                      Field(fields[at]));
        return "repeat a field";
    case 2:
        std::swap(fields[at], random.pick(fields));
        return "swap fields";
    default:
        fields[at].key = random.below(40) * 8 + fields[at].key % 8;
        return "another field's number";
    }
}

// Changes a message, or one in it.
std::string change_message(std::string &text, fuzz::Random &random, const fuzz::Inputs &seeds)
{
    std::vector<Field> fields = fields_of(text);
    if (fields.empty())
        return fuzz::change_bytes(text, random, seeds);
    std::string words;
    Field &field = random.pick(fields);
    if (random.one_in(6))
        words = change_place(fields, random);
    else if (field.key % 8 == varint) {
        field.number = random.one_in(2) ? random.below(64) : fuzz::extreme_number(random);
        words = "the number " + std::to_string(field.number);
    } else if (random.one_in(8)) {
        field.bytes = random.pick(fields).bytes;
        words = "the bytes of another field";
    } else if (field.key % 8 == with_length)
        words = change_message(field.bytes, random, seeds);
    text = text_of(fields);
    return words;
}

std::string change(std::string &input, fuzz::Family family, fuzz::Random &random,
                   const fuzz::Inputs &seeds)
{
    return family == fuzz::Family::damage ? fuzz::change_bytes(input, random, seeds)
                                          : change_message(input, random, seeds);
}

} // namespace

const fuzz::Target fuzz::target = {
    .name = "onnx",
    .prepare = nullptr,
    .run = run,
    .change = change,
    .damage_must_show = false, // the format has no check sums
    .seconds = 10,
    .memory = uint64_t{1} << 29,
    .inputs_a_fork = 1000,
};
