// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "converted_attributes.h"

#include "graph_checks.h"
#include "known_values.h"
#include "sound_arguments.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

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
namespace prim = c10::prim;

bool is_operator(const Node &node, std::string_view name)
{
    return node.kind().toQualString() == name;
}

template <size_t Count>
bool is_one_of(const Node &node, const std::array<std::string_view, Count> &names)
{
    return std::any_of(names.begin(), names.end(),
                       [&](std::string_view name) { return is_operator(node, name); });
}

constexpr std::array<std::string_view, 4> about_types = {"prim::dtype", "prim::device",
                                                         "prim::is_cuda", sound_type};
constexpr std::array<std::string_view, 2> about_devices = {"prim::device", "prim::is_cuda"};
constexpr std::array<std::string_view, 5> comparisons = {"aten::eq", "aten::ne", "aten::__not__",
                                                         "aten::__and__", "aten::__or__"};

bool converts_its_input(const Node &node)
{
    return is_operator(node, "aten::to") || is_operator(node, "aten::type_as");
}

// Returns the only node that appends to the stored list, if the list begins empty and has no other
// use but being stored; otherwise null.
const Node *only_append(const Value *list)
{
    if (list->node()->kind() != prim::ListConstruct || !list->node()->inputs().empty())
        return nullptr;
    const Node *append = nullptr;
    for (const Use &use : list->uses()) {
        const bool appends = is_operator(*use.user, "aten::append") && use.offset == 0 &&
                             !use.user->output()->hasUses();
        if (use.user->kind() != prim::SetAttr && (!appends || append))
            return nullptr;
        if (appends)
            append = use.user;
    }
    return append;
}

// Whether the body only takes an element, converts it and appends it.
bool only_converts(const Block &body)
{
    return std::all_of(body.nodes().begin(), body.nodes().end(), [](const Node *node) {
        return node->kind() == prim::Constant || is_one_of(*node, about_types) ||
               converts_its_input(*node) || is_operator(*node, "aten::append") ||
               is_operator(*node, "aten::__getitem__");
    });
}

// Whether the loop visits the whole list, in order.
bool goes_through(const Node &loop, const Value *list)
{
    const Node &count = *loop.input(0)->node();
    return is_operator(count, "aten::len") && count.input(0) == list &&
           constant_flag(loop.input(1)) == true &&
           constant_flag(loop.blocks().at(0)->outputs().at(0)) == true;
}

// If `list` has all elements of another list, converted, returns the node that converts an element
// of that list; otherwise null.  torchvision's AnchorGenerator has self.anchors =
// [a.to(dtype, device) for a in self.anchors].
const Node *conversion_of_elements(const Value *list)
{
    const Node *append = only_append(list);
    const Node *loop = append ? append->owningBlock()->owningNode() : nullptr;
    if (!loop || loop->kind() != prim::Loop || !only_converts(*append->owningBlock()))
        return nullptr;
    const Node *conversion = append->input(1)->node();
    if (!converts_its_input(*conversion) || conversion->owningBlock() != append->owningBlock())
        return nullptr;
    const Node *element = conversion->input(0)->node();
    if (!is_operator(*element, "aten::__getitem__") ||
        element->input(1) != append->owningBlock()->inputs().at(0) ||
        !goes_through(*loop, element->input(0)))
        return nullptr;
    return conversion;
}

using Answers = std::map<const Value *, bool>;

// Asks for each value only once, however many others depend on it.
template <class Find> bool ask_once(Answers &answers, const Value *value, bool meanwhile, Find find)
{
    const auto [known, is_new] = answers.try_emplace(value, meanwhile);
    if (is_new)
        known->second = find();
    return known->second;
}

// Whether the nodes are in different branches, so that a run has one of them at most.
bool are_alternatives(const Node &a, const Node &b)
{
    std::map<const Node *, const Block *> branches_of_a;
    const auto outer = [](const Node *node) { return node->owningBlock()->owningNode(); };
    for (const Node *node = &a; node; node = outer(node))
        branches_of_a[outer(node)] = node->owningBlock();
    for (const Node *node = &b; node; node = outer(node)) {
        const auto branch = branches_of_a.find(outer(node));
        if (branch != branches_of_a.end())
            return branch->second != node->owningBlock();
    }
    return false;
}

