// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "rewrites.h"

#include "graph_checks.h"
#include "known_values.h"
#include "operator_traits.h"

#include <algorithm>
#include <array>
#include <ATen/core/grad_mode.h>
#include <ATen/core/Tensor.h>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <vector>

namespace engine_torch
{
namespace
{

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Module;
using torch::jit::Node;
using torch::jit::Use;
using torch::jit::Value;

// Their second operand may be a tensor or, in another overload, a number.
constexpr std::array<std::string_view, 5> operators = {"aten::add", "aten::sub", "aten::mul",
                                                       "aten::div", "aten::floor_divide"};

bool takes_two_tensors(const Node &node)
{
    const std::string_view name = node.kind().toQualString();
    return std::find(operators.begin(), operators.end(), name) != operators.end() &&
           node.inputs().size() >= 2 &&
           node.input(0)->type()->isSubtypeOf(*c10::TensorType::get()) &&
           node.input(1)->type()->isSubtypeOf(*c10::TensorType::get());
}

// Numbers of Python have these types.  Tensors of other types were tensors in Python, too.
std::optional<at::Scalar> number_of(const Value &value)
{
    const auto constant = torch::jit::toIValue(&value);
    if (!constant || !constant->isTensor())
        return std::nullopt;
    const at::Tensor &tensor = constant->toTensor();
    const bool is_number =
        tensor.defined() && tensor.dim() == 0 &&
        (tensor.scalar_type() == at::kDouble || tensor.scalar_type() == at::kLong ||
         tensor.scalar_type() == at::kComplexDouble);
    return is_number ? std::optional(tensor.item()) : std::nullopt;
}

// All places in the code that read or set attributes of one name.
struct Places {
    std::vector<const Node *> reads, sets;
};

class FlagFinder
{
public:
    explicit FlagFinder(const Block &block)
    {
        for (const Node *node : nodes_in(block)) {
            if (node->kind() == c10::prim::GetAttr)
                places_[node->s(c10::attr::name)].reads.push_back(node);
            if (node->kind() == c10::prim::SetAttr)
                places_[node->s(c10::attr::name)].sets.push_back(node);
            has_fork_ = has_fork_ || node->hasAttribute(c10::attr::Subgraph);
        }
    }

    // False if there is code outside the graph, which may read a flag.
    bool sees_all() const { return !has_fork_; }

    // Returns the flags by name; a name stands for all objects that have such an attribute.
    std::map<std::string, Places> flags() const
    {
        std::map<std::string, Places> found;
        for (const auto &[name, places] : places_)
            if (!places.sets.empty() && is_set_to_one_constant(places.sets) &&
                std::all_of(places.reads.begin(), places.reads.end(),
                            [&name = name](const Node *read) {
                                return decides_over_warnings(*read, name);
                            }))
                found.emplace(name, places);
        return found;
    }

private:
    static bool is_set_to_one_constant(const std::vector<const Node *> &sets)
    {
        const auto first = constant_flag(sets.front()->input(1));
        return first && std::all_of(sets.begin(), sets.end(), [&](const Node *set) {
                   return constant_flag(set->input(1)) == first;
               });
    }

    // Whether the flag that is read, or its opposite, controls nothing but warnings.
    static bool decides_over_warnings(const Node &read, const std::string &flag)
    {
        const auto &uses = read.output()->uses();
        return std::all_of(uses.begin(), uses.end(), [&](const Use &use) {
            const Node &user = *use.user;
            if (user.kind() == c10::aten::__not__)
                return decides_over_warnings(user, flag);
            return user.kind() == c10::prim::If && only_warns(user, flag);
        });
    }

    static bool only_warns(const Node &choice, const std::string &flag)
    {
        const auto only_harmless = [&](const Block *block) {
            return std::all_of(block->nodes().begin(), block->nodes().end(),
                               [&](const Node *node) { return is_harmless(*node, flag); });
        };
        return choice.outputs().empty() &&
               std::all_of(choice.blocks().begin(), choice.blocks().end(), only_harmless);
    }

    static bool is_harmless(const Node &node, const std::string &flag)
    {
        const bool sets_flag = node.kind() == c10::prim::SetAttr && node.s(c10::attr::name) == flag;
        return sets_flag || node.kind() == c10::prim::Constant ||
               node.kind() == c10::prim::GetAttr || node.kind() == c10::aten::warn;
    }

