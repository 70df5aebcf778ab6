// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "architecture.h"

#include "base/compose.h"

#include <string>

namespace engine_torch
{
namespace
{

using dnn_torch::concat;

// The first that recognises the weights is taken.
const Architecture *const architectures[] = {
    &compact,
};

std::string shape_text(const Weight &weight)
{
    std::string text;
    for (const int64_t size : weight.shape)
        dnn_torch::add_to_list(text, std::to_string(size), "x");
    return text;
}

// "412 tensors (conv_first.weight 64x3x3x3, ...)".
std::string words_for(const Weights &weights)
{
    constexpr size_t most = 3;
    std::string list;
    size_t count = 0;
    for (const auto &[name, weight] : weights.all()) {
        if (count++ == most)
            break;
        dnn_torch::add_to_list(list, concat(name, " ", shape_text(weight)));
    }
    return concat(weights.all().size(), " tensors (", list,
                  weights.all().size() > most ? ", ...)" : ")");
}

} // namespace

Blueprint recognise(const Weights &weights)
{
    for (const Architecture *each : architectures)
        if (each->recognises(weights))
            return each->build(weights);
    throw WeightFault(concat("is a checkpoint of an architecture that is not known here: it has ",
                             words_for(weights),
                             "; export the model with torch.jit.trace, or see docs/models.md for "
                             "the architectures that are known"));
}

} // namespace engine_torch
