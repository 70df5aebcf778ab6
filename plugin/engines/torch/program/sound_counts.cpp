// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "sound_counts.h"

#include <algorithm>
#include <cstdint>
#include <torch/library.h>

namespace engine_torch
{
namespace
{

at::Tensor check_counts(const at::Tensor &counts, bool may_be_empty)
{
    constexpr int64_t most = int64_t{1} << 31;
    TORCH_CHECK(may_be_empty || counts.numel() != 0, "there should be one count or more");
    const at::Tensor numbers = counts.detach().to(at::kCPU, at::kLong).contiguous();
    const auto *first = numbers.data_ptr<int64_t>();
    TORCH_CHECK(std::all_of(first, first + numbers.numel(),
                            [](int64_t count) { return count >= 0 && count <= most; }),
                "counts should be from 0 to 2 ** 31");
    return counts.clone();
}

} // namespace

// LibTorch keeps what a library has registered as long as the library lives.
void register_sound_counts()
{
    static const torch::Library ours = [] {
        torch::Library made(torch::Library::FRAGMENT, "dnn_torch", {}, __FILE__, __LINE__);
        made.def("sound_counts(Tensor counts, bool may_be_empty) -> Tensor", &check_counts);
        return made;
    }();
}

} // namespace engine_torch