// Finds the attributes of the objects that the module itself consists of.
class AttributeFinder
{
public:
    AttributeFinder(const Module &module, Graph &graph)
        : known_(module, graph), self_(graph.inputs().at(0))
    {
        for (Node *node : nodes_in(*graph.block())) {
            if (node->kind() == prim::GetAttr || node->kind() == prim::SetAttr)
                add(node);
            const bool is_call =
                node->kind() == prim::CallMethod || node->kind() == prim::CallFunction;
            has_other_code_ = has_other_code_ || is_call;
            exclude_outer_body_of(*node);
        }
    }

    // Returns those that nothing else can reach.
    std::vector<ConvertedAttribute> converted() const
    {
        std::vector<ConvertedAttribute> found;
        for (const auto &[place, attribute] : attributes_)
            if (!has_other_code_ && !excluded_.count(place.second) && is_only_converted(attribute))
                found.push_back(attribute);
        return found;
    }

private:
    // Whether the attribute is only set to its own value, converted.  Converted to two types, the
    // value could lose what the next run's first conversion needs.
    bool is_only_converted(const ConvertedAttribute &attribute) const
    {
        if (attribute.sets.empty() || attribute.reads.empty())
            return false;
        const c10::TypePtr &type = (*attribute.reads.begin())->output()->type();
        return std::all_of(attribute.sets.begin(), attribute.sets.end(), [&](const Node *set) {
            return runs_once(*set) && *set->input(1)->type() == *type &&
                   is_converted(set->input(1), attribute) &&
                   std::all_of(
                       attribute.sets.begin(), attribute.sets.end(), [&](const Node *other) {
                           return set == other || (are_alternatives(*set, *other) &&
                                                   type_source_of(*set) == type_source_of(*other));
                       });
        });
    }

    // What an attribute's new type is: that of a tensor, or one that a number names.
    using TypeSource = std::pair<const Value *, std::optional<int64_t>>;

    TypeSource type_source_of(const Node &set) const
    {
        const Node *elements = conversion_of_elements(set.input(1));
        const Node &conversion = elements ? *elements : *set.input(1)->node();
        for (const Value *input : conversion.inputs().slice(1)) {
            if (input->type()->kind() == c10::TypeKind::TensorType)
                return {input, std::nullopt};
            if (input->type()->kind() != c10::TypeKind::IntType)
                continue;
            if (is_operator(*input->node(), "prim::dtype"))
                return {input->node()->input(0), std::nullopt};
            const auto number = known_.value_of(input);
            return number && number->isInt() ? TypeSource(nullptr, number->toInt())
                                             : TypeSource(input, std::nullopt);
        }
        return {nullptr, std::nullopt};
    }

    // Whether this is the attribute's value, converted or not.
    bool is_converted(const Value *value, const ConvertedAttribute &attribute) const
    {
        const Node *node = value->node();
        if (node->kind() == prim::GetAttr)
            return attribute.reads.count(const_cast<Node *>(node)) > 0;
        if (converts_its_input(*node))
            return has_fixed_type(*node) && is_converted(node->input(0), attribute);
        const Node *conversion = conversion_of_elements(value);
        return conversion && has_fixed_type(*conversion) &&
               is_converted(conversion->input(0)->node()->input(0), attribute);
    }

    // Whether the numbers and tensors that name a type name the same one for all samples.
    bool has_fixed_type(const Node &conversion) const
    {
        return std::all_of(conversion.inputs().begin() + 1, conversion.inputs().end(),
                           [&](const Value *input) {
                               return input->type()->kind() == c10::TypeKind::IntType
                                          ? is_same_for_all_samples(input)
                                          : is_chosen_for_all_samples(input);
                           });
    }

    // Whether the samples do not choose among values.
    bool is_chosen_for_all_samples(const Value *value) const
    {
        return ask_once(chosen_for_all_samples_, value, false,
                        [&] { return is_found_to_be_chosen(value); });
    }

