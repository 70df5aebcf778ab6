// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "graph_contract.h"

#include "base/compose.h"

namespace engine_torch
{
namespace
{

using dnn_torch::concat;

bool is_colours(int64_t channels)
{
    return channels == 1 || channels == 3 || channels == 4;
}

} // namespace

std::string picture_contract(std::optional<ElementType> type, const std::vector<int64_t> &shape,
                             bool is_any_size, const SizeRules &rules)
{
    const bool ends_with_channels = !is_colours(shape[1]) && is_colours(shape[3]);
    const size_t channels = ends_with_channels ? 3 : 1, height = ends_with_channels ? 1 : 2;
    std::string fields;
    if (type == ElementType::uint8)
        dnn_torch::add_to_list(fields, R"("type": "uint8")");
    if (ends_with_channels)
        dnn_torch::add_to_list(fields, R"("layout": "nhwc")");
    if (is_colours(shape[channels]))
        dnn_torch::add_to_list(fields, concat(R"("channels": )", shape[channels]));
    if (shape[height] > 0 && shape[height + 1] > 0 && !is_any_size)
        dnn_torch::add_to_list(fields,
                               concat(R"("size": [)", shape[height + 1], ", ", shape[height], "]"));
    if (rules.multiple > 1)
        dnn_torch::add_to_list(fields, concat(R"("multiple": )", rules.multiple));
    if (rules.minimum > 1)
        dnn_torch::add_to_list(fields, concat(R"("minimum": )", rules.minimum));
    return concat(R"({"input": {)", fields, "}}");
}

} // namespace engine_torch