    std::map<std::string, Places> places_;
    bool has_fork_ = false;
};

// Skips an object that the run itself creates.
void preset(const Node &place, const KnownValues &known, const std::string &name,
            const c10::IValue &value)
{
    const auto object = known.value_of(place.input(0));
    if (!object || !object->isObject())
        return;
    const auto slot = object->toObjectRef().type()->findAttributeSlot(name);
    if (slot && object->toObjectRef().getSlot(*slot).isBool())
        object->toObject()->setSlot(*slot, value);
}

// Nearest-neighbour interpolation copies samples as they are.
bool mixes_samples(const Node &node)
{
    const std::string_view name = node.kind().toQualString();
    return interpolates(name) && name.find("nearest") == name.npos;
}

Value *as_floats(Graph &graph, Value *samples)
{
    Value *no = graph.insertConstant(false);
    Node *node = graph.create(c10::aten::to,
                              {samples, graph.insertConstant(static_cast<int64_t>(at::kFloat)), no,
                               no, graph.insertConstant(c10::IValue())});
    return graph.insertNode(node)->output();
}

void interpolate_in_floats(Node *node)
{
    Graph &graph = *node->owningGraph();
    Value *samples = node->input(0);
    {
        torch::jit::WithInsertPoint before(node);
        node->replaceInput(0, as_floats(graph, samples));
    }
    node->output()->setType(c10::TensorType::get());
    Node *back = graph.create(c10::aten::type_as, {node->output(), samples});
    back->insertAfter(node);
    node->output()->replaceAllUsesAfterNodeWith(back, back->output());
}

bool is_half(const at::Tensor &tensor)
{
    return tensor.defined() && tensor.scalar_type() == at::kHalf;
}

bool has_half_weights(const Module &module)
{
    for (const at::Tensor &parameter : module.parameters())
        if (is_half(parameter))
            return true;
    for (const at::Tensor &tensor : tensors_in_code(module))
        if (is_half(tensor) && tensor.numel() > 1)
            return true;
    return false;
}

void widen(const at::Tensor &tensor)
{
    if (is_half(tensor))
        tensor.set_data(tensor.to(at::kFloat));
}

void widen_constant(Node &node)
{
    if (node.kind() != c10::prim::Constant || !node.hasAttribute(c10::attr::value) ||
        node.kindOf(c10::attr::value) != torch::jit::AttributeKind::t ||
        !is_half(node.t(c10::attr::value)))
        return;
    const at::Tensor wide = node.t(c10::attr::value).to(at::kFloat);
    node.t_(c10::attr::value, wide);
    node.output()->inferTypeFrom(wide);
}

// "x.half()" and "torch.zeros(..., dtype=torch.float16)" have the type as an argument.
void widen_conversion(Node &node)
{
    const auto *const schema = node.maybeSchema();
    if (!schema)
        return;
    const auto place = schema->argumentIndexWithName("dtype");
    if (!place || static_cast<size_t>(*place) >= node.inputs().size())
        return;
    const auto index = static_cast<size_t>(*place);
    const auto type = torch::jit::toIValue(node.input(index));
    if (!type || !type->isInt() || type->toInt() != static_cast<int64_t>(at::kHalf))
        return;
    const torch::jit::WithInsertPoint before(&node);
    node.replaceInput(index, node.owningGraph()->insertConstant(static_cast<int64_t>(at::kFloat)));
}

} // namespace

void widen_halves(const Module &module)
{
    if (!has_half_weights(module))
        return;
    const at::NoGradGuard no_gradients;
    for (const at::Tensor &parameter : module.parameters())
        widen(parameter);
    for (const at::Tensor &buffer : module.buffers())
        widen(buffer);
    for (Node *node : nodes_to_change(module)) {
        widen_constant(*node);
        widen_conversion(*node);
    }
}

void interpolate_in_floats(const torch::jit::Module &frozen)
{
    for (Node *node : nodes_in(*frozen.get_method("forward").graph()->block()))
        if (mixes_samples(*node))
            interpolate_in_floats(node);
}

void preset_warning_flags(const torch::jit::Module &module)
{
    const auto graph = module.get_method("forward").graph()->copy();
    torch::jit::Inline(*graph);
    const FlagFinder finder(*graph->block());
    if (!finder.sees_all())
        return;
    const KnownValues known(module, *graph);
    for (const auto &[name, places] : finder.flags())
        for (const Node *set : places.sets)
            preset(*set, known, name, *torch::jit::toIValue(set->input(1)));
}

void restore_traced_numbers(const torch::jit::Module &module)
{
    for (Node *node : nodes_to_change(module)) {
        if (!takes_two_tensors(*node))
            continue;
        if (const auto number = number_of(*node->input(1))) {
            const torch::jit::WithInsertPoint before(node);
            node->replaceInput(1, node->owningGraph()->insertConstant(*number));
        }
    }
}

} // namespace engine_torch
