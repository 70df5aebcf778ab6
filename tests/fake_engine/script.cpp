// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "script.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <sstream>
#include <string_view>
#include <unistd.h>
#include <variant>

namespace fake_engine
{
namespace
{

using Field =
    std::variant<int Script::*, int64_t Script::*, float Script::*, std::string Script::*>;

struct Key {
    std::string_view name;
    Field field;
};

const Key keys[] = {
    {"channels", &Script::channels},
    {"output_channels", &Script::output_channels},
    {"shrink", &Script::shrink},
    {"pad_to", &Script::pad_to},
    {"longest", &Script::longest},
    {"turn", &Script::turn},
    {"gain", &Script::gain},
    {"offset", &Script::offset},
    {"latency_us", &Script::latency_us},
    {"latency_random_us", &Script::latency_random_us},
    {"seed", &Script::seed},
    {"open_us", &Script::open_us},
    {"loads", &Script::loads},
    {"fail_open", &Script::fail_open},
    {"fail_rgb", &Script::fail_rgb},
    {"fail_rgb_status", &Script::fail_rgb_status},
    {"rgb_from", &Script::rgb_from},
    {"fail_session_open", &Script::fail_session_open},
    {"fail_at", &Script::fail_at},
    {"fail_at_run", &Script::fail_at_run},
    {"fail_text", &Script::fail_text},
    {"out_of_memory_at", &Script::out_of_memory_at},
    {"hang_at", &Script::hang_at},
    {"hang_open", &Script::hang_open},
    {"hang_tune", &Script::hang_tune},
    {"die_open", &Script::die_open},
    {"die_probe", &Script::die_probe},
    {"die_tune", &Script::die_tune},
    {"die_run", &Script::die_run},
    {"die_at", &Script::die_at},
    {"print", &Script::print},
    {"nan_at", &Script::nan_at},
    {"wrong_batch_at", &Script::wrong_batch_at},
    {"wrong_size_at", &Script::wrong_size_at},
    {"wrong_element_at", &Script::wrong_element_at},
    {"fail_tune", &Script::fail_tune},
    {"tuned_us", &Script::tuned_us},
    {"tuned_bytes", &Script::tuned_bytes},
    {"interleaved", &Script::interleaved},
    {"takes_integers", &Script::takes_integers},
    {"in_order", &Script::in_order},
    {"exclusive", &Script::exclusive},
    {"tells_turn", &Script::tells_turn},
    {"gives_up", &Script::gives_up},
    {"tells_samples", &Script::tells_samples},
    {"each_run", &Script::each_run},
    {"hint", &Script::hint},
    {"notice", &Script::notice},
    {"log", &Script::log},
    {"samples_log", &Script::samples_log},
};

std::string_view trimmed(std::string_view text)
{
    constexpr std::string_view blanks = " \t\r";
    const size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// False where `text` is not such a value alone.
template <class Value> bool parse(std::string_view text, Value &value)
{
    const char *end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, value);
    return result.ec == std::errc() && result.ptr == end;
}

bool parse(std::string_view text, std::string &value)
{
    value = text;
    return !text.empty();
}

bool parse_scale(std::string_view text, Script &script)
{
    const size_t slash = text.find('/');
    if (slash != std::string_view::npos && !parse(text.substr(slash + 1), script.reduce))
        return false;
    return parse(text.substr(0, slash), script.enlarge) && script.enlarge > 0 && script.reduce > 0;
}

bool assign(Script &script, const Field &field, std::string_view text)
{
    return std::visit([&](auto member) { return parse(text, script.*member); }, field);
}

const Key *find_key(std::string_view name)
{
    for (const Key &key : keys)
        if (key.name == name)
            return &key;
    return nullptr;
}

// Returns what is wrong with the line, or "".
std::string read_line(std::string_view line, Script &script)
{
    line = trimmed(line);
    if (line.empty() || line.front() == '#')
        return "";
    const size_t end = line.find_first_of(" \t");
    const std::string_view name = line.substr(0, end);
    const std::string_view text = trimmed(line.substr(std::min(end, line.size())));
    if (name == "tensor")
        return read_tensor(text, script.tensors.emplace_back());
    const Key *key = find_key(name);
    if (!key && name != "scale")
        return "unknown key '" + std::string(name) + "'";
    const bool good = key ? assign(script, key->field, text) : parse_scale(text, script);
    return good ? "" : "bad value '" + std::string(text) + "' of " + std::string(name);
}

// The text of a source, by pread(): the position of the descriptor is the caller's.
std::string text_of(const DnnTorchSource &source)
{
    const std::string name = source.name ? source.name : "";
    if (source.fd < 0 && !source.data)
        throw Failure(DNN_TORCH_BAD_OPTION, "no model is given; name one with model=FILE");
    if (source.fd < 0)
        return {static_cast<const char *>(source.data), source.data_size};
    std::string text;
    char part[4096];
    for (ssize_t got = 1; got > 0;
         text.append(part, static_cast<size_t>(std::max<ssize_t>(got, 0))))
        if ((got = pread(source.fd, part, sizeof part, static_cast<off_t>(text.size()))) < 0)
            throw Failure(DNN_TORCH_NO_FILE, "'" + name + "' cannot be read: " + strerror(errno));
    return text;
}

} // namespace

Script read_script(const DnnTorchSource &source)
{
    Script script;
    std::istringstream lines(text_of(source));
    std::string line;
    for (int number = 1; std::getline(lines, line); number++)
        if (const std::string wrong = read_line(line, script); !wrong.empty())
            throw Failure(DNN_TORCH_BAD_MODEL, "'" + std::string(source.name) + "' line " +
                                                   std::to_string(number) + ": " + wrong);
    return script;
}

} // namespace fake_engine
