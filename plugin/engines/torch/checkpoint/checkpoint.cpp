// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "checkpoint.h"

#include "engine_kit/content_hash.h"
#include "safetensors.h"

#include <algorithm>

namespace engine_torch
{

bool Checkpoint::is_one(const FileBytes &file)
{
    return is_safetensors(file.bytes()) || TorchFile::is_one(file.bytes());
}

Checkpoint::Checkpoint(FileBytes file) : file_(std::move(file))
{
    try {
        read();
    } catch (const WeightFault &fault) {
        refuse(fault.what());
    }
}

void Checkpoint::read()
{
    if (is_safetensors(file_.bytes())) {
        format_ = "safetensors";
        candidates_ = find_candidates(read_safetensors(file_.bytes()));
    } else {
        torch_file_.emplace(file_.bytes());
        format_ = torch_file_->format();
        candidates_ = find_candidates(*torch_file_);
    }
    for (Candidate &candidate : candidates_)
        if (candidate.weights.named_scale() == 0)
            candidate.weights.set_named_scale(scale_in_name(file_.name()));
}

size_t Checkpoint::tensor_count() const
{
    if (!torch_file_)
        return candidates_.front().weights.all().size();
    const std::vector<PickledValue> &all = torch_file_->pickle().all();
    return static_cast<size_t>(std::count_if(all.begin(), all.end(), [](const auto &value) {
        return value.kind == PickledValue::Kind::tensor;
    }));
}

std::string Checkpoint::hash() const
{
    return content_hash(file_.bytes());
}

} // namespace engine_torch
