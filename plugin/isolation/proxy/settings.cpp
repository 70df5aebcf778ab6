// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "settings.h"

#include "base/compose.h"
#include "engine_kit/failure.h"
#include "engine_kit/sized.h"
#include "isolation/protocol/shared_memory.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <system_error>

namespace isolation
{
namespace
{

using dnn_torch::concat;
using engine_kit::element;
using engine_kit::Failure;
using engine_kit::taken;

constexpr double longest_seconds = 1e6;
constexpr int most_restarts = 1000000;

Limits::Limit after(double seconds)
{
    return std::chrono::microseconds(static_cast<int64_t>(seconds * 1e6));
}

template <size_t size> void put(std::string_view text, char (&field)[size], const char *what)
{
    if (text.size() >= size)
        throw Failure(DNN_TORCH_BAD_OPTION, concat(what, " is longer than ", size - 1, " bytes"));
    std::memcpy(field, text.data(), text.size());
}

template <class Number> Number number_of(std::string_view key, std::string_view text, Number most)
{
    Number number = 0;
    const char *end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, number);
    if (parsed.ec != std::errc() || parsed.ptr != end || !(number >= 0 && number <= most))
        throw Failure(DNN_TORCH_BAD_OPTION, concat(key, " '", text, "' is no number from 0 on"));
    return number;
}

// Returns true if the option is the proxy's own, and then takes it.
bool take_own(std::string_view key, std::string_view value, Settings &settings)
{
    OpenRequest &request = *settings.request;
    if (key == "engine")
        put(value, request.engine, "the name of the engine");
    else if (key == "timeout")
        settings.limits = Limits(number_of("timeout", value, longest_seconds));
    else if (key == "restarts")
        settings.restarts = number_of("restarts", value, most_restarts);
    else if (key != "cage")
        return false;
    else if (value != "require")
        throw Failure(DNN_TORCH_BAD_OPTION, concat("cage '", value, "' is not known; say require"));
    else
        request.cage_is_required = 1;
    return true;
}

void pass_on(std::string_view key, std::string_view value, OpenRequest &request)
{
    if (request.option_count == most_options)
        throw Failure(DNN_TORCH_BAD_OPTION, concat("more than ", most_options, " options"));
    WireOption &option = request.options[request.option_count++];
    put(key, option.key, "the name of an option");
    put(value, option.value, concat("the option ", key).c_str());
}

Descriptor share(const DnnTorchSource &source)
{
    Descriptor shared = source.fd < 0 ? make_constant_memory(source.data, source.data_size)
                                      : Descriptor(fcntl(source.fd, F_DUPFD_CLOEXEC, 0));
    if (!shared.is_open())
        throw Failure(DNN_TORCH_NO_FILE, concat("the model's file cannot be passed on: ",
                                                std::generic_category().message(errno)));
    return shared;
}

// Bytes are passed on as bytes, not as a file: an engine's messages about them may differ.
std::vector<Descriptor> share_all(const DnnTorchSource &source, OpenRequest &request)
{
    std::vector<Descriptor> files;
    request.data_size = source.fd < 0 ? static_cast<int64_t>(source.data_size) : -1;
    if (source.fd >= 0 || source.data)
        files.push_back(share(source));
    else
        request.data_size = -1;
    if (source.part_count > DNN_TORCH_PARTS || (files.empty() && source.part_count > 0))
        throw Failure(DNN_TORCH_BAD_INPUT, "the model is in too many files");
    for (; request.part_count < source.part_count; request.part_count++) {
        const DnnTorchSource part = taken(element(source.parts, request.part_count));
        put(dnn_torch::text_or_empty(part.name), request.part_names[request.part_count],
            "the name of one of the model's files");
        files.push_back(share(part));
    }
    return files;
}

} // namespace

// The limits make a call return soon after its caller has stopped waiting.
Limits::Limits(double timeout_seconds) : timeout_(timeout_seconds) {}

Limits::Limit Limits::open() const
{
    return timeout_ > 0 ? after(std::max(timeout_, 10.0) + 2) : std::nullopt;
}

Limits::Limit Limits::probe() const
{
    return timeout_ > 0 ? after(timeout_ + 2) : std::nullopt;
}

Limits::Limit Limits::plan(double budget_seconds) const
{
    const double budget = std::clamp(budget_seconds, 0.0, longest_seconds);
    return timeout_ > 0 ? after(4 * timeout_ + 2 * budget + 2) : std::nullopt;
}

Settings::Settings(const DnnTorchSource &given, const DnnTorchOption *options, size_t count)
    : request(std::make_unique<OpenRequest>())
{
    request->head.kind = Kind::open;
    put(given.name ? given.name : "", request->name, "the model's path");
    for (size_t i = 0; i < count; i++) {
        const std::string_view key = options[i].key ? options[i].key : "";
        const std::string_view value = options[i].value ? options[i].value : "";
        if (key == "results" && value == "tensors")
            results = Results::all_tensors;
        if (!value.empty() && !take_own(key, value, *this))
            pass_on(key, value, *request);
    }
    files = share_all(given, *request);
    if (given.sink > 0 && !files.empty())
        sink = Descriptor(fcntl(given.sink, F_DUPFD_CLOEXEC, 0));
}

} // namespace isolation
