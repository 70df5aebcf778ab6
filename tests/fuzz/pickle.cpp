// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "pickle.h"

#include "changes.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace fuzz
{
namespace
{

using Opcodes = std::vector<std::string>;

// How an opcode's argument is told from what follows it.
enum class Shape { none, fixed, counted, lines, unknown };

struct Argument {
    Shape shape;
    size_t size; // bytes; bytes of the count; lines
};

bool is_among(char opcode, std::string_view list)
{
    return list.find(opcode) != std::string_view::npos;
}

Argument argument_of(char opcode)
{
    if (is_among(opcode, "(.012NQRabd}el]ost)u\x81\x85\x86\x87\x88\x89\x8f\x90\x91\x92\x93\x94"))
        return {Shape::none, 0};
    if (is_among(opcode, "Khq\x80\x82"))
        return {Shape::fixed, 1};
    if (is_among(opcode, "M\x83"))
        return {Shape::fixed, 2};
    if (is_among(opcode, "Jjr\x84"))
        return {Shape::fixed, 4};
    if (is_among(opcode, "G\x95"))
        return {Shape::fixed, 8};
    if (is_among(opcode, "UC\x8a\x8c"))
        return {Shape::counted, 1};
    if (is_among(opcode, "TXB\x8b"))
        return {Shape::counted, 4};
    if (is_among(opcode, "\x8d\x8e"))
        return {Shape::counted, 8};
    if (is_among(opcode, "PILSFgpV"))
        return {Shape::lines, 1};
    return {is_among(opcode, "ci") ? Shape::lines : Shape::unknown, 2};
}

uint64_t number(const std::string &bytes, size_t offset, size_t size)
{
    uint64_t value = 0;
    for (size_t i = size; i-- > 0;)
        value = value << 8 | static_cast<unsigned char>(bytes[offset + i]);
    return value;
}

std::string bytes_of(uint64_t value, size_t size)
{
    std::string bytes;
    for (size_t i = 0; i < size; i++)
        bytes += static_cast<char>(value >> 8 * i & 0xff);
    return bytes;
}

// The length of the opcode at `begin` with its argument; 0 where there is none.
size_t length_of(const std::string &pickle, size_t begin)
{
    const Argument argument = argument_of(pickle[begin]);
    size_t length = 1 + argument.size;
    if (argument.shape == Shape::unknown)
        return 0;
    if (argument.shape == Shape::lines) {
        size_t end = begin;
        for (size_t i = 0; i < argument.size && end != std::string::npos; i++)
            end = pickle.find('\n', end + 1);
        return end == std::string::npos ? 0 : end + 1 - begin;
    }
    if (length > pickle.size() - begin)
        return 0;
    if (argument.shape == Shape::counted) {
        const uint64_t count = number(pickle, begin + 1, argument.size);
        if (count > pickle.size() - begin - length)
            return 0;
        length += count;
    }
    return length;
}

std::string shown(const std::string &opcode)
{
    std::string text = " ";
    for (const char c : opcode.substr(0, 24)) {
        char code[5];
        std::snprintf(code, sizeof code, "\\x%02x", static_cast<unsigned char>(c));
        text += c > ' ' && c < '\x7f' ? std::string(1, c) : code;
    }
    return text;
}

std::string with(char opcode, const std::string &argument)
{
    std::string all(1, opcode);
    return all += argument;
}

std::string integer(Random &random)
{
    const uint64_t value = extreme_number(random);
    if (random.one_in(2))
        return with('J', bytes_of(value, 4));
    return with('\x8a', with(8, bytes_of(value, 8)));
}

std::string global(Random &random)
{
    static const std::vector<std::string> names = {"torch._utils\n_rebuild_tensor_v2\n",
                                                   "torch._utils\n_rebuild_qtensor\n",
                                                   "torch._utils\n_rebuild_parameter\n",
                                                   "torch._tensor\n_rebuild_from_type_v2\n",
                                                   "torch.jit._pickle\nrestore_type_tag\n",
                                                   "torch.jit._pickle\nbuild_intlist\n",
                                                   "torch.jit._pickle\nbuild_tensorlist\n",
                                                   "torch.jit._pickle\nbuild_tensor_from_id\n",
                                                   "torch\nFloatStorage\n",
                                                   "torch\nHalfStorage\n",
                                                   "torch\nBFloat16Storage\n",
                                                   "torch\nLongStorage\n",
                                                   "torch\nQInt8Storage\n",
                                                   "torch\nComplexDoubleStorage\n",
                                                   "torch\ndevice\n",
                                                   "torch.distributed\nrpc\n",
                                                   "collections\nOrderedDict\n",
                                                   "__torch__\nModel\n",
                                                   "fractions\nFraction\n",
                                                   "\n\n"};
    return with('c', random.pick(names));
}

std::string any_opcode(Random &random)
{
    static const std::string plain = "(.012NQRabd}el]ost)u\x81\x85\x86\x87\x88\x89\x94";
    switch (random.below(6)) {
    case 0:
        return integer(random);
    case 1:
        return global(random);
    case 2:
        return with('h', bytes_of(random.below(64), 1));
    case 3:
        return with('q', bytes_of(random.below(64), 1));
    case 4:
        return with('X', bytes_of(1, 4) + std::to_string(random.below(10)));
    default:
        return std::string(1, random.pick(plain));
    }
}

// Another value of the same kind, where the kind has values.
std::string another(const std::string &opcode, Random &random, const Inputs &others)
{
    const Argument argument = argument_of(opcode[0]);
    if (is_among(opcode[0], "KMJ\x8a"))
        return integer(random);
    if (is_among(opcode[0], "hqjr"))
        return with(opcode[0], bytes_of(random.below(96), argument.size));
    if (opcode[0] == 'c')
        return global(random);
    if (argument.shape == Shape::fixed)
        return with(opcode[0], bytes_of(extreme_number(random), argument.size));
    if (argument.shape != Shape::counted)
        return any_opcode(random);
    std::string text = opcode.substr(1 + argument.size);
    change_bytes(text, random, others);
    const uint64_t size = random.one_in(6) ? extreme_number(random) : text.size();
    return with(opcode[0], bytes_of(size, argument.size) + text);
}

// Opens that are never closed, or that all are.
std::string nest(Opcodes &opcodes, size_t at, Random &random)
{
    static const std::vector<std::pair<std::string, std::string>> pairs = {
        {"(", "t"}, {"(", ""}, {"]", "a"}, {"", "\x85"}, {"(", "l"}, {"2", "\x86"}, {"}N", "s"}};
    const auto &[open, close] = random.pick(pairs);
    const size_t depth = random.length(random.one_in(4) ? 1000000 : 3000);
    std::string before, after;
    for (size_t i = 0; i < depth; i++) {
        before += open;
        after += close;
    }
    opcodes[at] = before + opcodes[at] + after;
    return "nest '" + open + "' " + std::to_string(depth) + " deep";
}

std::string change_opcodes(Opcodes &opcodes, Random &random, const Inputs &others)
{
    const size_t at = random.below(opcodes.size());
    std::string &opcode = opcodes[at];
    const std::string before = opcode;
    switch (random.below(random.one_in(8) ? 7 : 6)) {
    case 0:
        opcode.clear();
        return "remove" + shown(before);
    case 1:
        opcode = any_opcode(random) + opcode;
        return "insert before" + shown(before) + shown(opcode);
    case 2:
        opcode += opcodes[random.below(opcodes.size())];
        return "repeat after" + shown(before) + shown(opcode);
    case 3:
        std::swap(opcode, random.pick(opcodes));
        return "swap" + shown(before) + " and" + shown(opcode);
    case 4:
    case 5:
        opcode = another(opcode, random, others);
        return "replace" + shown(before) + " by" + shown(opcode);
    default:
        return nest(opcodes, at, random);
    }
}

// The numbers are what sizes, strides and places of tensors are made of.
std::string change_number(Opcodes &opcodes, Random &random)
{
    const size_t begin = random.below(opcodes.size());
    for (size_t i = 0; i < opcodes.size(); i++) {
        std::string &opcode = opcodes[(begin + i) % opcodes.size()];
        if (!is_among(opcode[0], "KMJ\x8a"))
            continue;
        const std::string before = std::exchange(opcode, integer(random));
        return "replace" + shown(before) + " by" + shown(opcode);
    }
    return "find no number";
}

} // namespace

std::optional<Opcodes> opcodes_of(const std::string &pickle)
{
    Opcodes opcodes;
    for (size_t at = 0; at < pickle.size(); at += opcodes.back().size()) {
        const size_t length = length_of(pickle, at);
        if (length == 0)
            return std::nullopt;
        opcodes.push_back(pickle.substr(at, length));
    }
    return opcodes;
}

std::string change_pickle(std::string &pickle, Random &random, const Inputs &others)
{
    auto opcodes = opcodes_of(pickle);
    if (!opcodes || opcodes->empty() || random.one_in(10))
        return change_bytes(pickle, random, others);
    const std::string change = random.one_in(4) ? change_number(*opcodes, random)
                                                : change_opcodes(*opcodes, random, others);
    pickle.clear();
    for (const std::string &opcode : *opcodes)
        pickle += opcode;
    return change;
}

} // namespace fuzz
