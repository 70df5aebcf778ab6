// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "sound_arguments.h"

#include <algorithm>
#include <array>
#include <c10/core/ScalarType.h>
#include <cmath>
#include <torch/library.h>
#include <vector>

namespace engine_torch
{
namespace
{

at::Tensor verify_counts(const at::Tensor &given, bool may_be_empty)
{
    constexpr int64_t most = int64_t{1} << 31;
    TORCH_CHECK(may_be_empty || given.numel() != 0, "there should be one count or more");
    const at::Tensor numbers = given.detach().to(at::kCPU, at::kLong).contiguous();
    const auto *first = numbers.data_ptr<int64_t>();
    TORCH_CHECK(std::all_of(first, first + numbers.numel(),
                            [](int64_t count) { return count >= 0 && count <= most; }),
                "counts should be from 0 to 2 ** 31");
    return given.clone();
}

// A size may be rounded up or down, as long as the last sample comes from within the picture.
bool is_scaled(int64_t size, int64_t before, double scale)
{
    constexpr double rounding = 1 + 1e-5;
    const auto result = static_cast<double>(size), from = static_cast<double>(before);
    return std::abs(result - from * scale) < rounding && (result - 0.5) / scale - 0.5 < from;
}

std::vector<int64_t> verify_sizes(const at::Tensor &input, at::IntArrayRef sizes, int64_t from_last,
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

// The type of LibTorch's optional depends on its version.
using OptionalNumber = decltype(c10::IValue().toOptional<int64_t>());

OptionalNumber verify_type(OptionalNumber type)
{
    TORCH_CHECK(!type || is_type(*type), *type, " is not the number of a tensor type");
    return type;
}

at::Tensor verify_reals(const at::Tensor &matrix)
{
    TORCH_CHECK(!matrix.is_complex(), "matrices of complex numbers are not decomposed here");
    return matrix.alias();
}

using OptionalList = decltype(c10::IValue().toOptional<std::vector<int64_t>>());

OptionalList verify_dimensions(OptionalList dimensions)
{
    TORCH_CHECK(!dimensions || !dimensions->empty(), "there should be one dimension or more");
    return dimensions;
}

std::vector<int64_t> verify_padding(at::IntArrayRef sides)
{
    TORCH_CHECK(is_padding(sides), "circular padding cannot crop one side and pad the other");
    return sides.vec();
}

} // namespace

bool is_padding(c10::ArrayRef<int64_t> sides)
{
    for (size_t i = 0; i + 1 < sides.size(); i += 2)
        if ((sides[i] < 0 && sides[i + 1] > 0) || (sides[i] > 0 && sides[i + 1] < 0))
            return false;
    return true;
}

// The types of files (pickle_check.cpp), and the quantised ones of 8 and 32 bits.  They have no gap
// up to bfloat16; the last three are the unsigned ones, which LibTorch 1.13 and 2.2 lack.
bool is_type(int64_t number)
{
    constexpr auto no_type = static_cast<int64_t>(c10::ScalarType::Undefined);
    constexpr auto last = static_cast<int64_t>(c10::ScalarType::BFloat16);
    constexpr std::array<int64_t, 3> later = {27, 28, 29};
    const bool is_later = std::find(later.begin(), later.end(), number) != later.end();
    return number >= 0 && (number <= last || (is_later && number < no_type));
}

// LibTorch keeps what a library has registered as long as the library lives.
void register_sound_arguments()
{
    static const torch::Library ours = [] {
        torch::Library result(torch::Library::FRAGMENT, "dnn_torch", {}, __FILE__, __LINE__);
        result.def("sound_counts(Tensor counts, bool may_be_empty) -> Tensor", &verify_counts);
        result.def("sound_sizes(Tensor input, int[] sizes, int from_last, float scale) -> int[]",
                   &verify_sizes);
        result.def("sound_type(int? type) -> int?", &verify_type);
        result.def("sound_dimensions(int[]? dimensions) -> int[]?", &verify_dimensions);
        result.def("sound_padding(int[] sides) -> int[]", &verify_padding);
        result.def("sound_reals(Tensor(a) matrix) -> Tensor(a)", &verify_reals);
        return result;
    }();
}

} // namespace engine_torch
