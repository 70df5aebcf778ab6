// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "sound_arguments.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <torch/library.h>
#include <vector>

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

// A size may be rounded up or down.
bool is_scaled(int64_t size, int64_t before, double scale)
{
    constexpr double rounding = 1 + 1e-5;
    return std::abs(static_cast<double>(size) - static_cast<double>(before) * scale) < rounding;
}

std::vector<int64_t> check_sizes(const at::Tensor &input, at::IntArrayRef sizes, int64_t from_last,
                                 double scale)
{
    const auto count = static_cast<int64_t>(sizes.size());
    TORCH_CHECK(from_last < count && from_last < input.dim(),
                "there should be a size for each dimension");
    const int64_t size = sizes[static_cast<size_t>(count - 1 - from_last)];
    const int64_t before = input.size(input.dim() - 1 - from_last);
    TORCH_CHECK(is_scaled(size, before, scale), "a size of ", size, " and a scale of ", scale,
                " contradict each other: the tensor has ", before);
    return sizes.vec();
}

} // namespace

// LibTorch keeps what a library has registered as long as the library lives.
void register_sound_arguments()
{
    static const torch::Library ours = [] {
        torch::Library made(torch::Library::FRAGMENT, "dnn_torch", {}, __FILE__, __LINE__);
        made.def("sound_counts(Tensor counts, bool may_be_empty) -> Tensor", &check_counts);
        made.def("sound_sizes(Tensor input, int[] sizes, int from_last, float scale) -> int[]",
                 &check_sizes);
        return made;
    }();
}

} // namespace engine_torch
