// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "taken_outputs.h"

#include "engine_kit/text.h"
#include "isolation/protocol/tensor_views.h"

#include <algorithm>
#include <cstring>

namespace isolation
{
namespace
{

bool is_terminated(const char (&name)[sizeof(DnnTorchTensor::name)])
{
    return std::memchr(name, 0, sizeof name) != nullptr;
}

bool is_type_of_all(int32_t type)
{
    return type == DNN_TORCH_F32 || type == DNN_TORCH_I64;
}

Extents extents_of(Results results)
{
    return results == Results::all_tensors ? Extents::from_zero : Extents::from_one;
}

// Returns what is wrong with the tensor, or "".
std::string_view fault_of(const WireTensor &tensor, Results results)
{
    if (results == Results::all_tensors && !is_type_of_all(tensor.type))
        return "a tensor of another type";
    if (!packed_bytes(tensor, extents_of(results)) || tensor.white < 0)
        return "a shape";
    return "";
}

// With gaps or strides of 0 a small piece of memory would pass for huge pictures.
bool fills_its_memory(const WireTensor &tensor, Results results, size_t bytes)
{
    const Extents extents = extents_of(results);
    return lies_within(tensor, bytes, extents) &&
           span_of(tensor, extents) == packed_bytes(tensor, extents);
}

} // namespace

Checked check_shapes(const WireOutputs &outputs, size_t wanted, Results results)
{
    const auto count = count_there(std::span(outputs.tensors).first(wanted));
    if (!count || (results == Results::picture && *count < wanted))
        return {.count = std::nullopt, .fault = "no tensor where there must be one"};
    for (size_t i = 0; i < *count; i++) {
        if (const auto fault = fault_of(outputs.tensors[i], results); !fault.empty())
            return {.count = std::nullopt, .fault = fault};
        if (!is_terminated(outputs.tensors[i].name))
            return {.count = std::nullopt, .fault = "a name without an end"};
    }
    return {.count = count, .fault = ""};
}

Checked check_views(const WireOutputs &outputs, size_t wanted, Results results, size_t bytes)
{
    const Checked checked = check_shapes(outputs, wanted, results);
    for (size_t i = 0; i < checked.count.value_or(0); i++)
        if (!fills_its_memory(outputs.tensors[i], results, bytes))
            return {.count = std::nullopt, .fault = "a tensor outside its memory"};
    return checked;
}

size_t bytes_used(std::span<const WireTensor> tensors)
{
    int64_t end = 1; // a view needs an address
    for (const WireTensor &tensor : tensors)
        end = std::max(end, tensor.offset + span_of(tensor, Extents::from_zero).value_or(0));
    return static_cast<size_t>(end);
}

DnnTorchTensor view_of(const WireOutputs &outputs, size_t index, char *memory)
{
    static char nothing = 0; // a null pointer would be a shape alone
    WireTensor wire = outputs.tensors[index];
    const bool is_empty = packed_bytes(wire, Extents::from_zero) == 0;
    if (is_empty)
        pack_strides(wire);
    DnnTorchTensor view = from_wire(wire);
    if (memory)
        view.data = is_empty ? &nothing : memory + wire.offset;
    engine_kit::copy_as_line(wire.name, view.name, sizeof view.name);
    return view;
}

} // namespace isolation
