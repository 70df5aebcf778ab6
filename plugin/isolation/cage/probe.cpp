// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cage.h"
#include "child_text.h"

#include "base/compose.h"

#include <algorithm>
#include <string_view>

namespace dnn_torch
{
namespace
{

constexpr unsigned patience_s = 10;

// A line for each layer: "NAME", a tab, and the reason.
std::string as_text(const std::vector<CageLayer> &layers)
{
    std::string text;
    for (const CageLayer &layer : layers)
        text += concat(layer.name, "\t", layer.reason, "\n");
    return text;
}

std::vector<CageLayer> from_text(std::string_view text)
{
    std::vector<CageLayer> layers;
    while (!text.empty()) {
        size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        size_t tab = std::min(line.find('\t'), line.size());
        std::string_view reason = line.substr(std::min(tab + 1, line.size()));
        layers.push_back({.name = std::string(line.substr(0, tab)),
                          .closed = reason.empty(),
                          .reason = std::string(reason)});
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return layers;
}

std::vector<CageLayer> none_closed(const std::string &reason)
{
    std::vector<CageLayer> layers;
    for (const char *name : {"limits", "privileges", "Landlock", "seccomp"})
        layers.push_back({.name = name, .closed = false, .reason = reason});
    return layers;
}

} // namespace

std::vector<CageLayer> probe_cage()
{
    const ChildText found = text_of_child([] { return as_text(close_cage({})); }, patience_s);
    return found.failure.empty() ? from_text(found.text) : none_closed(found.failure);
}

} // namespace dnn_torch
