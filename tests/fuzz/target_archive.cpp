// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The checks that a model file gets before LibTorch sees it, alone: quick, and without a
// library that no sanitizer looks into.
#include "change_model.h"
#include "digest.h"
#include "engines/torch/file/archive.h"
#include "reading.h"

namespace
{

using fuzz::Ending;
using fuzz::Outcome;

uint64_t digest_of(const engine_torch::Archive &archive)
{
    fuzz::Digest digest;
    for (const auto &[name, bytes] : archive.records()) {
        digest.add(name);
        digest.add(bytes);
    }
    return digest.value();
}

Outcome run(std::string_view input)
{
    return fuzz::outcome_of_reading(input, "model.pt", [](const DnnTorchSource &source) -> Outcome {
        const engine_torch::Archive archive{engine_torch::FileBytes(source)};
        return {Ending::accepted, digest_of(archive), ""};
    });
}

} // namespace

const fuzz::Target fuzz::target = {
    .name = "archive",
    .prepare = nullptr,
    .run = run,
    .change = fuzz::change_model,
    .damage_must_show = true,
    .seconds = 10,
    .memory = uint64_t{1} << 29,
    .inputs_a_fork = 1000,
};
