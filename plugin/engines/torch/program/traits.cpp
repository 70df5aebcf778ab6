// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "traits.h"

#include "converted_attributes.h"
#include "graph_checks.h"
#include "graph_walk.h"
#include "operator_traits.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <torch/csrc/jit/passes/inliner.h>

namespace engine_torch
{
namespace
{

using torch::jit::Graph;
using torch::jit::Module;
using torch::jit::Node;
using torch::jit::Value;
namespace prim = c10::prim;

// What is known of a value in the graph.
enum Mark : unsigned {
    kept = 1U,                // memory that outlives the run
    kept_inside = 2U,         // a container with such memory in it
    kept_tensors_inside = 4U, // a container with such tensors in it, but no such containers
    picture = 8U,             // the caller's pictures
    pictures_inside = 16U,    // a container with them in it
    weight = 32U,             // the kept memory may be a parameter
    in_code = 64U,            // the kept memory may be a constant of the code
    of_samples = 128U,        // not a tensor, but computed from samples
    dynamic_extents = 256U,   // a tensor whose extents depend on samples
};
constexpr unsigned memory =
    kept | kept_inside | kept_tensors_inside | picture | pictures_inside | weight | in_code;
constexpr unsigned anything = memory | of_samples | dynamic_extents;

bool has_memory(const Value &value)
{
    switch (value.type()->kind()) {
    case c10::TypeKind::NoneType:
    case c10::TypeKind::IntType:
    case c10::TypeKind::FloatType:
    case c10::TypeKind::BoolType:
    case c10::TypeKind::NumberType:
    case c10::TypeKind::StringType:
    case c10::TypeKind::DeviceObjType:
        return false;
    default:
        return true;
    }
}

bool is_tensor(const c10::TypePtr &type)
{
    if (const auto optional = type->cast<c10::OptionalType>())
        return is_tensor(optional->getElementType());
    return type->kind() == c10::TypeKind::TensorType;
}

bool is_tensor(const Value &value)
{
    return is_tensor(value.type());
}

// Whether it is a container, or an object, and no tensor.
bool is_container(const c10::TypePtr &type)
{
    if (const auto optional = type->cast<c10::OptionalType>())
        return is_container(optional->getElementType());
    const c10::TypeKind kind = type->kind();
    return kind == c10::TypeKind::ListType || kind == c10::TypeKind::DictType ||
           kind == c10::TypeKind::TupleType || kind == c10::TypeKind::ClassType;
}

bool holds_tensor(const c10::TypePtr &type)
{
    const auto inner = type->containedTypes();
    return type->kind() == c10::TypeKind::TensorType ||
           std::any_of(inner.begin(), inner.end(),
                       [](const auto &each) { return holds_tensor(each); });
}

// The code of forward(), inlined, with its arguments.
struct Forward {
    std::shared_ptr<Graph> graph;
    std::set<size_t> pictures, present; // those that are always None are not present
};

Forward forward_of(const Module &module, const std::vector<std::string> &picture_names,
                   const std::vector<std::string> &given_names)
{
    const auto method = module.get_method("forward");
    Forward forward = {.graph = method.graph()->copy(), .pictures = {}, .present = {}};
    torch::jit::Inline(*forward.graph);
    const c10::FunctionSchema &schema = method.function().getSchema();
    for (const std::string &name : picture_names) {
        const auto index = schema.argumentIndexWithName(name);
        forward.pictures.insert(index ? static_cast<size_t>(*index) : 0);
    }
    for (size_t i = 0; i < forward.graph->inputs().size(); i++) {
        const c10::Argument &argument = schema.arguments().at(i);
        const bool is_given =
            std::find(given_names.begin(), given_names.end(), argument.name()) != given_names.end();
        if (is_given || !argument.default_value() || !argument.default_value()->isNone())
            forward.present.insert(i);
    }
    return forward;
}

// Follows memory and samples through the graph until nothing new is found.
class Flow final : GraphWalk
{
public:
    Flow(const Module &module, const Forward &forward) : GraphWalk(module, forward.graph)
    {
        for (const size_t i : forward.present) {
            const Value *argument = graph_->inputs()[i];
            mark(argument, marks_of_argument(*argument, forward.pictures.count(i) > 0));
        }
    }

