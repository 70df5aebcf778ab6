// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "architecture.h"

#include "base/compose.h"
#include "near_miss.h"

#include <algorithm>
#include <string>

namespace engine_torch
{
namespace
{

using dnn_torch::concat;

// In order: the first one that recognises the weights is used.
const Architecture *const architectures[] = {
    &atd,      &animesr,    &dat,    &drct,  &hat,     &ifrnet,      &omnisr,    &rgt,
    &srformer, &swin2sr,    &swinir, &cain,  &compact, &cugan,       &denoisers, &edsr,
    &esrgan,   &fastdvdnet, &fsrcnn, &mosr,  &plksr,   &rcan,        &rife,      &rvm,
    &scunet,   &sofvsr,     &span,   &srcnn, &tecogan, &temporalfix, &tscunet,   &vdsr,
};

std::string shape_text(const Weight &weight)
{
    std::string text;
    for (const int64_t size : weight.shape)
        dnn_torch::add_to_list(text, std::to_string(size), "x");
    return text;
}

// Returns "412 tensors (conv_first.weight 64x3x3x3, ...)".
std::string words_for(const Weights &weights)
{
    constexpr size_t most = 3, longest = 80;
    std::string list;
    size_t count = 0;
    for (const auto &[name, weight] : weights.all()) {
        if (count++ == most)
            break;
        dnn_torch::add_to_list(list, concat(name.substr(0, longest), " ", shape_text(weight)));
    }
    return concat(dnn_torch::counted(weights.all().size(), "tensor"), " (", list,
                  weights.all().size() > most ? ", ...)" : ")");
}

const Architecture *find_architecture(const Weights &weights)
{
    for (const Architecture *each : architectures)
        if (each->recognises(weights))
            return each;
    return nullptr;
}

// Says how to export a file that contains a module without its code.
std::string export_of(const std::string &module)
{
    if (module.starts_with("ultralytics."))
        return "export it with Ultralytics' own program: yolo export model=FILE "
               "format=torchscript";
    if (module.starts_with("models.yolo."))
        return "export it in the folder of YOLOv5 or YOLOv7 that it was made with: python "
               "export.py --weights FILE";
    return "in Python, where that code is: torch.jit.trace(torch.load('FILE', "
           "weights_only=False).eval(), torch.rand(1, 3, 64, 64)).save('model.pt')";
}

void refuse_near_miss(const Candidates &candidates)
{
    constexpr size_t most = 8; // each takes a moment
    for (size_t i = 0; i < std::min(candidates.size(), most); i++)
        for (const Architecture *each : architectures)
            if (const std::string name = missing_weight(*each, candidates[i].weights);
                !name.empty())
                throw WeightFault(concat("looks like ", each->name, ", but lacks ", name));
}

[[noreturn]] void refuse(const Candidates &candidates)
{
    const Candidate &largest = largest_of(candidates);
    if (!largest.fault.empty())
        throw WeightFault(largest.fault);
    if (largest.weights.has_any("deform_align.") ||
        largest.weights.has_any("generator.deform_align."))
        throw WeightFault(
            "looks like BasicVSR++, which does not run from its weights: export it "
            "as TorchScript, with torchvision's deform_conv2d, for length=15; SOFVSR, "
            "TSCUNet, TecoGAN and AnimeSR run as they are");
    refuse_near_miss(candidates);
    if (!largest.module.empty())
        throw WeightFault(concat("is a whole module (", largest.module,
                                 ") of an architecture that is not known here, and its code is "
                                 "not in the file: it has ",
                                 words_for(largest.weights), "; ", export_of(largest.module)));
    throw WeightFault(concat("is a checkpoint of an architecture that is not known here: it has ",
                             words_for(largest.weights),
                             "; export the model with torch.jit.trace: docs/i-have.md says how, "
                             "and docs/models.md which architectures are known"));
}

} // namespace

Recognised recognise(const Candidates &candidates)
{
    std::string first_fault;
    for (const Candidate &candidate : candidates) {
        const Architecture *architecture = find_architecture(candidate.weights);
        if (!architecture)
            continue;
        try {
            if (!candidate.fault.empty())
                throw WeightFault(candidate.fault);
            return {.network = architecture->build(candidate.weights), .candidate = &candidate};
        } catch (const WeightFault &fault) {
            if (first_fault.empty())
                first_fault = fault.what();
        }
    }
    if (!first_fault.empty())
        throw WeightFault(first_fault);
    refuse(candidates);
}

} // namespace engine_torch
