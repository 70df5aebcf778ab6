// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "scripted_tensor.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <sstream>

namespace fake_engine
{
namespace
{

constexpr int64_t most_elements = int64_t{1} << 24;

template <class Number> bool parse(std::string_view text, Number &number)
{
    const char *end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, number);
    return result.ec == std::errc() && result.ptr == end;
}

bool read_extents(std::string_view text, std::vector<int64_t> &dims)
{
    while (!text.empty() && text != "-") {
        const size_t end = std::min(text.find('x'), text.size());
        int64_t extent = 0;
        if (!parse(text.substr(0, end), extent) || extent < 0 ||
            dims.size() == DNN_TORCH_DIMENSIONS)
            return false;
        dims.push_back(extent);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return true;
}

// Returns a number below 0 for too many.
int64_t count_of(const std::vector<int64_t> &dims)
{
    int64_t count = 1;
    for (const int64_t extent : dims) {
        if (extent > most_elements || count * extent > most_elements)
            return -1;
        count *= extent;
    }
    return count;
}

template <class Number>
bool fill(const std::vector<std::string> &words, int64_t count, std::vector<char> &memory)
{
    std::vector<Number> values(words.size());
    for (size_t i = 0; i < words.size(); i++)
        if (!parse(words[i], values[i]))
            return false;
    if (values.empty())
        values.push_back(0);
    memory.resize(static_cast<size_t>(count) * sizeof(Number));
    for (size_t i = 0; i < static_cast<size_t>(count); i++)
        std::memcpy(memory.data() + i * sizeof(Number), &values[i % values.size()], sizeof(Number));
    return true;
}

} // namespace

std::string read_tensor(std::string_view text, ScriptedTensor &tensor)
{
    std::istringstream line{std::string(text)};
    std::string type, extents, word;
    std::vector<std::string> words;
    if (!(line >> tensor.name >> type >> extents) || (type != "f32" && type != "i64"))
        return "a tensor has a name, f32 or i64, and extents as 2x4";
    while (line >> word)
        words.push_back(word);
    if (tensor.name == "-")
        tensor.name.clear();
    if (!read_extents(extents, tensor.dims) || count_of(tensor.dims) < 0)
        return "bad extents '" + extents + "' of a tensor";
    tensor.type = type == "f32" ? DNN_TORCH_F32 : DNN_TORCH_I64;
    const int64_t count = count_of(tensor.dims);
    const bool good = type == "f32" ? fill<float>(words, count, tensor.memory)
                                    : fill<int64_t>(words, count, tensor.memory);
    return good ? "" : "bad value of the tensor '" + tensor.name + "'";
}

DnnTorchTensor ScriptedTensor::view()
{
    static char no_elements = 0;
    DnnTorchTensor tensor = {};
    tensor.size = sizeof tensor;
    tensor.data = memory.empty() ? &no_elements : memory.data();
    tensor.type = type;
    tensor.rank = static_cast<int32_t>(dims.size());
    int64_t stride = type == DNN_TORCH_F32 ? 4 : 8;
    for (size_t i = dims.size(); i-- > 0;) {
        tensor.dims[i] = dims[i];
        tensor.strides[i] = stride;
        stride *= std::max<int64_t>(dims[i], 1);
    }
    name.copy(tensor.name, sizeof tensor.name - 1);
    return tensor;
}

} // namespace fake_engine