    bool is_found_to_be_chosen(const Value *value) const
    {
        const Node &node = *value->node();
        if (node.kind() == prim::Loop)
            return false;
        if (node.kind() != prim::If)
            return true;
        return is_same_for_all_samples(node.input()) &&
               is_chosen_for_all_samples(node.blocks().at(0)->outputs().at(value->offset())) &&
               is_chosen_for_all_samples(node.blocks().at(1)->outputs().at(value->offset()));
    }

    // Whether the node runs at most once in a run, and which is the same for all samples.
    bool runs_once(const Node &node) const
    {
        const Node *outer = node.owningBlock()->owningNode();
        return !outer || (outer->kind() == prim::If && is_same_for_all_samples(outer->input()) &&
                          runs_once(*outer));
    }

    bool is_same_for_all_samples(const Value *value) const
    {
        return ask_once(same_for_all_samples_, value, false,
                        [&] { return is_found_to_be_same(value); });
    }

    bool is_found_to_be_same(const Value *value) const
    {
        const Node &node = *value->node();
        if (is_one_of(node, comparisons) || is_operator(node, sound_type))
            return std::all_of(node.inputs().begin(), node.inputs().end(),
                               [&](const Value *input) { return is_same_for_all_samples(input); });
        if (node.kind() == prim::If)
            return is_same_for_all_samples(node.input()) &&
                   is_same_for_all_samples(node.blocks().at(0)->outputs().at(value->offset())) &&
                   is_same_for_all_samples(node.blocks().at(1)->outputs().at(value->offset()));
        return is_one_of(node, about_types) || known_.value_of(value);
    }

    void add(Node *node)
    {
        const std::string &name = node->s(c10::attr::name);
        const auto object = known_.value_of(node->input(0));
        std::vector<std::string> path = {name};
        const Value *root = node->input(0);
        for (; root->node()->kind() == prim::GetAttr; root = root->node()->input())
            path.insert(path.begin(), root->node()->s(c10::attr::name));
        if (!object || !object->isObject() || root != self_) {
            excluded_.insert(name);
            return;
        }
        ConvertedAttribute &attribute = attributes_[{&object->toObjectRef(), name}];
        attribute.path = std::move(path);
        (node->kind() == prim::GetAttr ? attribute.reads : attribute.sets).insert(node);
    }

    // The objects of code outside the graph are not known.
    void exclude_outer_body_of(const Node &outer)
    {
        const auto body = outer_body_of(outer);
        if (!body)
            return;
        for (const Node *node : nodes_in(std::as_const(*body->block()))) {
            if (node->kind() == prim::GetAttr || node->kind() == prim::SetAttr)
                excluded_.insert(node->s(c10::attr::name));
            exclude_outer_body_of(*node);
        }
    }

    const KnownValues known_;
    const Value *const self_;
    std::map<std::pair<const c10::ivalue::Object *, std::string>, ConvertedAttribute> attributes_;
    mutable Answers same_for_all_samples_, chosen_for_all_samples_;
    std::set<std::string> excluded_; // names of attributes, whichever object has them
    bool has_other_code_ = false;
};

Value *read_at_the_start(Graph &graph, const std::vector<std::string> &path)
{
    const torch::jit::WithInsertPoint start(*graph.nodes().begin());
    Value *value = graph.inputs().at(0);
    for (const std::string &name : path)
        value = graph.insertGetAttr(value, name);
    return value;
}

// Returns what becomes of a value that a block of an If returns; null for other blocks.
const Value *value_after(const Use &returned)
{
    const Node *choice = returned.user->owningBlock()->owningNode();
    return choice && choice->kind() == prim::If ? choice->outputs().at(returned.offset) : nullptr;
}

// Takes one attribute out of the code.
class Replacement
{
public:
    explicit Replacement(const ConvertedAttribute &attribute) : attribute_(attribute)
    {
        for (const Node *set : attribute.sets)
            later_.insert(set->input(1));
    }

