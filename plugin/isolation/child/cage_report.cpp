// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cage_report.h"

#include "base/compose.h"
#include "engine_kit/failure.h"
#include "isolation/cage/cage.h"

#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace isolation
{
namespace
{

using dnn_torch::CageLayer;

std::string_view device_of(const OpenRequest &request)
{
    for (size_t i = 0; i < request.option_count; i++)
        if (std::string_view(request.options[i].key) == "device")
            return request.options[i].value;
    return "cpu";
}

std::string report_of(const std::vector<CageLayer> &layers)
{
    std::string closed, open;
    for (const CageLayer &layer : layers)
        if (layer.closed)
            dnn_torch::add_to_list(closed, layer.name);
        else
            dnn_torch::add_to_list(open, dnn_torch::concat(layer.name, " (", layer.reason, ")"));
    std::string report = closed.empty() ? "" : "closed: " + closed;
    if (!open.empty())
        report += (report.empty() ? "open: " : "; open: ") + open;
    return report;
}

void check_closed(const std::vector<CageLayer> &layers)
{
    for (const CageLayer &layer : layers)
        if (!layer.closed)
            throw engine_kit::Failure(
                DNN_TORCH_BAD_OPTION,
                dnn_torch::concat("isolate=require demands what the system does not grant: ",
                                  layer.name, " (", layer.reason, "); isolate=1 goes without it"));
}

// The engine opens these libraries when a model needs them.
std::vector<std::string> readable_besides_libraries()
{
    std::vector<std::string> paths;
    for (const char *variable : {"DNN_TORCH_TORCHVISION", "DNN_TORCH_ONNX_RUNTIME"})
        if (const char *named = secure_getenv(variable); named && *named == '/')
            paths.emplace_back(named);
    return paths;
}

} // namespace

std::string enter_cage(const DnnTorchEngine &engine, const OpenRequest &request)
{
    std::function<void()> open_gpu; // listing devices tries each
    if (device_of(request) != "cpu")
        open_gpu = [&engine] { engine.list_devices(nullptr, 0); };
    const std::vector<CageLayer> layers =
        dnn_torch::close_cage({.readable = readable_besides_libraries(),
                               .open_gpu = std::move(open_gpu),
                               .memory_bytes = request.memory_bytes});
    if (request.cage_is_required)
        check_closed(layers);
    return report_of(layers);
}

} // namespace isolation
