// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "compiled_package.h"

#include "base/compose.h"
#include "base/json_check.h"
#include "engine_kit/content_hash.h"
#include "engine_kit/text.h"
#include "engines/torch/graphs/graph_code.h"
#include "engines/torch/graphs/graph_contract.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <sstream>
#include <sys/utsname.h>

namespace engine_torch
{
namespace
{

using dnn_torch::concat;
using Json = nlohmann::json;

constexpr std::string_view code_folder = "data/aotinductor/", code_end = ".so";
constexpr const char *facts_key = "dnn_torch"; // in what AOTInductor calls metadata
constexpr const char *how_to_make = "; make it with models/export_model.py --aoti, or save the "
                                    "program itself with torch.export.save()";

[[noreturn]] void fail(const std::string &words)
{
    throw WeightFault(engine_kit::printable(concat("is an AOTInductor package ", words)));
}

Json parsed(std::string_view text, const char *what)
{
    constexpr dnn_torch::JsonLimits limits = {.depth = 20, .values = 10'000};
    if (const std::string fault = dnn_torch::fault_of_json(text, limits); !fault.empty())
        fail(concat("that is damaged: ", what, " ", fault, "; copy or download it again"));
    return Json::parse(text);
}

// ---- what models/export_model.py wrote

int64_t number_in(const Json &value)
{
    constexpr int64_t most = 65536;
    const auto number = value.get<int64_t>();
    if (!value.is_number_integer() || number < 0 || number > most)
        fail("with a size that is none");
    return number;
}

CompiledSymbol symbol_in(const std::string &name, const Json &range)
{
    const CompiledSymbol symbol = {
        .name = name, .least = number_in(range.at(0)), .most = number_in(range.at(1))};
    if (symbol.least > symbol.most)
        fail("with a size that is none");
    return symbol;
}

std::string name_in(const Json &value)
{
    constexpr size_t longest = 60;
    const auto name = value.get<std::string>();
    if (name.empty() || name.size() > longest)
        fail("with a name of an input or output that is none");
    return python_name(name);
}

ElementType type_in(const Json &value)
{
    static const std::map<std::string, ElementType> types = {
        {"float32", ElementType::float32},   {"float16", ElementType::float16},
        {"bfloat16", ElementType::bfloat16}, {"float64", ElementType::float64},
        {"uint8", ElementType::uint8},       {"int32", ElementType::int32},
        {"int64", ElementType::int64},       {"bool", ElementType::boolean}};
    const auto found = types.find(value.get<std::string>());
    if (found == types.end())
        fail("with an input of a type that is not known here");
    return found->second;
}

CompiledExtent extent_in(const Json &value, const std::vector<CompiledSymbol> &symbols)
{
    if (!value.is_object())
        return {.number = number_in(value)};
    const auto name = value.at("symbol").get<std::string>();
    CompiledExtent extent = {.number = number_in(value.at("times"))};
    for (size_t i = 0; i < symbols.size(); i++)
        if (symbols[i].name == name)
            extent.symbol = i;
    if (!extent.symbol || extent.number == 0)
        fail("with a size that is none");
    return extent;
}

CompiledInput input_in(const Json &value, const std::vector<CompiledSymbol> &symbols)
{
    constexpr size_t most_dimensions = 8;
    CompiledInput input = {
        .name = name_in(value.at("name")), .type = type_in(value.at("type")), .shape = {}};
    if (value.at("shape").size() > most_dimensions)
        fail("with an input of more than 8 dimensions");
    for (const Json &extent : value.at("shape"))
        input.shape.push_back(extent_in(extent, symbols));
    return input;
}

void expect_different(std::vector<std::string> names, const char *what)
{
    constexpr size_t most = 100;
    if (names.empty() || names.size() > most)
        fail(concat("with ", names.size(), " ", what));
    const std::set<std::string> different(names.begin(), names.end());
    if (different.size() != names.size())
        fail(concat("with two ", what, " of one name"));
}

CompiledInterface interface_in(const Json &facts)
{
    CompiledInterface interface;
    std::vector<std::string> inputs;
    for (const auto &[name, range] : facts.at("symbols").items())
        interface.symbols.push_back(symbol_in(name, range));
    for (const Json &input : facts.at("inputs")) {
        interface.inputs.push_back(input_in(input, interface.symbols));
        inputs.push_back(interface.inputs.back().name);
    }
    for (const Json &output : facts.at("outputs"))
        interface.outputs.push_back(name_in(output));
    expect_different(inputs, "inputs");
    expect_different(interface.outputs, "outputs");
    return interface;
}

// ---- this machine

// "AVX512_VNNI" and "avx512vnni" are the same.
std::string plain(std::string_view instruction)
{
    std::string name;
    for (const char c : instruction)
        if (c != '_' && c != '-')
            name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return name;
}

std::set<std::string> instructions_here()
{
    std::ifstream about("/proc/cpuinfo");
    std::set<std::string> names;
    for (std::string line; names.empty() && std::getline(about, line);) {
        if (!line.starts_with("flags") && !line.starts_with("Features"))
            continue;
        std::istringstream words(line.substr(std::min(line.find(':'), line.size())));
        for (std::string word; words >> word;)
            names.insert(plain(word));
    }
    return names;
}

// ---- the library

constexpr const char *damaged =
    "is an AOTInductor package that is damaged; copy or download it again";

// Whether the file has all that the dynamic linker reads: a signal ends a process that reads beyond
// the end.
bool is_whole_library(std::string_view code)
{
    const auto has = [&](uint64_t offset, uint64_t bytes) {
        return offset <= code.size() && bytes <= code.size() - offset;
    };
    Elf64_Ehdr head = {};
    if (!has(0, sizeof head))
        return false;
    std::memcpy(&head, code.data(), sizeof head);
    if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_phentsize != sizeof(Elf64_Phdr) ||
        !has(head.e_phoff, head.e_phnum * sizeof(Elf64_Phdr)))
        return false;
    for (size_t i = 0; i < head.e_phnum; i++) {
        Elf64_Phdr segment = {};
        std::memcpy(&segment, code.data() + head.e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_type == PT_LOAD && !has(segment.p_offset, segment.p_filesz))
            return false;
    }
    return true;
}

// ---- shapes in words

std::string in_words(const CompiledExtent &extent, const std::vector<CompiledSymbol> &symbols)
{
    if (!extent.symbol)
        return std::to_string(extent.number);
    const CompiledSymbol &symbol = symbols[*extent.symbol];
    const std::string step = extent.number > 1 ? concat(" in steps of ", extent.number) : "";
    return concat(symbol.least * extent.number, "..", symbol.most * extent.number, step);
}

std::string in_words(const CompiledInput &input, const std::vector<CompiledSymbol> &symbols)
{
    std::string words;
    for (const CompiledExtent &extent : input.shape)
        dnn_torch::add_to_list(words, in_words(extent, symbols));
    return concat("[", words, "]");
}

// Whether the extent fits.  `sizes` holds what the symbols are, as far as that is known.
bool fits(int64_t given, const CompiledExtent &extent, const CompiledInterface &interface,
          std::map<size_t, int64_t> &sizes)
{
    if (!extent.symbol)
        return given == extent.number;
    const CompiledSymbol &symbol = interface.symbols[*extent.symbol];
    const int64_t size = given / extent.number;
    if (size * extent.number != given || size < symbol.least || size > symbol.most)
        return false;
    return sizes.emplace(*extent.symbol, size).first->second == size;
}

} // namespace

std::string fault_of_shapes(const CompiledInterface &interface,
                            const std::vector<std::vector<int64_t>> &shapes)
{
    if (shapes.size() != interface.inputs.size())
        return concat("the model takes ", interface.inputs.size(), " tensors, not ", shapes.size());
    std::map<size_t, int64_t> sizes;
    for (size_t i = 0; i < shapes.size(); i++) {
        const CompiledInput &input = interface.inputs[i];
        bool is_fit = shapes[i].size() == input.shape.size();
        for (size_t d = 0; is_fit && d < shapes[i].size(); d++)
            is_fit = fits(shapes[i][d], input.shape[d], interface, sizes);
        if (!is_fit)
            return concat("the model was compiled for ", in_words(input, interface.symbols), " as ",
                          input.name, ", not for ", list_of(shapes[i]));
    }
    return "";
}

bool CompiledPackage::is_one(const FileBytes &file)
{
    const std::vector<std::string> names = names_in_zip(file.bytes());
    return std::any_of(names.begin(), names.end(), [](const std::string &name) {
        return name.find(code_folder) != std::string::npos;
    });
}

CompiledPackage::CompiledPackage(FileBytes file) : file_(std::move(file))
{
    try {
        zip_.emplace(file_.bytes());
        read();
    } catch (const WeightFault &fault) {
        refuse(fault.what());
    } catch (const ZipDamage &) {
        refuse(damaged);
    } catch (const ZipOddity &oddity) {
        refuse(concat(oddity.what(), how_to_make));
    } catch (const Json::exception &) {
        refuse(
            concat("is an AOTInductor package that says too little about its code", how_to_make));
    }
}

void CompiledPackage::read()
{
    std::string_view folder_and_name;
    const ZipRecord *facts = nullptr;
    for (const ZipRecord &record : zip_->all()) {
        const std::string_view name = record.name;
        if (name.find(code_folder) == std::string_view::npos || !name.ends_with(code_end))
            continue;
        if (!code_.empty())
            fail(concat("of several models", how_to_make));
        if (record.stored_size != record.bytes.size())
            fail(concat("whose code is compressed", how_to_make));
        code_ = record.bytes;
        folder_and_name = name.substr(0, name.size() - code_end.size());
    }
    if (code_.empty())
        fail(concat("without a library of compiled code", how_to_make));
    for (const ZipRecord &record : zip_->all()) {
        if (record.name == concat(folder_and_name, "_metadata.json"))
            facts = &record;
        if (record.name == concat(folder_and_name, ".json"))
            fail(concat("whose code calls operators by their names, which is not supported",
                        how_to_make));
        if (record.name.find("data/weights/") != std::string::npos && !record.bytes.empty())
            fail(concat("whose weights are not in its code, which is not supported", how_to_make));
    }
    read_facts(facts ? facts->bytes : "{}");
}

void CompiledPackage::read_facts(std::string_view record)
{
    const Json metadata = parsed(record, "what AOTInductor says about it");
    if (!metadata.is_object() || !metadata.contains(facts_key))
        fail(concat("that does not say for which LibTorch and which processor its code was "
                    "compiled",
                    how_to_make));
    const auto text = metadata.at(facts_key).get<std::string>();
    const Json facts = parsed(text, "what models/export_model.py says about it");
    libtorch_ = engine_kit::printable(facts.at("libtorch").get<std::string>().substr(0, 40));
    machine_ = engine_kit::printable(facts.at("machine").get<std::string>().substr(0, 40));
    constexpr size_t most_instructions = 100;
    if (facts.at("instructions").size() > most_instructions)
        fail(concat("that names too many instructions", how_to_make));
    for (const Json &each : facts.at("instructions"))
        instructions_.push_back(engine_kit::printable(each.get<std::string>().substr(0, 20)));
    interface_ = interface_in(facts);
}

std::string CompiledPackage::contract() const
{
    constexpr int64_t most_multiple = 4096; // of a contract
    for (const CompiledInput &input : interface_.inputs) {
        if (input.shape.size() != 4)
            continue;
        std::vector<int64_t> shape;
        int64_t multiple = 1, minimum = 1;
        for (const CompiledExtent &extent : input.shape) {
            shape.push_back(extent.symbol ? -1 : extent.number);
            if (!extent.symbol)
                continue;
            minimum = std::max(minimum, interface_.symbols[*extent.symbol].least * extent.number);
            if (std::lcm(multiple, extent.number) <= most_multiple)
                multiple = std::lcm(multiple, extent.number);
        }
        return picture_contract(input.type, shape, false,
                                {.multiple = multiple, .minimum = minimum});
    }
    return "{}";
}

std::string CompiledPackage::hash() const
{
    return content_hash(file_.bytes());
}

void CompiledPackage::expect_for(std::string_view libtorch) const
{
    if (libtorch_ != libtorch)
        refuse(concat("is an AOTInductor package for LibTorch ", libtorch_, "; this is LibTorch ",
                      libtorch, ": export it with PyTorch ", libtorch));
    struct utsname here = {};
    if (uname(&here) == 0 && machine_ != here.machine)
        refuse(concat("is an AOTInductor package for ", machine_, "; this machine is ",
                      here.machine, ": export it on such a machine"));
    const std::set<std::string> known = instructions_here();
    for (const std::string &each : instructions_)
        if (known.count(plain(each)) == 0)
            refuse(concat("is an AOTInductor package for a processor with ", each,
                          ", which this one lacks: export it on this machine"));
    if (!is_whole_library(code_))
        refuse(damaged);
}

} // namespace engine_torch
