// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "contract.h"

#include "base/compose.h"
#include "contract_fields.h"
#include "host/error.h"

extern "C" {
#include <libavutil/error.h>
}

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dnn_torch
{
namespace
{

constexpr size_t largest_file = size_t{1} << 20;

[[noreturn]] void refuse_file(const std::string &path, const std::string &words)
{
    throw Error(AVERROR(EINVAL), concat("the contract '", path, "' ", words));
}

} // namespace

std::string contract_path(const std::string &model_path)
{
    return model_path + ".json";
}

// Never waits for a pipe.
std::optional<std::string> contract_text(const std::string &path)
{
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG))
        return std::nullopt;
    if (file < 0)
        refuse_file(path, concat("cannot be read: ", strerror(errno)));
    std::string text(largest_file + 1, '\0');
    struct stat about;
    const bool is_file = fstat(file, &about) == 0 && S_ISREG(about.st_mode);
    const ssize_t size = is_file ? pread(file, text.data(), text.size(), 0) : -1;
    close(file);
    if (size < 0)
        refuse_file(path, "is not a file that can be read");
    if (static_cast<size_t>(size) > largest_file)
        refuse_file(path, "has more than 1 MiB");
    text.resize(static_cast<size_t>(size));
    return text;
}

Contract read_contract(const ContractOptions &options, const std::string &model_path)
{
    Contract contract;
    const std::string path = contract_path(model_path);
    if (const std::optional<std::string> text = contract_text(path))
        apply_json(*text, path, contract);
    apply_options(options, contract);
    return contract;
}

std::string contract_in_words(const Contract &contract)
{
    std::string words;
    for (const auto &[name, origin] : contract.origins) {
        const size_t dot = name.find('.');
        const bool is_input = name.substr(0, dot) == "input";
        add_to_list(words, concat(name, " ",
                                  field_in_words(name.substr(dot + 1),
                                                 is_input ? contract.input : contract.output),
                                  " (", origin, ")"));
    }
    return words;
}

void apply_options(const ContractOptions &options, Contract &contract)
{
    const std::pair<const char *, const std::string &> given[] = {{"range", options.range},
                                                                  {"order", options.order},
                                                                  {"mean", options.mean},
                                                                  {"std", options.std}};
    for (const auto &[name, text] : given) {
        if (text.empty())
            continue;
        set_field_from_text(name, text, contract.input);
        contract.origins[concat("input.", name)] = "option";
        // What comes out has the same range and order, unless the file says otherwise.
        if (is_field_of_output(name) && contract.origins.count(concat("output.", name)) == 0)
            set_field_from_text(name, text, contract.output);
    }
}

} // namespace dnn_torch
