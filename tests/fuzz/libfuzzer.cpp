// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The same targets for libFuzzer, which finds its way by coverage: crashes, hangs and
// memory are its own matter, and what a target calls a fault ends the process.
#include "fuzz.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

extern "C" {
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
}

namespace
{

std::string_view text_of(const uint8_t *data, size_t size)
{
    return {reinterpret_cast<const char *>(data), size};
}

} // namespace

void fuzz::input_runs(bool) {}

int LLVMFuzzerInitialize(int *, char ***)
{
    setenv("DNN_TORCH_CACHE", "", 1);
    if (fuzz::target.prepare)
        fuzz::target.prepare({});
    std::string folder =
        (std::filesystem::temp_directory_path() / "dnn_torch_fuzz.XXXXXX").string();
    if (!mkdtemp(folder.data()))
        throw std::runtime_error("no folder " + folder);
    std::filesystem::current_path(folder);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const fuzz::Outcome outcome = fuzz::target.run(text_of(data, size));
    if (outcome.ending == fuzz::Ending::fault || outcome.ending == fuzz::Ending::out_of_memory) {
        std::fprintf(stderr, "FOUND %s\n", outcome.words.c_str());
        std::abort();
    }
    return 0;
}

// Its own changes at times: it knows what the code compares with.
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    fuzz::Random random(seed);
    if (random.one_in(2))
        return LLVMFuzzerMutate(data, size, most);
    std::string input(text_of(data, size));
    fuzz::target.change(input, fuzz::Family::rewriting, random, {input});
    input.resize(std::min(input.size(), most));
    std::memcpy(data, input.data(), input.size());
    return input.size();
}
