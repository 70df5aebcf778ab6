// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "external_tensors.h"

#include "engines/torch/checkpoint/weights.h"
#include "protobuf.h"

#include <array>

namespace engine_torch
{
namespace
{

// ---- the messages that have tensors in them, as onnx.proto numbers their fields

enum class Message {
    model,
    training,
    function,
    graph,
    node,
    attribute,
    sparse,
    tensor,
    initialiser // of the graph of the model
};

struct Nested {
    Message within;
    uint64_t field;
    Message message;
};

constexpr std::array nested = std::to_array<Nested>({
    {Message::model, 7, Message::graph},         {Message::model, 20, Message::training},
    {Message::model, 25, Message::function},     {Message::training, 1, Message::graph},
    {Message::training, 2, Message::graph},      {Message::function, 7, Message::node},
    {Message::function, 11, Message::attribute}, {Message::graph, 1, Message::node},
    {Message::graph, 5, Message::tensor},        {Message::graph, 15, Message::sparse},
    {Message::node, 5, Message::attribute},      {Message::attribute, 5, Message::tensor},
    {Message::attribute, 6, Message::graph},     {Message::attribute, 10, Message::tensor},
    {Message::attribute, 11, Message::graph},    {Message::attribute, 22, Message::sparse},
    {Message::attribute, 23, Message::sparse},   {Message::sparse, 1, Message::tensor},
    {Message::sparse, 2, Message::tensor},
});

constexpr uint64_t external_data = 13, data_location = 14; // of a tensor

[[noreturn]] void refuse()
{
    throw WeightFault("is an ONNX model with a tensor in another file that is no weight of its "
                      "graph; write all into one file with onnx.save()");
}

class Walk
{
public:
    explicit Walk(const std::function<bool(const std::string &)> &is_given) : is_given_(is_given) {}

    void look_at(std::string_view bytes, Message kind, int depth = 0)
    {
        constexpr int deepest = 100; // as Protocol Buffers allow
        if (depth > deepest)
            throw WeightFault("is an ONNX model whose graphs are nested too deeply");
        for (ProtoFields field(bytes); field.next();) {
            if (kind == Message::tensor || kind == Message::initialiser)
                look_at_place(field, kind);
            else if (field.is_bytes())
                descend(field, kind, depth);
        }
    }

private:
    void descend(const ProtoFields &field, Message kind, int depth)
    {
        for (const Nested &each : nested)
            if (each.within == kind && each.field == field.field()) {
                const bool is_of_model = kind == Message::graph && depth == 1 && in_graph_ &&
                                         each.message == Message::tensor;
                if (depth == 0)
                    in_graph_ = each.message == Message::graph;
                look_at(field.bytes(), is_of_model ? Message::initialiser : each.message,
                        depth + 1);
            }
    }

    void look_at_place(const ProtoFields &field, Message kind)
    {
        if (field.field() != external_data && field.field() != data_location)
            return;
        if (kind != Message::initialiser)
            refuse();
        if (field.field() != external_data)
            return;
        std::string key, value;
        for (ProtoFields entry(field.bytes()); entry.next();)
            if (entry.field() == 1 || entry.field() == 2)
                (entry.field() == 1 ? key : value) = entry.bytes();
        if (key == "location" && !is_given_(value))
            refuse();
    }

    const std::function<bool(const std::string &)> &is_given_;
    bool in_graph_ = false; // of the model, not of its training or functions
};

} // namespace

void expect_no_other_file(std::string_view model,
                          const std::function<bool(const std::string &name)> &is_given)
{
    Walk(is_given).look_at(model, Message::model);
}

} // namespace engine_torch