    // Not to be counted as a change.
    void ignore(const std::set<Node *> &nodes) { ignored_.insert(nodes.begin(), nodes.end()); }

    Traits follow()
    {
        follow_all();
        return traits_;
    }

private:
    // ---- marks

    static unsigned marks_of_argument(const Value &argument, bool is_picture)
    {
        if (!is_picture)
            return kept | kept_inside;
        return is_tensor(argument) ? picture : pictures_inside;
    }

    void mark(const Value *value, unsigned marks)
    {
        if (!has_memory(*value))
            marks &= ~memory;
        GraphWalk::mark(value, marks);
    }

    void mark_outputs(const Node &node, unsigned marks)
    {
        for (const Value *output : node.outputs())
            mark(output, marks);
    }

    // Returns the marks of an element of a container.  Once something was put into one container,
    // any container may return it.
    unsigned inside(unsigned container, bool is_tensor) const
    {
        const unsigned marks = (container | stored_) & ~(kept | picture);
        const unsigned kept_elements = is_tensor ? kept_inside | kept_tensors_inside : kept_inside;
        return marks | (marks & kept_elements ? unsigned{kept} : 0) |
               (marks & pictures_inside ? unsigned{picture} : 0);
    }

    unsigned inside(unsigned container, const Value &output) const
    {
        return inside(container, !is_container(output.type()));
    }

    // Returns the marks of a new container that holds the element.
    unsigned around(const Value &element) const
    {
        const unsigned marks = marks_of(&element);
        const unsigned is_kept = is_tensor(element) ? kept_tensors_inside : kept_inside;
        const unsigned of_containers = is_tensor(element) ? unsigned{kept_inside} : 0;
        return (marks & ~(kept | picture | of_containers)) | (marks & kept ? is_kept : 0) |
               (marks & picture ? unsigned{pictures_inside} : 0);
    }

    void store(const Value *container, const Value *element)
    {
        const unsigned marks = around(*element);
        mark(container, marks);
        changed_ = changed_ || (stored_ | (marks & memory)) != stored_;
        stored_ |= marks & memory;
    }

    // ---- findings

    void write(unsigned marks)
    {
        traits_.writes_input = traits_.writes_input || (marks & picture);
        if (!(marks & kept))
            return;
        traits_.keeps_state = true;
        traits_.writes_weights = traits_.writes_weights || (marks & weight);
        traits_.writes_constants = traits_.writes_constants || (marks & in_code);
    }

    void branch_on(unsigned marks)
    {
        traits_.branches_on_data = traits_.branches_on_data || (marks & of_samples);
    }

    void decide(const Node & /*node*/, unsigned marks) override { branch_on(marks); }

    // Assumes all effects, because those of the node are unknown.
    void assume_the_worst(const Node &node)
    {
        write(anything);
        branch_on(anything);
        mark_outputs(node, anything);
        traits_.forks = traits_.may_draw = true;
    }

    template <class Name> static void add_new(std::vector<Name> &names, const Name &name)
    {
        if (std::find(names.begin(), names.end(), name) == names.end())
            names.push_back(name);
    }

    // ---- the walk

    void visit(const Node &node) override
    {
        switch (node.kind()) {
        case prim::Constant:
            return mark_outputs(node, kept | kept_inside | in_code);
        case prim::GetAttr:
            return get_attribute(node);
        case prim::SetAttr:
            return set_attribute(node);
        case prim::If:
            return choose(node);
        case prim::Loop:
            return repeat(node);
        case prim::ListConstruct:
        case prim::TupleConstruct:
        case prim::DictConstruct:
            return mark_outputs(node, around_inputs(node));
        case prim::ListUnpack:
        case prim::TupleUnpack:
        case prim::TupleIndex:
        case prim::TupleSlice:
            return take_out(node);
        case prim::CreateObject:
        case prim::Uninitialized:
        case prim::isinstance:
        case prim::Print:
        case prim::RaiseException:
            return;
        case prim::unchecked_cast:
        case prim::unchecked_unwrap_optional:
            return mark_outputs(node, marks_of_inputs(node));
        default:
            break;
        }
        const auto [known, is_new] = bodies_.try_emplace(&node);
        if (is_new)
            known->second = outer_body_of(node);
        const std::shared_ptr<Graph> &body = known->second;
        traits_.forks = traits_.forks || node.hasAttribute(c10::attr::Subgraph);
        if (body)
            follow(node, *body);
        else if (node.maybeSchema() && node.blocks().empty())
            run_operator(node);
        else
            assume_the_worst(node);
    }

