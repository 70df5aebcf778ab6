// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "subject.h"

#include "base/compose.h"
#include "base/terminal.h"
#include "host/model/contract_inputs.h"
#include "host/probing/interpolator.h"
#include "host/probing/model_contract.h"
#include "probed_contract.h"

extern "C" {
#include <libavutil/error.h>
}

#include <cerrno>
#include <cstdio>

namespace dnn_torch
{
namespace
{

constexpr double seconds_to_try = 8;

std::optional<Size> try_size(Model &model, Size size, int channels)
{
    try {
        return probe_picture(model, size, channels).size;
    } catch (const AnyError &error) {
        if (error.code() == AVERROR(ENOMEM) || error.code() == AVERROR(ETIMEDOUT))
            throw;
        return std::nullopt;
    }
}

std::optional<FoundSizes> find_sizes_of(Model &model, int channels,
                                        const std::optional<Size> &first)
{
    return find_sizes([&](Size size) { return try_size(model, size, channels); }, seconds_to_try,
                      first);
}

// Throws the filter's error for a video of that size.
[[noreturn]] void refuse_sizes(ModelProbe &probe, const std::optional<Size> &size)
{
    try {
        probe.find_output(size.value_or(Size{small_extent, small_extent}), 3);
    } catch (const AnyError &error) {
        std::string words = error.what();
        throw Error(error.code(), words + "; if it takes pictures of another size, name one with "
                                          "--size");
    }
    throw Error(AVERROR(EINVAL), "the model is too slow to be tried; name a smaller size with "
                                 "--size");
}

// Opens a model that takes two frames and the time between them.  Throws `why` if it does not.
ModelWithContract open_between(const Error &why, const Request &request,
                               const ModelOptions &options, const OpenFile &open)
try {
    ModelWithContract opened =
        open_interpolator(request.contract, contract_file(request), options, open);
    if (!takes_time(opened.contract))
        throw why;
    opened.contract.model.task = "interpolate";
    opened.contract.origins["task"] = "probe";
    return opened;
} catch (const Error &) {
    throw why;
}

// Adds the options that all models of a request share.
std::shared_ptr<Model> open_as(const Backend &backend, const Request &request, ModelOptions options)
{
    options.path = request.path;
    options.timeout = request.timeout;
    options.isolated = backend.engine.isolated;
    options.cage_required = request.isolation == Isolation::required;
    return std::make_shared<Model>(*backend.engine.engine, options);
}

} // namespace

Backend find_backend(const Request &request)
{
    DeviceChoice device = choose_device(request.device, request.engine);
    EngineChoice engine = choose_engine(request.engine, device.device, request.isolation);
    if (engine.is_incomplete)
        fprintf(stderr, "dnn-torch: %s\n", printable(engine.why_here).c_str());
    return {.engine = std::move(engine), .device = std::move(device)};
}

std::shared_ptr<Model> open_to_inspect(const Backend &backend, const Request &request)
{
    ModelOptions options;
    options.inspect = true;
    return open_as(backend, request, std::move(options));
}

std::string export_model(const Backend &backend, const Request &request, const std::string &format,
                         std::shared_ptr<const Descriptor> sink)
{
    ModelOptions options;
    options.export_as = format;
    options.sink = std::move(sink);
    return open_as(backend, request, std::move(options))->notice();
}

ModelWithContract open_model(const Backend &backend, const Request &request,
                             const std::string &precision, const std::string &results)
{
    ModelOptions options;
    options.device = backend.device.device;
    options.input_name = request.input;
    options.output_name = request.output;
    options.precision = precision;
    options.optimize = request.optimize;
    options.results = results;
    options.allow = request.allow;
    const auto open = [&](const ModelOptions &each) { return open_as(backend, request, each); };
    ModelWithContract opened;
    try {
        opened = open_with_contract(request.contract, contract_file(request), options, open);
    } catch (const Error &error) {
        if (!results.empty() || !request.contract.inputs.empty())
            throw;
        opened = open_between(error, request, options, open);
    }
    for (const PictureInput &picture : opened.contract.pictures)
        if (!picture.frame && !picture.is_plane())
            throw Error(AVERROR(ENOSYS), "the model takes an extra picture with each frame, '" +
                                             picture.name + "', which only the filter gives it");
    return opened;
}

// A model that refuses all channels at the first size may take some at another size.
Trials try_model(const ModelWithContract &subject, const Request &request)
{
    if (makes_class_maps(subject.contract))
        throw Error(AVERROR(ENOSYS), "as=index, as=colors and classes show a segmentation, which "
                                     "the filter tries and this program does not");
    const std::shared_ptr<Model> &model = subject.model;
    const Contract &contract = subject.contract;
    ModelProbe probe(model, contract.time, extra_channels(contract));
    const auto all = [&](int frame_channels) { return input_channels(contract, frame_channels); };
    const FoundChannels found = probe.find_channels(subject.contract.as);
    Channels channels = found.channels;
    const int first = count_of(channels), output = found.made ? found.made : first;
    const std::optional<Size> size = request.size ? request.size : subject.contract.sizes.only;
    std::optional<FoundSizes> sizes;
    if (channels != Channels::luma)
        sizes = find_sizes_of(*model, all(first), size);
    if (sizes && channels == Channels::any && !try_size(*model, sizes->tried, all(1)))
        channels = Channels::rgb;
    if (sizes)
        return {.channels = channels,
                .output_channels = output,
                .sizes = *sizes,
                .input_channels = all(count_of(channels))};
    sizes = find_sizes_of(*model, all(1), size);
    if (!sizes)
        refuse_sizes(probe, size);
    return {.channels = Channels::luma,
            .output_channels = channels == Channels::luma ? output : 1,
            .sizes = *sizes,
            .input_channels = all(1)};
}

std::vector<std::pair<std::string, std::string>> filter_options(const Request &request,
                                                                const Model &model)
{
    std::vector<std::pair<std::string, std::string>> options;
    ModelRequest given = request;
    if (!model.metadata("ignores_input").empty())
        given.input.clear();
    if (!model.metadata("ignores_output").empty())
        given.output.clear();
    for (const ModelOption &row : model_option_rows)
        if (const std::string &value = row.text_in(given);
            !row.programs.empty() && !value.empty() && value != text_or_empty(row.default_value))
            options.emplace_back(row.name, value);
    if (request.isolation != Isolation::automatic)
        options.emplace_back("isolate", name_of(request.isolation));
    return options;
}

} // namespace dnn_torch
