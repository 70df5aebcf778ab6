// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "graph_code.h"

#include "base/compose.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

namespace engine_torch
{
namespace
{

using dnn_torch::concat;

bool is_reserved(const std::string &name)
{
    static const std::set<std::string> words = {
        "and",    "as",     "assert", "break",  "class", "continue", "def",    "del",
        "elif",   "else",   "except", "False",  "for",   "from",     "global", "if",
        "import", "in",     "is",     "lambda", "None",  "not",      "or",     "pass",
        "raise",  "return", "self",   "torch",  "True",  "try",      "math",   "while",
        "with",   "yield",  "float",  "int",    "max",   "min",      "bool",   "dnn_torch"};
    const bool is_variable = name.size() > 1 && name[0] == 'x' && // a name of let()
                             std::all_of(name.begin() + 1, name.end(),
                                         [](unsigned char c) { return std::isdigit(c) != 0; });
    return words.count(name) > 0 || is_variable;
}

// Larger tensors are no sizes.
constexpr size_t most_numbers = 64;

template <class Type> std::optional<Type> literal_in(const std::string &text)
{
    Type number = 0;
    const char *const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, number);
    const bool is_all = parsed.ec == std::errc() && parsed.ptr == end && !text.empty();
    return is_all ? std::optional(number) : std::nullopt;
}

template <class Type> Type element(const Weight &weight, size_t index)
{
    Type number = {};
    std::memcpy(&number, weight.bytes.data() + index * sizeof number, sizeof number);
    return number;
}

std::optional<Number> number_in(const Weight &weight, size_t index)
{
    switch (weight.type) {
    case ElementType::int64:
        return literal_of(element<int64_t>(weight, index));
    case ElementType::int32:
        return std::to_string(element<int32_t>(weight, index));
    case ElementType::boolean:
        return element<uint8_t>(weight, index) ? "True" : "False";
    case ElementType::float32:
        if (std::isfinite(element<float>(weight, index)))
            return literal_of(element<float>(weight, index));
        return std::nullopt;
    case ElementType::float64:
        if (std::isfinite(element<double>(weight, index)))
            return literal(element<double>(weight, index));
        return std::nullopt;
    default:
        return std::nullopt;
    }
}

size_t count_of(const Weight &weight)
{
    return weight.bytes.size() / bytes_of(weight.type);
}

template <class Type, class Number> std::vector<Number> all_of(const Weight &weight)
{
    std::vector<Number> all;
    for (size_t i = 0; i < count_of(weight); i++)
        all.push_back(static_cast<Number>(element<Type>(weight, i)));
    return all;
}

bool has_only_finite(const Weight &weight)
{
    if (weight.type != ElementType::float32)
        return true; // build_module() tells of the others
    for (size_t i = 0; i < count_of(weight); i++)
        if (!std::isfinite(element<float>(weight, i)))
            return false;
    return true;
}

} // namespace

std::string python_name(std::string name)
{
    std::replace_if(
        name.begin(), name.end(),
        [](char c) {
            const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
            return !is_letter && !(c >= '0' && c <= '9');
        },
        '_');
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])))
        name = concat("_", name);
    return is_reserved(name) ? concat(name, "_") : name;
}

std::vector<int64_t> wholes_in(const Weight &weight)
{
    switch (weight.type) {
    case ElementType::int64:
        return all_of<int64_t, int64_t>(weight);
    case ElementType::int32:
        return all_of<int32_t, int64_t>(weight);
    case ElementType::int16:
        return all_of<int16_t, int64_t>(weight);
    case ElementType::int8:
        return all_of<int8_t, int64_t>(weight);
    default:
        return all_of<uint8_t, int64_t>(weight);
    }
}

Blueprint network_that_calls(const OutsideCall &call, const std::string &architecture)
{
    std::string arguments, given, results;
    for (const std::string &input : call.inputs) {
        arguments += concat(", ", input, ": Tensor");
        dnn_torch::add_to_list(given, input);
    }
    for (size_t i = 0; i < call.outputs.size(); i++)
        dnn_torch::add_to_list(results, concat("\"", call.outputs[i], "\": made[", i, "]"));
    std::string function = call.function;
    function.replace(function.find("::"), 2, ".");
    Blueprint network;
    network.architecture = architecture;
    network.is_local = false;
    network.source = concat("def forward(self", arguments, "):\n    made = ", function, "([", given,
                            "], ", call.number, ")\n    return ",
                            call.outputs.size() == 1 ? "made[0]" : concat("{", results, "}"), "\n");
    return network;
}

NumberKind kind_of(ElementType type)
{
    switch (type) {
    case ElementType::float16:
    case ElementType::bfloat16:
    case ElementType::float32:
    case ElementType::float64:
        return NumberKind::real;
    case ElementType::boolean:
        return NumberKind::truth;
    default:
        return NumberKind::whole;
    }
}

Number literal_of(float number)
{
    char text[32] = {};
    double nearest = 0;
    const char *const end = std::to_chars(std::begin(text), std::end(text), number).ptr;
    if (!std::isfinite(number))
        return concat("float(\"", text, "\")");
    std::from_chars(text, end, nearest);
    return literal(nearest);
}

// TorchScript cannot write the lowest number, which means "from the first" in Slice.
Number literal_of(int64_t number)
{
    return std::to_string(std::max(number, -std::numeric_limits<int64_t>::max()));
}

std::optional<int64_t> known_whole(const Number &number)
{
    return literal_in<int64_t>(number);
}

std::optional<double> known_real(const Number &number)
{
    return literal_in<double>(number);
}

std::optional<Numbers> numbers_in(const Weight &weight)
{
    if (weight.shape.size() > 1 || count_of(weight) > most_numbers)
        return std::nullopt;
    Numbers numbers;
    for (size_t i = 0; i < count_of(weight); i++) {
        const std::optional<Number> number = number_in(weight, i);
        if (!number)
            return std::nullopt;
        numbers.push_back(*number);
    }
    return numbers;
}

Expression tensor_in_code(Net &net, const std::string &name, const Weight &weight)
{
    const bool is_real = kind_of(weight.type) == NumberKind::real;
    if (is_real && has_only_finite(weight))
        return net.weight(name);
    const std::string bytes = packed_bytes(weight);
    const Weight packed = {
        .type = weight.type, .shape = weight.shape, .strides = {}, .bytes = bytes};
    if (is_real)
        return net.numbers(weight.shape, all_of<float, float>(packed));
    const Expression numbers = net.indices(weight.shape, wholes_in(packed));
    return weight.type == ElementType::boolean ? net.let(concat(numbers, " != 0")) : numbers;
}

int type_number(NumberKind kind)
{
    constexpr int int64 = 4, float32 = 6, boolean = 11;
    return kind == NumberKind::real ? float32 : kind == NumberKind::whole ? int64 : boolean;
}

std::string list_of(const Numbers &numbers)
{
    return concat("[", dnn_torch::joined(numbers), "]");
}

std::string list_of(const std::vector<int64_t> &numbers)
{
    Numbers texts;
    for (const int64_t number : numbers)
        texts.push_back(std::to_string(number));
    return list_of(texts);
}

} // namespace engine_torch