    unsigned around_inputs(const Node &node) const
    {
        unsigned marks = 0;
        for (const Value *input : node.inputs())
            marks |= around(*input);
        return marks;
    }

    void take_out(const Node &node)
    {
        for (const Value *output : node.outputs())
            mark(output, inside(marks_of_inputs(node), *output));
    }

    void set_attribute(const Node &node)
    {
        if (ignored_.count(&node))
            return;
        write(marks_of(node.input(0)));
        store(node.input(0), node.input(1));
    }

    // The object belongs to the module, or was created in this run.
    void get_attribute(const Node &node)
    {
        const unsigned marks = inside(marks_of(node.input()), *node.output());
        const bool learnt = (marks & kept) && known_.may_be_parameter(node);
        mark(node.output(), learnt ? marks | weight : marks);
    }

    void carry(const Value *from, const Value *to) override { mark(to, marks_of(from)); }

    // At the end of a `with`, the body has more inputs than the node: they are None.
    void follow(const Node &node, const Graph &body)
    {
        if (body.inputs().size() < node.inputs().size())
            return assume_the_worst(node);
        for (size_t i = 0; i < node.inputs().size(); i++)
            carry(node.inputs()[i], body.inputs()[i]);
        walk(*body.block());
        for (const Value *output : body.outputs())
            mark_outputs(node, marks_of(output));
    }

    // ---- operators

    void run_operator(const Node &node)
    {
        const c10::FunctionSchema &schema = node.schema();
        write_arguments(node, schema);
        check_mode(node, schema);
        check_numbers(node);
        for (size_t i = 0; i < node.outputs().size(); i++) {
            const Value &output = *node.outputs()[i];
            mark(&output,
                 memory_of_output(node, schema, i) | samples_in_output(node, schema, output));
        }
    }

    const Value *input_named(const Node &node, const char *argument) const
    {
        const auto index = node.schema().argumentIndexWithName(argument);
        return index ? node.input(static_cast<size_t>(*index)) : nullptr;
    }

    void write_arguments(const Node &node, const c10::FunctionSchema &schema)
    {
        for (size_t i = 0; i < node.inputs().size(); i++) {
            const c10::AliasInfo *alias = alias_of(schema.arguments(), i);
            if (!alias)
                continue;
            const unsigned marks = marks_of(node.input(i));
            if (writes_elements(*alias))
                write(inside(marks, true));
            if (!alias->isWrite())
                continue;
            write(marks);
            if (!is_tensor(*node.input(i)))
                store_others(node, i);
        }
    }

    // The operator may put its other inputs into this one.
    void store_others(const Node &node, size_t container)
    {
        for (size_t i = 0; i < node.inputs().size(); i++)
            if (i != container)
                store(node.input(container), node.input(i));
    }

    void check_numbers(const Node &node)
    {
        const bool makes_others = node.outputs().size() == 1 && !has_memory(*node.output());
        for (const Value *input : node.inputs())
            if (!makes_others && !has_memory(*input) && (marks_of(input) & of_samples))
                traits_.uses_samples_as_numbers = true;
    }

    void check_mode(const Node &node, const c10::FunctionSchema &schema)
    {
        bool has_mode = false, trains = false;
        for (const char *argument : mode_arguments)
            if (const Value *mode = input_named(node, argument)) {
                has_mode = true;
                trains = trains || known_.truth_of(mode) != false;
            }
        if (draws_random_numbers(schema) && (trains || !has_mode) && !draws_none(node))
            add_new(traits_.random, schema.name());
        if (trains && is_for_training(schema))
            add_new(traits_.training, schema.name());
        // The schemas do not show that the operators write to these.
        for (const char *argument : {"running_mean", "running_var"})
            if (const Value *mean = input_named(node, argument); mean && trains) {
                write(marks_of(mean));
                if (marks_of(mean) & kept)
                    add_new(traits_.training, schema.name());
            }
    }

