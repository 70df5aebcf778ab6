// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// ONNX files: what reads them and writes their operators as code.
#include "changes.h"
#include "digest.h"
#include "engines/torch/onnx/onnx_network.h"
#include "reading.h"

#include <string>
#include <string_view>

namespace
{

using fuzz::Ending;
using fuzz::Outcome;

// Reads all bytes of all tensors, which must lie in the file.
uint64_t digest_of(const engine_torch::OnnxNetwork &network)
{
    fuzz::Digest digest;
    digest.add(network.network.source);
    digest.add(network.contract);
    for (const auto &[name, weight] : network.weights.all()) {
        digest.add(name);
        digest.add(weight.shape.data(), weight.shape.size() * sizeof(int64_t));
        digest.add(weight.bytes);
    }
    return digest.value();
}

Outcome read(const DnnTorchSource &source)
{
    engine_torch::FileBytes bytes(source);
    if (!engine_torch::OnnxFile::is_one(bytes))
        return {Ending::refused, 0, "is no ONNX file"};
    const engine_torch::OnnxFile file(std::move(bytes));
    return {Ending::accepted, digest_of(file.network()), ""};
}

Outcome run(std::string_view input)
{
    return fuzz::outcome_of_reading(input, "net.onnx", read);
}

std::string change(std::string &input, fuzz::Family, fuzz::Random &random,
                   const fuzz::Inputs &seeds)
{
    return fuzz::change_bytes(input, random, seeds);
}

} // namespace

const fuzz::Target fuzz::target = {
    .name = "onnx",
    .prepare = nullptr,
    .run = run,
    .change = change,
    .damage_must_show = false, // the format has no check sums
    .seconds = 10,
    .memory = uint64_t{1} << 29,
    .inputs_a_fork = 1000,
};
