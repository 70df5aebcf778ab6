// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "class_map_tensors.h"

#include "base/compose.h"
#include "base/terminal.h"
#include "host/error.h"
#include "host/model/picture_tensors.h"

extern "C" {
#include <libavutil/error.h>
}

#include <algorithm>
#include <charconv>
#include <climits>
#include <optional>

namespace dnn_torch
{
namespace
{

constexpr int64_t most_classes = 65536;

bool are_extents(const DnnTorchTensor &tensor)
{
    return std::all_of(tensor.dims, tensor.dims + tensor.rank,
                       [](int64_t extent) { return extent >= 1 && extent <= INT_MAX; });
}

int extent(const DnnTorchTensor &tensor, int dimension)
{
    return static_cast<int>(tensor.dims[dimension]);
}

// A tensor that is one wide or high is a table, not a map.
bool is_map(Size size)
{
    return size.width >= 2 && size.height >= 2;
}

std::optional<ClassMapTensor> numbers_in(const DnnTorchTensor &tensor)
{
    const bool has_channel = tensor.rank == 4 && tensor.dims[1] == 1;
    if (tensor.rank != 3 && !has_channel)
        return std::nullopt;
    const int last = tensor.rank - 1;
    return ClassMapTensor{.rank = tensor.rank,
                          .type = DNN_TORCH_I64,
                          .size = {extent(tensor, last), extent(tensor, last - 1)}};
}

std::optional<ClassMapTensor> scores_in(const DnnTorchTensor &tensor, bool ends_with_classes)
{
    if (tensor.rank != 4)
        return std::nullopt;
    const int classes = ends_with_classes ? 3 : 1, down = ends_with_classes ? 1 : 2;
    if (tensor.dims[classes] > most_classes)
        return std::nullopt;
    return ClassMapTensor{.rank = 4,
                          .type = DNN_TORCH_F32,
                          .classes = extent(tensor, classes),
                          .size = {extent(tensor, down + 1), extent(tensor, down)},
                          .ends_with_classes = ends_with_classes};
}

std::optional<ClassMapTensor> maps_in(const DnnTorchTensor &tensor, int batch,
                                      bool ends_with_classes)
{
    if (tensor.rank < 3 || tensor.rank > 4 || !are_extents(tensor) || tensor.dims[0] != batch)
        return std::nullopt;
    auto found =
        tensor.type == DNN_TORCH_I64 ? numbers_in(tensor) : scores_in(tensor, ends_with_classes);
    return found && is_map(found->size) ? found : std::nullopt;
}

ptrdiff_t step(const DnnTorchTensor &tensor, int dimension)
{
    const auto size =
        static_cast<int64_t>(tensor.type == DNN_TORCH_F32 ? sizeof(float) : sizeof(int64_t));
    return static_cast<ptrdiff_t>(tensor.strides[dimension] / size);
}

std::optional<size_t> number_in(const std::string &text)
{
    size_t number = 0;
    const char *const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    return read.ec == std::errc() && read.ptr == end ? std::optional(number) : std::nullopt;
}

[[noreturn]] void refuse_class(const std::string &name, const std::vector<std::string> &labels,
                               size_t count)
{
    constexpr size_t most = 8;
    std::string known;
    for (size_t i = 0; i < labels.size() && i < most; i++)
        add_to_list(known, printable(labels[i]));
    if (labels.size() > most)
        add_to_list(known, "...");
    throw Error(AVERROR(EINVAL),
                concat("classes: the model has no class '", printable(name), "'; it has ",
                       count ? concat("numbers from 0 to ", count - 1) : std::string("numbers"),
                       known.empty()
                           ? std::string("; labels=voc, labels=coco or labels=FILE gives them "
                                         "names")
                           : concat(", and the names ", known)));
}

} // namespace

ClassMapTensor find_class_maps(std::span<const DnnTorchTensor> tensors, int batch,
                               const std::string &layout)
{
    for (size_t i = 0; i < tensors.size(); i++)
        if (auto found = maps_in(tensors[i], batch, layout == "nhwc")) {
            found->place = i;
            return *found;
        }
    throw Error(AVERROR_INVALIDDATA,
                concat("the model returned ", tensors_in_words(tensors),
                       "; as=index, as=colors and classes need a score for each class and pixel, "
                       "[batch, classes, height, width], or the number of its class"));
}

ClassMaps class_maps_in(std::span<const DnnTorchTensor> tensors, const ClassMapTensor &found,
                        int batch, int index)
{
    const bool is_there = found.place < tensors.size() && tensors[found.place].data;
    const auto now =
        is_there ? maps_in(tensors[found.place], batch, found.ends_with_classes) : std::nullopt;
    if (!now || now->rank != found.rank || now->type != found.type || now->classes != found.classes)
        throw Error(AVERROR_INVALIDDATA,
                    concat("the model returned ", tensors_in_words(tensors),
                           " and other tensors before; what it returns must depend on its input's "
                           "size alone"));
    const DnnTorchTensor &tensor = tensors[found.place];
    const int down = now->ends_with_classes ? 1 : now->rank - 2;
    ClassMaps maps = {.classes = std::max(now->classes, 1),
                      .size = now->size,
                      .class_step = now->classes ? step(tensor, now->ends_with_classes ? 3 : 1) : 0,
                      .row_step = step(tensor, down),
                      .column_step = step(tensor, down + 1)};
    const ptrdiff_t first = index * step(tensor, 0);
    if (now->classes)
        maps.scores = static_cast<const float *>(tensor.data) + first;
    else
        maps.numbers = static_cast<const int64_t *>(tensor.data) + first;
    return maps;
}

std::vector<bool> chosen_classes(const std::vector<std::string> &chosen,
                                 const std::vector<std::string> &labels, int count)
{
    const size_t known = count > 0 ? static_cast<size_t>(count) : labels.size();
    std::vector<bool> are_chosen;
    for (const std::string &name : chosen) {
        const auto label = std::find(labels.begin(), labels.end(), name);
        const auto number = label != labels.end()
                                ? std::optional(static_cast<size_t>(label - labels.begin()))
                                : number_in(name);
        if (!number || *number >= most_classes || (known && *number >= known))
            refuse_class(name, labels, known);
        are_chosen.resize(std::max(are_chosen.size(), *number + 1));
        are_chosen[*number] = true;
    }
    return are_chosen;
}

} // namespace dnn_torch
