// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "export_archive.h"

#include "base/compose.h"
#include "base/json_check.h"
#include "engine_kit/text.h"
#include "engines/torch/file/file_contract.h"

#include <algorithm>

namespace engine_torch
{
namespace
{

using dnn_torch::concat;

constexpr const char *older_program = "serialized_exported_program.json";
constexpr std::string_view format_record = "archive_format", models_folder = "models/";
constexpr size_t most_export_dimensions = 8;

// PyTorch 2.6 writes infinity as Python does, which is no JSON.  Later ones write it as a text.
std::string with_quoted_infinities(std::string_view text)
{
    std::string json;
    bool is_string = false;
    for (size_t i = 0; i < text.size(); i++) {
        const std::string_view rest = text.substr(i);
        if (is_string && text[i] == '\\' && rest.size() > 1) {
            json += rest.substr(0, 2);
            i++;
            continue;
        }
        is_string = is_string != (text[i] == '"');
        json += text[i];
        for (const std::string_view word : {"-Infinity", "Infinity", "NaN"})
            if (!is_string && rest.starts_with(word)) {
                json.pop_back();
                json += concat("\"", word, "\"");
                i += word.size() - 1;
                break;
            }
    }
    return json;
}

ExportJson parse_export(std::string_view record, const char *what)
{
    constexpr dnn_torch::JsonLimits limits = {.depth = 200, .values = 6'000'000};
    const std::string text = with_quoted_infinities(record);
    if (const std::string fault = dnn_torch::fault_of_json(text, limits); !fault.empty())
        throw WeightFault(engine_kit::printable(
            concat("is a damaged torch.export program, or a larger one than is supported: ", what,
                   " ", fault, "; copy or download it again, or export it as TorchScript")));
    return ExportJson::parse(text);
}

int64_t size_of(const ExportJson &value)
{
    const ExportUnion number = union_of(value);
    if (number.kind != "as_int" || whole_of(number.value) < 0)
        fail_as_damaged("a tensor of an unknown size");
    return whole_of(number.value);
}

std::vector<int64_t> sizes_in(const ExportJson &object, const char *key)
{
    std::vector<int64_t> numbers;
    const ExportJson &list = list_in(object, key);
    if (list.size() > most_export_dimensions)
        fail_as_damaged("a tensor of more than 8 dimensions");
    for (const ExportJson &each : list)
        numbers.push_back(size_of(each));
    return numbers;
}

} // namespace

void fail_as_damaged(std::string_view what)
{
    throw WeightFault(engine_kit::printable(
        concat("is a damaged torch.export program: ", what, "; copy or download it again")));
}

const ExportJson &member_of(const ExportJson &object, const char *key)
{
    if (!object.is_object() || !object.contains(key))
        fail_as_damaged(concat("it lacks ", key));
    return object[key];
}

const ExportJson &list_in(const ExportJson &object, const char *key)
{
    const ExportJson &list = member_of(object, key);
    if (!list.is_array())
        fail_as_damaged(concat(key, " is no list"));
    return list;
}

std::string text_in(const ExportJson &object, const char *key)
{
    constexpr size_t longest = 1024;
    const ExportJson &text = member_of(object, key);
    if (!text.is_string() || text.get_ref<const std::string &>().size() > longest)
        fail_as_damaged(concat(key, " is no text of at most 1024 bytes"));
    return text.get<std::string>();
}

int64_t whole_of(const ExportJson &value)
{
    if (!value.is_number_integer() ||
        (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{INT64_MAX}))
        fail_as_damaged("it has something else in place of a whole number");
    return value.get<int64_t>();
}

ExportUnion union_of(const ExportJson &value)
{
    if (!value.is_object() || value.size() != 1)
        fail_as_damaged("it has something else in place of one value of a kind");
    return {.kind = value.begin().key(), .value = value.begin().value()};
}

std::optional<ElementType> export_type(const ExportJson &number)
{
    switch (whole_of(number)) {
    case 1:
        return ElementType::uint8;
    case 2:
        return ElementType::int8;
    case 3:
        return ElementType::int16;
    case 4:
        return ElementType::int32;
    case 5:
        return ElementType::int64;
    case 6:
        return ElementType::float16;
    case 7:
        return ElementType::float32;
    case 8:
        return ElementType::float64;
    case 12:
        return ElementType::boolean;
    case 13:
        return ElementType::bfloat16;
    default:
        return std::nullopt;
    }
}

bool ExportArchive::is_one(std::string_view file)
{
    bool has_model = false, has_format = false;
    for (const std::string &name : names_in_zip(file)) {
        if (name == older_program)
            return true;
        const size_t folder = name.find('/') + 1;
        const std::string_view inner = std::string_view(name).substr(folder);
        has_format = has_format || inner == format_record;
        has_model = has_model || (inner.starts_with(models_folder) && inner.ends_with(".json"));
    }
    return has_model && has_format;
}

ExportArchive::ExportArchive(std::string_view file) : file_size_(file.size())
{
    try {
        read(file);
    } catch (const ZipDamage &) {
        fail_as_damaged("it is cut short");
    } catch (const ZipOddity &oddity) {
        throw WeightFault(concat(oddity.what(), "; save it again with torch.export.save()"));
    }
}

void ExportArchive::read(std::string_view file)
{
    zip_.emplace(file);
    const std::string first = zip_->all().empty() ? "" : zip_->all().front().name;
    const std::string folder = first.substr(0, first.find('/') + 1);
    for (const ZipRecord &record : zip_->all())
        if (record.name.starts_with(folder))
            records_.emplace(record.name.substr(folder.size()), record.bytes);
    if (records_.count(older_program) > 0) {
        program_ = parse_export(record(older_program), "its graph");
        for (const char *name : {"serialized_state_dict.pt", "serialized_constants.pt"})
            take_checkpoint(record(name));
    } else {
        const std::string model = name_of_model();
        program_ = parse_export(record(concat(models_folder, model, ".json")), "its graph");
        take_tensors(model, "weights");
        take_tensors(model, "constants");
    }
    for (const char *place : {"extra_files/", "extra/"})
        if (const auto found = records_.find(concat(place, own_contract_record));
            found != records_.end())
            contract_ = found->second;
}

std::string_view ExportArchive::record(const std::string &name) const
{
    const auto found = records_.find(name);
    if (found == records_.end())
        fail_as_damaged(concat("it lacks ", name));
    return found->second;
}

std::string ExportArchive::name_of_model() const
{
    constexpr std::string_view end = ".json";
    std::vector<std::string> names;
    for (const auto &[name, bytes] : records_)
        if (name.starts_with(models_folder) && name.ends_with(end))
            names.push_back(
                name.substr(models_folder.size(), name.size() - models_folder.size() - end.size()));
    if (names.empty())
        fail_as_damaged("its records do not lie in one folder");
    if (names.size() > 1)
        throw WeightFault(engine_kit::printable(
            concat("is a torch.export package of several programs (", dnn_torch::joined(names),
                   "); save one of them alone with torch.export.save()")));
    return names.front();
}

// `kind`: "weights", "constants".
void ExportArchive::take_tensors(const std::string &model, const std::string &kind)
{
    const std::string folder = concat("data/", kind, "/");
    if (const auto whole = records_.find(concat(folder, model, ".pt")); whole != records_.end())
        return take_checkpoint(whole->second);
    const ExportJson payloads = parse_export(
        record(concat(folder, model, "_", kind, "_config.json")), "its list of tensors");
    const ExportJson &all = member_of(payloads, "config");
    if (!all.is_object())
        fail_as_damaged("its list of tensors is none");
    for (const auto &[name, about] : all.items())
        // Objects of Python's are skipped; a node that uses one is refused.
        if (member_of(about, "use_pickle") == false)
            take_payload(name, member_of(about, "tensor_meta"),
                         record(folder + text_in(about, "path_name")));
}

void ExportArchive::take_checkpoint(std::string_view bytes)
{
    if (!TorchFile::is_one(bytes))
        fail_as_damaged("its tensors cannot be read");
    const TorchFile &file = checkpoints_.emplace_back(bytes);
    const Pickle &pickle = file.pickle();
    const PickledValue &all = pickle.root();
    if (all.kind == PickledValue::Kind::tensor)
        fail_as_damaged("its tensors have no names");
    for (size_t i = 0; all.kind == PickledValue::Kind::dict && i + 1 < all.parts.size(); i += 2) {
        const PickledValue &name = pickle.at(all.parts[i]), &value = pickle.at(all.parts[i + 1]);
        if (name.kind == PickledValue::Kind::text && value.kind == PickledValue::Kind::tensor)
            take(std::string(name.text), file.weight(value, name.text));
    }
}

void ExportArchive::take_payload(const std::string &name, const ExportJson &about,
                                 std::string_view bytes)
{
    const std::optional<ElementType> type = export_type(member_of(about, "dtype"));
    if (!type)
        throw WeightFault(engine_kit::printable(
            concat("has ", name,
                   " of a type that is not supported; convert it with .float() in "
                   "PyTorch")));
    Weight weight = {.type = *type,
                     .shape = sizes_in(about, "sizes"),
                     .strides = sizes_in(about, "strides"),
                     .bytes = {}};
    const std::optional<std::string_view> part =
        weight.shape.size() == weight.strides.size()
            ? part_of_storage(weight, size_of(member_of(about, "storage_offset")), bytes)
            : std::nullopt;
    if (!part)
        fail_as_damaged(concat(name, " reaches beyond its numbers"));
    weight.bytes = *part;
    take(name, weight);
}

void ExportArchive::take(const std::string &name, const Weight &weight)
{
    constexpr uint64_t spare = uint64_t{256} << 20, most_uses = 4;
    constexpr size_t most_tensors = 100'000;
    tensor_bytes_ += bytes_of(weight);
    if (tensor_bytes_ > spare + most_uses * file_size_ || tensors_.size() == most_tensors)
        throw WeightFault("has tensors that take far more memory than the file; clone() them "
                          "before they are saved");
    tensors_.insert_or_assign(name, weight);
}

} // namespace engine_torch
