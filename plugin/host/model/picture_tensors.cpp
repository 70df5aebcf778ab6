// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "picture_tensors.h"

#include "base/compose.h"
#include "base/terminal.h"

extern "C" {
#include <libavutil/error.h>
}

#include <algorithm>
#include <climits>
#include <type_traits>
#include <utility>

namespace dnn_torch
{
namespace
{

constexpr int picture_rank = 4;

int32_t type_of(Element element)
{
    switch (element) {
    case Element::u8:
        return DNN_TORCH_U8;
    case Element::u16:
        return DNN_TORCH_U16;
    default:
        return DNN_TORCH_F32;
    }
}

DnnTorchTensor tensor_of(const Images &images)
{
    return {.size = sizeof(DnnTorchTensor),
            .data = images.data,
            .type = type_of(images.element),
            .rank = picture_rank,
            .dims = {images.batch, images.channels, images.height, images.width},
            .strides = {images.batch_stride, images.channel_stride, images.row_stride,
                        images.column_stride},
            .white = images.white};
}

// The name is one that an engine has taken, so that it fits.
DnnTorchTensor tensor_of(const InputNumbers &given)
{
    DnnTorchTensor tensor = {
        .size = sizeof(tensor), .data = nullptr, .type = 0, .rank = given.is_for_all ? 0 : 1};
    std::visit(
        [&]<class Number>(const std::vector<Number> &numbers) {
            tensor.data = const_cast<Number *>(numbers.data());
            tensor.type = std::is_same_v<Number, float> ? DNN_TORCH_F32 : DNN_TORCH_I64;
            tensor.dims[0] = static_cast<int64_t>(numbers.size());
            tensor.strides[0] = sizeof(Number);
        },
        given.numbers);
    given.name.copy(tensor.name, sizeof(tensor.name) - 1);
    return tensor;
}

std::vector<DnnTorchTensor> tensors_of(const Images &input, std::span<const InputNumbers> numbers)
{
    std::vector<DnnTorchTensor> in = {tensor_of(input)};
    for (const InputNumbers &given : numbers)
        in.push_back(tensor_of(given));
    return in;
}

Element element_of(const DnnTorchTensor &tensor, const Images &input)
{
    if (tensor.type == DNN_TORCH_F32)
        return Element::f32;
    if (tensor.type != type_of(input.element) || tensor.white != input.white)
        throw Error(AVERROR_EXTERNAL, "the engine gave pictures of an unknown element type");
    return input.element;
}

Images images_of(const DnnTorchTensor &tensor, const Images &input)
{
    if (!tensor.data)
        throw Error(AVERROR_EXTERNAL, "the engine gave a tensor without its memory");
    return {.data = tensor.data,
            .element = element_of(tensor, input),
            .batch = picture_extent(tensor, 0),
            .channels = picture_extent(tensor, 1),
            .height = picture_extent(tensor, 2),
            .width = picture_extent(tensor, 3),
            .batch_stride = tensor.strides[0],
            .channel_stride = tensor.strides[1],
            .row_stride = tensor.strides[2],
            .column_stride = tensor.strides[3],
            .white = tensor.white};
}

DnnTorchRun run_of(const Images &input)
{
    return {.size = sizeof(DnnTorchRun),
            .number = input.number,
            .had_nan = 0,
            .retries = 0,
            .more = input.more,
            .predecessor_distance = input.predecessor_distance};
}

// Drops the absent tensors, which come last.
std::vector<DnnTorchTensor> present(std::vector<DnnTorchTensor> tensors)
{
    const auto is_absent = [](const DnnTorchTensor &tensor) { return tensor.type == 0; };
    tensors.erase(std::find_if(tensors.begin(), tensors.end(), is_absent), tensors.end());
    return tensors;
}

} // namespace

DnnTorchTensor picture_shape(int batch, int channels, Size size)
{
    return {.size = sizeof(DnnTorchTensor),
            .data = nullptr,
            .type = DNN_TORCH_F32,
            .rank = picture_rank,
            .dims = {batch, channels, size.height, size.width},
            .strides = {},
            .white = 0};
}

DnnTorchTensor picture_shape(int batch, int channels, Size size, const PictureNumbers &numbers)
{
    DnnTorchTensor shape = picture_shape(batch, channels, size);
    const NumberMap map = map_of(numbers);
    const auto white = [&](size_t c) { return map.offset[c] + map.factor[c]; };
    shape.low = std::min({map.offset[0], map.offset[1], map.offset[2]});
    shape.high = std::max({white(0), white(1), white(2)});
    return shape;
}

int picture_extent(const DnnTorchTensor &tensor, int dimension)
{
    int64_t extent = tensor.rank == picture_rank ? tensor.dims[dimension] : 0;
    if (extent < 1 || extent > INT_MAX)
        throw Error(AVERROR_EXTERNAL, "the engine gave a tensor that is no batch of pictures");
    return static_cast<int>(extent);
}

std::vector<DnnTorchTensor> probe_tensors(Model &model, const DnnTorchTensor &shape)
{
    return present(model.probe({&shape, 1}, most_tensors));
}

std::string tensors_in_words(std::span<const DnnTorchTensor> tensors)
{
    std::string words;
    for (const DnnTorchTensor &tensor : tensors) {
        std::string extents;
        for (int i = 0; i < tensor.rank; i++)
            add_to_list(extents, std::to_string(tensor.dims[i]));
        add_to_list(words, concat("[", extents, "]",
                                  *tensor.name ? concat(" '", printable(tensor.name), "'") : ""));
    }
    return words.empty() ? "no tensor" : words;
}

Images run_pictures(Session &session, const Images &input, std::span<const InputNumbers> numbers)
{
    const std::vector<DnnTorchTensor> in = tensors_of(input, numbers);
    DnnTorchTensor out = {.size = sizeof(out), .type = in[0].type, .white = in[0].white};
    DnnTorchRun run = run_of(input);
    session.run(in, {&out, 1}, run);
    Images output = images_of(out, input);
    output.had_nan = run.had_nan;
    if (output.batch != input.batch)
        throw Error(AVERROR_INVALIDDATA, "the model returned " + std::to_string(output.batch) +
                                             " pictures for " + std::to_string(input.batch) +
                                             "; it must return one for each");
    return output;
}

std::vector<DnnTorchTensor> run_tensors(Session &session, const Images &input, DnnTorchRun &facts,
                                        std::span<const InputNumbers> numbers)
{
    const std::vector<DnnTorchTensor> in = tensors_of(input, numbers);
    std::vector<DnnTorchTensor> out(most_tensors, DnnTorchTensor{.size = sizeof(DnnTorchTensor)});
    facts = run_of(input);
    session.run(in, out, facts);
    return present(std::move(out));
}

} // namespace dnn_torch
