// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "returned_tensors.h"

#include "base/compose.h"
#include "engines/torch/failure.h"

#include <ATen/core/function_schema.h>

#include <cstddef>
#include <sstream>

namespace engine_torch
{
namespace
{

constexpr size_t most_tensors = 1000;
constexpr int deepest = 16;

[[noreturn]] void refuse(const char *words)
{
    throw Failure(DNN_TORCH_BAD_OUTPUT, words);
}

std::string key_of(const c10::IValue &key)
{
    if (key.isString())
        return key.toStringRef();
    std::ostringstream text;
    text << key;
    return text.str();
}

// Such a list may be long, and contains no tensors.
bool holds_numbers(const c10::Type &element)
{
    return element.kind() == c10::TypeKind::IntType || element.kind() == c10::TypeKind::FloatType ||
           element.kind() == c10::TypeKind::BoolType || element.kind() == c10::TypeKind::StringType;
}

std::string below(const std::string &name, const std::string &part)
{
    return name.empty() ? part : dnn_torch::concat(name, ".", part);
}

class Collector
{
public:
    void collect(const c10::IValue &value, const std::string &name, const std::string &number,
                 int depth)
    {
        if (depth > deepest)
            refuse("the model returned values that are nested too deeply");
        if (value.isTensor())
            add({.name = name, .number = number, .tensor = value.toTensor()});
        else if (value.isGenericDict())
            for (const auto &entry : value.toGenericDict()) {
                const std::string key = key_of(entry.key());
                collect(entry.value(), below(name, key), below(number, key), depth + 1);
            }
        else if (value.isTuple())
            collect_tuple(value, name, number, depth);
        else if (value.isList())
            collect_list(value, name, number, depth);
    }

    std::vector<ReturnedTensor> tensors;

private:
    void add(ReturnedTensor tensor)
    {
        if (tensors.size() >= most_tensors)
            refuse("the model returned more than 1000 tensors");
        tensors.push_back(std::move(tensor));
    }

    void collect_tuple(const c10::IValue &value, const std::string &name, const std::string &number,
                       int depth)
    {
        const auto tuple = value.toTuple();
        const auto type = tuple->type<c10::TupleType>();
        const auto &schema = type->schema();
        for (size_t i = 0; i < tuple->elements().size(); i++) {
            const std::string place = std::to_string(i);
            const bool is_named = schema && i < schema->arguments().size();
            collect(tuple->elements()[i],
                    below(name, is_named ? schema->arguments()[i].name() : place),
                    below(number, place), depth + 1);
        }
    }

    void collect_list(const c10::IValue &value, const std::string &name, const std::string &number,
                      int depth)
    {
        const auto list = value.toList();
        if (holds_numbers(*list.elementType()))
            return;
        for (size_t i = 0; i < list.size(); i++) {
            const std::string place = std::to_string(i);
            collect(list.get(i), below(name, place), below(number, place), depth + 1);
        }
    }
};

} // namespace

std::vector<ReturnedTensor> tensors_in(const c10::IValue &returned)
{
    Collector collector;
    collector.collect(returned, "", "", 0);
    return std::move(collector.tensors);
}

std::string kind_in_words(const c10::IValue &returned)
{
    if (returned.isGenericDict())
        return "a dict";
    if (returned.isTuple())
        return "a tuple";
    return returned.isList() ? "a list" : "";
}

std::string names_of(const std::vector<ReturnedTensor> &tensors)
{
    std::string names;
    for (const ReturnedTensor &each : tensors)
        dnn_torch::add_to_list(names, each.name);
    return names;
}

const ReturnedTensor *find(const std::vector<ReturnedTensor> &tensors, const std::string &name)
{
    for (const ReturnedTensor &each : tensors)
        if (each.name == name || each.number == name)
            return &each;
    const std::string begin = name + ".";
    for (const ReturnedTensor &each : tensors)
        if (each.name.compare(0, begin.size(), begin) == 0 ||
            each.number.compare(0, begin.size(), begin) == 0)
            return &each;
    return nullptr;
}

} // namespace engine_torch