    // Attention has an argument for the probability of dropout, but none for training mode.
    bool draws_none(const Node &node) const
    {
        const Value *argument = input_named(node, "dropout_p");
        const auto chance = argument ? known_.value_of(argument) : std::nullopt;
        return chance && chance->isDouble() && chance->toDouble() == 0;
    }

    static const c10::AliasInfo *alias_of(const std::vector<c10::Argument> &arguments, size_t i)
    {
        return i < arguments.size() ? arguments[i].alias_info() : nullptr;
    }

    unsigned memory_of_output(const Node &node, const c10::FunctionSchema &schema,
                              size_t index) const
    {
        const Value &output = *node.outputs()[index];
        if (may_return_input(schema.name()))
            return memory_of_first_tensor(node);
        const c10::AliasInfo *returned = alias_of(schema.returns(), index);
        if (!returned && is_tensor(output))
            return 0;
        unsigned marks = 0;
        for (size_t i = 0; i < node.inputs().size(); i++) {
            const c10::AliasInfo *given = alias_of(schema.arguments(), i);
            if (!returned) // a new container may hold what others held
                marks |= around(*node.input(i));
            else if (given ? may_alias(*returned, *given) : may_alias(*returned, {}))
                marks |= taken_out(*node.input(i), output);
        }
        return marks & memory;
    }

    // Of the first input that is or holds a tensor.
    unsigned memory_of_first_tensor(const Node &node) const
    {
        for (const Value *input : node.inputs()) {
            const bool is_list = input->type()->kind() == c10::TypeKind::ListType;
            if (holds_tensor(input->type()))
                return (is_list ? inside(marks_of(input), true) : marks_of(input)) & memory;
        }
        return 0;
    }

    unsigned taken_out(const Value &from, const Value &output) const
    {
        const unsigned marks = marks_of(&from);
        if (is_tensor(from))
            return is_tensor(output) ? marks : around(from);
        return is_tensor(output) ? inside(marks, true) : marks | inside(marks, output);
    }

    bool makes_dynamic_extents(const Node &node, const c10::FunctionSchema &schema) const
    {
        // The index may be a mask, unless the indices belong to the model.
        if (schema.name() == "aten::index")
            return !(marks_of(node.input(1)) & (kept_inside | kept_tensors_inside));
        return has_dynamic_extents(schema) ||
               (marks_of_inputs(node) & (of_samples | dynamic_extents));
    }

    // Whether an output depends on the samples or on values computed from them.
    unsigned samples_in_output(const Node &node, const c10::FunctionSchema &schema,
                               const Value &output) const
    {
        if (holds_tensor(output.type()))
            return makes_dynamic_extents(node, schema) ? unsigned{dynamic_extents} : 0;
        bool depends = marks_of_inputs(node) & (of_samples | dynamic_extents);
        for (const Value *input : node.inputs())
            depends = depends || (holds_tensor(input->type()) && !reads_no_samples(schema.name()));
        return depends ? unsigned{of_samples} : 0;
    }

    std::set<const Node *> ignored_;
    std::map<const Node *, std::shared_ptr<Graph>> bodies_; // code outside the graph
    unsigned stored_ = 0; // marks of the memory that was put into containers
    Traits traits_;
};

} // namespace

Traits traits_of(const Module &module, const std::vector<std::string> &picture_names,
                 const std::vector<std::string> &given_names)
{
    return Flow(module, forward_of(module, picture_names, given_names)).follow();
}

bool forget_conversions(const Module &module, const std::vector<std::string> &picture_names,
                        const std::vector<std::string> &given_names)
{
    const Forward trial = forward_of(module, picture_names, given_names);
    const auto converted = converted_attributes(module, *trial.graph);
    Flow flow(module, trial);
    for (const ConvertedAttribute &attribute : converted)
        flow.ignore(attribute.sets);
    const auto is_exact = [&](const auto &each) { return take_out(*trial.graph, each); };
    if (converted.empty() || flow.follow().keeps_state ||
        !std::all_of(converted.begin(), converted.end(), is_exact))
        return false;
    const auto graph = module.get_method("forward").graph();
    torch::jit::Inline(*graph);
    for (const ConvertedAttribute &attribute : converted_attributes(module, *graph))
        take_out(*graph, attribute);
    return true;
}

} // namespace engine_torch
