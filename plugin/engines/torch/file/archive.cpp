// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "archive.h"

#include "engine_kit/content_hash.h"
#include "file_contract.h"
#include "other_files.h"
#include "pickle_check.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace engine_torch
{
namespace
{

constexpr std::string_view code_folder = "code/", code_extension = ".py", data_folder = "data/",
                           constants_folder = "constants/", extra_folder = "extra/";

// Whether LibTorch reads the record.  Does not include records of older formats and debug
// information: "model.json", "code/x.py.debug_pkl".
bool is_needed(std::string_view name)
{
    return name == "data.pkl" || name == "constants.pkl" || name == "version" ||
           name == ".data/version" || name == "byteorder" || name.starts_with(data_folder) ||
           name.starts_with(constants_folder) ||
           (name.starts_with(code_folder) && name.ends_with(code_extension));
}

bool is_known_extra(std::string_view name)
{
    return name.starts_with(extra_folder) &&
           (name.substr(extra_folder.size()) == own_contract_record ||
            name.substr(extra_folder.size()) == ultralytics_record);
}

// Returns "__torch__.nets" for "code/__torch__/nets.py".
std::string module_of(std::string_view name)
{
    name.remove_prefix(code_folder.size());
    name.remove_suffix(code_extension.size());
    std::string module(name);
    std::replace(module.begin(), module.end(), '/', '.');
    return module;
}

bool is_short_number(std::string_view text)
{
    return !text.empty() && text.size() <= 9 &&
           text.find_first_not_of("0123456789") == std::string_view::npos;
}

constexpr std::string_view torch_root = "__torch__.", custom_classes = "torch.classes.";

} // namespace

Archive::Archive(FileBytes file) : file_(std::move(file))
{
    refuse_other_files(file_);
    try {
        zip_.emplace(file_.bytes());
        refuse_other_archives(file_, zip_->all());
        take_records();
        check_code();
        check_values("constants");
        check_values("data");
    } catch (const ZipDamage &) {
        file_.refuse("is cut short or damaged; copy or download it again");
    } catch (const ZipOddity &oddity) {
        file_.refuse(oddity.what() + std::string("; save the model again with PyTorch"));
    } catch (const PickleFault &fault) {
        file_.refuse(fault.what());
    } catch (const SourceFault &fault) {
        file_.refuse(fault.what() +
                     std::string("; take the file as torch.jit.save() has written it"));
    }
}

void Archive::take_records()
{
    const std::string &first = zip_->all().front().name;
    const std::string folder = first.substr(0, first.find('/') + 1);
    for (const ZipRecord &record : zip_->all()) {
        if (folder.empty() || !record.name.starts_with(folder))
            throw ZipOddity("has records that do not lie in one folder");
        const std::string name = record.name.substr(folder.size());
        if (is_needed(name))
            records_.emplace(name, record.bytes);
        else if (is_known_extra(name))
            extras_.emplace(name.substr(extra_folder.size()), record.bytes);
    }
    const size_t versions = records_.count("version") + records_.count(".data/version");
    if (!records_.count("data.pkl") || !records_.count("constants.pkl") || versions != 1)
        throw ZipOddity("lacks a part that every TorchScript file has");
    for (const char *version : {"version", ".data/version"})
        if (const auto found = records_.find(version); found != records_.end()) {
            const std::string_view text = found->second;
            if (!is_short_number(text.substr(0, text.find_last_not_of('\n') + 1)))
                throw ZipOddity("does not say which version of the format it has");
        }
    const auto order = records_.find("byteorder");
    if (order != records_.end() && order->second != "little")
        throw ZipOddity("was saved on a machine with the other byte order");
}

void Archive::check_code()
{
    SourceCheck check;
    for (const auto &[name, bytes] : records_)
        if (name.starts_with(code_folder))
            check.add(module_of(name), bytes);
    facts_ = check.finish();
}

std::optional<uint64_t> Archive::size_of(const std::string &name) const
{
    const auto found = records_.find(name);
    return found == records_.end() ? std::nullopt : std::optional<uint64_t>(found->second.size());
}

void Archive::check_values(const std::string &name)
{
    const auto classes = check_pickle(records_.at(name + ".pkl"), [&](std::string_view key) {
        return is_short_number(key) ? size_of(name + '/' + std::string(key)) : std::nullopt;
    });
    for (const std::string &whole : classes) {
        const std::string plain = whole.substr(torch_root.size());
        if (plain.starts_with(custom_classes))
            facts_.classes.insert(plain);
        if (plain.starts_with(custom_classes))
            facts_.runs_while_loading = true;
    }
}

std::string Archive::hash() const
{
    return content_hash(file_.bytes());
}

} // namespace engine_torch