    // `value` is the attribute's before the block.  Returns the one after it.
    Value *replace(Block &block, Value *value)
    {
        for (auto it = block.nodes().begin(); it != block.nodes().end();) {
            Node *node = *it++;
            if (attribute_.sets.count(node)) {
                value = node->input(1);
                node->destroy();
            } else if (attribute_.reads.count(node)) {
                node->output()->replaceAllUsesWith(value);
                node->destroy();
            } else if (node->kind() == prim::If) {
                value = replace_in_both(*node, value);
            } else {
                for (Block *inner : node->blocks())
                    replace(*inner, value);
            }
        }
        return value;
    }

    // Whether nothing uses the saved value, or what is converted from it, before the attribute is
    // set.  Its type may decide whether it is converted.
    bool only_becomes_later(const Value *value) const
    {
        return std::all_of(value->uses().begin(), value->uses().end(), [&](const Use &use) {
            const Node &user = *use.user;
            if (converts_its_input(user) && use.offset > 0) // x.type_as(value)
                return false;
            if (converts_its_input(user) || is_operator(user, "aten::__getitem__"))
                return is_later(user.output()) || only_becomes_later(user.output());
            if (is_operator(user, "aten::append"))
                return is_later(user.input(0));
            if (user.kind() == prim::Return)
                return is_later(value_after(use));
            if (is_operator(user, "aten::len") || is_one_of(user, about_devices))
                return true;
            return is_operator(user, "prim::dtype") && only_decides(user.output());
        });
    }

private:
    Value *replace_in_both(Node &choice, Value *value)
    {
        Block &yes = *choice.blocks().at(0), &no = *choice.blocks().at(1);
        Value *after_yes = replace(yes, value), *after_no = replace(no, value);
        if (after_yes == after_no)
            return after_yes;
        yes.registerOutput(after_yes);
        no.registerOutput(after_no);
        Value *after = choice.addOutput()->setType(value->type());
        later_.insert(after);
        return after;
    }

    bool is_later(const Value *value) const { return later_.count(value) > 0; }

    // Whether the value only decides whether the attribute is converted.
    bool only_decides(const Value *value) const
    {
        return ask_once(only_decides_, value, true,
                        [&] { return value && is_found_to_only_decide(*value); });
    }

    bool is_found_to_only_decide(const Value &value) const
    {
        return std::all_of(value.uses().begin(), value.uses().end(), [&](const Use &use) {
            const Node &user = *use.user;
            if (is_one_of(user, comparisons))
                return only_decides(user.output());
            if (user.kind() == prim::Return)
                return only_decides(value_after(use));
            return user.kind() == prim::If && use.offset == 0 &&
                   std::all_of(user.outputs().begin(), user.outputs().end(),
                               [&](const Value *output) { return is_later(output); }) &&
                   std::all_of(user.blocks().begin(), user.blocks().end(),
                               [this](const Block *block) { return only_makes_later(*block); });
        });
    }

    // Whether the block only makes the attribute's next value.
    bool only_makes_later(const Block &block) const
    {
        constexpr std::array<std::string_view, 2> of_lists = {"aten::len", "aten::__getitem__"};
        return std::all_of(block.nodes().begin(), block.nodes().end(), [&](const Node *node) {
            if (is_operator(*node, "aten::append"))
                return is_later(node->input(0));
            if (node->kind() == prim::If || node->kind() == prim::Loop)
                return std::all_of(node->blocks().begin(), node->blocks().end(),
                                   [&](const Block *inner) { return only_makes_later(*inner); });
            return node->kind() == prim::Constant || node->kind() == prim::ListConstruct ||
                   converts_its_input(*node) || is_one_of(*node, about_types) ||
                   is_one_of(*node, comparisons) || is_one_of(*node, of_lists);
        });
    }

    const ConvertedAttribute &attribute_;
    std::set<const Value *> later_; // the attribute's values after it is set
    mutable Answers only_decides_;
};

} // namespace

std::vector<ConvertedAttribute> converted_attributes(const Module &module, Graph &graph)
{
    return AttributeFinder(module, graph).converted();
}

bool take_out(Graph &graph, const ConvertedAttribute &attribute)
{
    Value *saved = read_at_the_start(graph, attribute.path);
    Replacement replacement(attribute);
    replacement.replace(*graph.block(), saved);
    return replacement.only_becomes_later(saved);
}

} // namespace engine_torch
