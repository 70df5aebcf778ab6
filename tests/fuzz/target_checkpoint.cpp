// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Files of weights: what reads them, finds the model's among them and recognises its architecture.
#include "change_model.h"
#include "changes.h"
#include "digest.h"
#include "engines/torch/architectures/architecture.h"
#include "engines/torch/checkpoint/checkpoint.h"
#include "reading.h"

#include <cstring>
#include <string>
#include <string_view>

namespace
{

using fuzz::Ending;
using fuzz::Outcome;

// Reads all bytes of all tensors, which must lie in the file.
uint64_t digest_of(const engine_torch::Candidates &candidates)
{
    fuzz::Digest digest;
    for (const auto &candidate : candidates)
        for (const auto &[name, weight] : candidate.weights.all()) {
            digest.add(name);
            digest.add(weight.shape.data(), weight.shape.size() * sizeof(int64_t));
            digest.add(weight.bytes);
        }
    return digest.value();
}

Outcome read(const DnnTorchSource &source)
{
    engine_torch::FileBytes file(source);
    if (!engine_torch::Checkpoint::is_one(file))
        return {Ending::refused, 0, "is no checkpoint"};
    try {
        const engine_torch::Checkpoint checkpoint(std::move(file));
        const uint64_t digest = digest_of(checkpoint.candidates());
        engine_torch::recognise(checkpoint.candidates());
        return {Ending::accepted, digest, ""};
    } catch (const engine_torch::WeightFault &fault) {
        return {Ending::refused, 0, fault.what()};
    }
}

Outcome run(std::string_view input)
{
    return fuzz::outcome_of_reading(input, "weights.pth", read);
}

const fuzz::Language language = {{"{",
                                  "}",
                                  "[",
                                  "]",
                                  "\"",
                                  ":",
                                  ",",
                                  "dtype",
                                  "shape",
                                  "F32",
                                  "BF16",
                                  "F8_E4M3",
                                  "I64",
                                  "BOOL",
                                  "F4",
                                  "data_offsets",
                                  "0",
                                  "1",
                                  "-1",
                                  "4294967296",
                                  "1e3",
                                  "9223372036854775807",
                                  "18446744073709551616",
                                  "__metadata__",
                                  "null",
                                  "\\u0000",
                                  "format"},
                                 2000};

// A file of safetensors begins with the length of its description, which fits again.
bool change_description(std::string &input, fuzz::Random &random, const fuzz::Inputs &seeds,
                        std::string &words)
{
    uint64_t length = 0;
    if (input.size() < sizeof length)
        return false;
    std::memcpy(&length, input.data(), sizeof length);
    if (length > input.size() - sizeof length)
        return false;
    std::string text = input.substr(sizeof length, length);
    words = fuzz::change_text(text, random, language, seeds);
    input.replace(sizeof length, length, text);
    length = text.size();
    std::memcpy(input.data(), &length, sizeof length);
    return true;
}

// Numbers are most of a file, and what describes them stands before them.
std::string change(std::string &input, fuzz::Family family, fuzz::Random &random,
                   const fuzz::Inputs &seeds)
{
    constexpr size_t head = 1200;
    if (input.compare(0, 2, "PK") == 0)
        return fuzz::change_model(input, family, random, seeds);
    std::string words;
    if (family == fuzz::Family::rewriting && change_description(input, random, seeds, words))
        return words;
    return random.one_in(4) ? fuzz::change_bytes(input, random, seeds)
                            : fuzz::change_bytes(input, random, seeds, 0, head);
}

} // namespace

const fuzz::Target fuzz::target = {
    .name = "checkpoint",
    .prepare = nullptr,
    .run = run,
    .change = change,
    .damage_must_show = false, // two of the formats have no check sums
    .seconds = 10,
    .memory = uint64_t{1} << 29,
    .inputs_a_fork = 1000,
};
