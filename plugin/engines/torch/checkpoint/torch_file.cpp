// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "torch_file.h"

#include "base/compose.h"
#include "engine_kit/text.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace engine_torch
{
namespace
{

using dnn_torch::concat;
using Kind = PickledValue::Kind;

// The number in the older format's first pickle.  pickle_protocol=4 puts a frame before it.
constexpr std::string_view magic_number("\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20", 8);
constexpr size_t longest_mark = 32, most_dimensions = 8;

[[noreturn]] void fail()
{
    throw WeightFault("is cut short or damaged; copy or download it again");
}

[[noreturn]] void fail_as_other_order()
{
    throw WeightFault("was saved on a machine with the other byte order; save it again on one of "
                      "this kind");
}

struct StorageType {
    std::string_view name; // without "Storage" or "torch."
    size_t size;           // bytes of an element
    std::optional<ElementType> type;
};

constexpr std::array<StorageType, 48> storage_types = {{
    {"Double", 8, ElementType::float64},  {"Float", 4, ElementType::float32},
    {"Half", 2, ElementType::float16},    {"BFloat16", 2, ElementType::bfloat16},
    {"Long", 8, ElementType::int64},      {"Int", 4, ElementType::int32},
    {"Short", 2, ElementType::int16},     {"Char", 1, ElementType::int8},
    {"Byte", 1, ElementType::uint8},      {"Bool", 1, ElementType::boolean},
    {"Untyped", 1, std::nullopt},         {"_Untyped", 1, std::nullopt},
    {"ComplexHalf", 4, std::nullopt},     {"ComplexFloat", 8, std::nullopt},
    {"ComplexDouble", 16, std::nullopt},  {"QInt8", 1, std::nullopt},
    {"QUInt8", 1, std::nullopt},          {"QInt32", 4, std::nullopt},
    {"QUInt4x2", 1, std::nullopt},        {"QUInt2x4", 1, std::nullopt},
    {"float64", 8, ElementType::float64}, {"float32", 4, ElementType::float32},
    {"float16", 2, ElementType::float16}, {"bfloat16", 2, ElementType::bfloat16},
    {"int64", 8, ElementType::int64},     {"int32", 4, ElementType::int32},
    {"int16", 2, ElementType::int16},     {"int8", 1, ElementType::int8},
    {"uint8", 1, ElementType::uint8},     {"bool", 1, ElementType::boolean},
    {"double", 8, ElementType::float64},  {"float", 4, ElementType::float32},
    {"half", 2, ElementType::float16},    {"long", 8, ElementType::int64},
    {"int", 4, ElementType::int32},       {"short", 2, ElementType::int16},
    {"uint16", 2, std::nullopt},          {"uint32", 4, std::nullopt},
    {"uint64", 8, std::nullopt},          {"complex32", 4, std::nullopt},
    {"complex64", 8, std::nullopt},       {"complex128", 16, std::nullopt},
    {"float8_e4m3fn", 1, std::nullopt},   {"float8_e5m2", 1, std::nullopt},
    {"float8_e4m3fnuz", 1, std::nullopt}, {"float8_e5m2fnuz", 1, std::nullopt},
    {"float8_e8m0fnu", 1, std::nullopt},  {"float4_e2m1fn_x2", 1, std::nullopt},
}};

// `name`: "torch.FloatStorage", "torch.float32".
const StorageType *find_type(std::string_view name)
{
    constexpr std::string_view ending = "Storage";
    name.remove_prefix(name.rfind('.') + 1);
    if (name.size() > ending.size() && name.substr(name.size() - ending.size()) == ending)
        name.remove_suffix(ending.size());
    const auto *found = std::find_if(storage_types.begin(), storage_types.end(),
                                     [name](const StorageType &each) { return each.name == name; });
    return found == storage_types.end() ? nullptr : found;
}

bool is_older(std::string_view file)
{
    return file.substr(0, 1) == "\x80" &&
           file.substr(0, longest_mark).find(magic_number) != std::string_view::npos;
}

// Returns the value under that key, or null.
const PickledValue *find(const Pickle &pickle, const PickledValue &dict, std::string_view key)
{
    for (size_t i = 0; dict.kind == Kind::dict && i + 1 < dict.parts.size(); i += 2)
        if (const PickledValue &each = pickle.at(dict.parts[i]);
            each.kind == Kind::text && each.text == key)
            return &pickle.at(dict.parts[i + 1]);
    return nullptr;
}

std::vector<int64_t> numbers_in(const Pickle &pickle, const PickledValue &sequence)
{
    std::vector<int64_t> numbers;
    if (sequence.parts.size() > most_dimensions)
        fail();
    for (const ValueId part : sequence.parts) {
        if (pickle.at(part).kind != Kind::integer || pickle.at(part).number < 0)
            fail();
        numbers.push_back(pickle.at(part).number);
    }
    return numbers;
}

} // namespace

bool TorchFile::is_one(std::string_view file)
{
    if (is_older(file))
        return true;
    bool has_pickle = false;
    for (const std::string &name : names_in_zip(file)) {
        if (name.ends_with("/constants.pkl") || name.ends_with("/archive_format") ||
            name.find("serialized_exported_program") != std::string::npos)
            return false;
        has_pickle = has_pickle || (name.ends_with("/data.pkl") &&
                                    name.find('/') == name.size() - std::strlen("/data.pkl"));
    }
    return has_pickle;
}

TorchFile::TorchFile(std::string_view file)
    : size_(file.size()),
      format_(is_older(file) ? "PyTorch checkpoint of the older format" : "PyTorch checkpoint")
{
    try {
        if (is_older(file))
            read_older(file);
        else
            read_archive(file);
    } catch (const ZipDamage &) {
        fail();
    } catch (const ZipOddity &oddity) {
        throw WeightFault(concat(oddity.what(), "; save the checkpoint again with PyTorch"));
    }
}

void TorchFile::read_archive(std::string_view file)
{
    zip_ = std::make_unique<ZipRecords>(file);
    if (zip_->all().empty())
        fail();
    const std::string &first = zip_->all().front().name;
    const std::string folder = first.substr(0, first.find('/') + 1), data = folder + "data/";
    for (const ZipRecord &record : zip_->all()) {
        if (record.name == folder + "byteorder" && record.bytes != "little")
            fail_as_other_order();
        if (record.name.compare(0, data.size(), data) == 0)
            storages_.emplace(record.name.substr(data.size()), record.bytes);
        if (record.name != folder + "data.pkl")
            continue;
        std::string_view rest = record.bytes;
        pickle_ = std::make_unique<Pickle>(rest);
    }
    if (!pickle_)
        throw ZipOddity("has records that do not lie in one folder");
}

void TorchFile::read_older(std::string_view file)
{
    constexpr int64_t known_version = 1001;
    const Pickle magic(file);
    const Pickle version(file);
    if (version.root().kind != Kind::integer || version.root().number != known_version)
        throw WeightFault("is a checkpoint of a version of PyTorch's older format that is not "
                          "known; save it again with PyTorch");
    const Pickle machine(file);
    const PickledValue *little = find(machine, machine.root(), "little_endian");
    if (little && little->kind == Kind::boolean && little->number == 0)
        fail_as_other_order();
    pickle_ = std::make_unique<Pickle>(file);
    const Pickle keys(file);
    read_numbers(keys, file);
}

void TorchFile::read_numbers(const Pickle &keys, std::string_view rest)
{
    std::map<std::string_view, size_t> sizes; // of elements, by the storages' keys
    for (const PickledValue &each : pickle_->all())
        if (each.kind == Kind::storage)
            if (const StorageType *type = find_type(pickle_->at(each.parts[0]).text))
                sizes.emplace(each.text, type->size);
    for (const ValueId id : keys.root().parts) {
        const PickledValue &key = keys.at(id);
        const auto size = sizes.find(key.text);
        uint64_t bytes = 0;
        if (key.kind != Kind::text || size == sizes.end() || rest.size() < sizeof bytes)
            fail();
        std::memcpy(&bytes, rest.data(), sizeof bytes);
        rest.remove_prefix(sizeof bytes);
        if (__builtin_mul_overflow(bytes, size->second, &bytes) || bytes > rest.size())
            fail();
        storages_.emplace(key.text, rest.substr(0, bytes));
        rest.remove_prefix(bytes);
    }
}

std::string_view TorchFile::numbers_of(const PickledValue &storage, size_t element) const
{
    if (storage.number == 0)
        return {};
    const auto found = storages_.find(storage.text);
    uint64_t begin = 0, size = 0;
    if (found == storages_.end() ||
        __builtin_mul_overflow(static_cast<uint64_t>(storage.offset), element, &begin) ||
        __builtin_mul_overflow(static_cast<uint64_t>(storage.number), element, &size) ||
        begin > found->second.size() || size > found->second.size() - begin)
        fail();
    return found->second.substr(begin, size);
}

Weight TorchFile::weight(const PickledValue &tensor, std::string_view name) const
{
    const PickledValue &storage = pickle_->at(tensor.parts[0]);
    const StorageType *stored = find_type(pickle_->at(storage.parts[0]).text);
    const std::string_view type_name =
        pickle_->at(tensor.parts.size() > 3 ? tensor.parts[3] : storage.parts[0]).text;
    const StorageType *type = find_type(type_name);
    if (!stored || !type || !type->type)
        throw WeightFault(concat("has ", engine_kit::printable(name.substr(0, 80)), " of the type ",
                                 engine_kit::printable(type_name),
                                 ", which is not supported; convert it with .float() in PyTorch"));
    Weight weight = {.type = *type->type,
                     .shape = numbers_in(*pickle_, pickle_->at(tensor.parts[1])),
                     .strides = numbers_in(*pickle_, pickle_->at(tensor.parts[2])),
                     .bytes = {}};
    if (weight.shape.size() != weight.strides.size())
        fail();
    const std::string_view numbers = numbers_of(storage, stored->size);
    const auto part = part_of_storage(weight, tensor.offset, numbers);
    if (!part)
        throw WeightFault(concat("has ", engine_kit::printable(name.substr(0, 80)),
                                 ", which reaches beyond its numbers: the file is damaged"));
    weight.bytes = *part;
    return weight;
}

} // namespace engine_torch
