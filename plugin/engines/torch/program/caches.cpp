// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "caches.h"

#include "graph_checks.h"
#include "graph_walk.h"
#include "operator_traits.h"

#include <algorithm>
#include <exception>
#include <map>
#include <string>
#include <torch/csrc/jit/ir/alias_analysis.h>
#include <utility>
#include <vector>

namespace engine_torch
{
namespace
{

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Module;
using torch::jit::Node;
using torch::jit::Value;
namespace prim = c10::prim;

// What a value, or something in a container, depends on.
enum Dependence : unsigned {
    on_samples = 1U, // a tensor: the pictures' samples
    on_numbers = 2U, // a number, flag or text: the same
    on_extents = 4U, // the extents of a tensor or the length of a list: the same
    first_history = 8U,
    // all further bits: whether the cache with that number was filled before this run
};
constexpr unsigned on_pictures = on_samples | on_numbers | on_extents;
constexpr size_t most_caches = 24;

// One attribute of an object of the module, with the only node that sets it.
struct CacheFill {
    const Node *set;
    const Node *guard; // the If that owns `set`, or null
    const void *object;
    unsigned history; // the mark; the same for all that one If fills
};

// Returns what values of the type can depend on.
unsigned marks_allowed(const c10::TypePtr &type)
{
    switch (type->kind()) {
    case c10::TypeKind::TensorType:
        return on_samples | on_extents;
    case c10::TypeKind::IntType:
    case c10::TypeKind::FloatType:
    case c10::TypeKind::BoolType:
    case c10::TypeKind::NumberType:
    case c10::TypeKind::StringType:
        return on_numbers;
    case c10::TypeKind::NoneType:
    case c10::TypeKind::DeviceObjType:
        return 0;
    case c10::TypeKind::ListType:
    case c10::TypeKind::DictType:
    case c10::TypeKind::TupleType:
    case c10::TypeKind::OptionalType: {
        unsigned marks = type->kind() == c10::TypeKind::OptionalType ? 0 : unsigned{on_extents};
        for (const auto &inner : type->containedTypes())
            marks |= marks_allowed(inner);
        return marks;
    }
    default:
        return on_pictures;
    }
}

bool may_hold_tensor(const c10::TypePtr &type)
{
    return marks_allowed(type) & on_samples;
}

// The operators that move elements between containers and compute nothing.
bool moves_elements(const std::string &name)
{
    static const std::set<std::string> names = {
        "aten::__getitem__", "aten::_set_item", "aten::append", "aten::extend", "aten::insert",
        "aten::items",       "aten::keys",      "aten::values", "aten::list",   "aten::get",
        "aten::pop",         "aten::copy",      "aten::update"};
    return names.count(name) > 0;
}

// The operators of whose tensor only the extents and the type matter.
bool makes_alike(const std::string &name)
{
    static const std::set<std::string> names = {
        "aten::zeros_like", "aten::ones_like", "aten::full_like", "aten::empty_like",
        "aten::new_zeros",  "aten::new_ones",  "aten::new_full",  "aten::new_empty"};
    return names.count(name) > 0;
}

const Value *behind_casts(const Value *value)
{
    while (value->node()->kind() == prim::unchecked_cast ||
           value->node()->kind() == prim::unchecked_unwrap_optional)
        value = value->node()->input();
    return value;
}

bool lies_in(const Value &value, const Node &owner)
{
    for (const Block *block = value.node()->owningBlock(); block && block->owningNode();
         block = block->owningNode()->owningBlock())
        if (block->owningNode() == &owner)
            return true;
    return false;
}

// Follows pictures and caches through the graph.  `is_clear` becomes false at the first doubt.
class CacheWalk final : GraphWalk
{
public:
    CacheWalk(const Module &module, const std::shared_ptr<Graph> &graph) : GraphWalk(module, graph)
    {
    }

    std::set<const Node *> fills()
    {
        find_fills();
        if (fills_.empty() || !is_clear_)
            return {};
        aliases_ = std::make_unique<torch::jit::AliasDb>(graph_);
        collect_values();
        for (size_t i = 1; i < graph_->inputs().size(); i++)
            mark(graph_->inputs()[i], on_samples | on_numbers);
        follow_all();
        for (const Value *output : graph_->outputs())
            is_clear_ = is_clear_ && !(marks_of(output) & ~on_pictures);
        std::set<const Node *> nodes;
        for (const CacheFill &fill : fills_)
            if (is_clear_)
                nodes.insert(fill.set);
        return nodes;
    }

private:
    // ---- the attributes

    const void *object_of(const Node &node) const
    {
        const auto object = known_.value_of(node.input(0));
        return object && object->isObject() ? object->toObject().get() : nullptr;
    }

    void find_fills()
    {
        for (const Node *node : nodes_in(*graph_->block()))
            if (const void *object = node->kind() == prim::SetAttr ? object_of(*node) : nullptr)
                add_fill(*node, object);
        for (const CacheFill &fill : fills_)
            for (const CacheFill &other : fills_)
                if (fill.guard && fill.guard == other.guard &&
                    fill.set->owningBlock() != other.set->owningBlock())
                    is_clear_ = false;
        for (const Node *node : nodes_in(*graph_->block()))
            if ((node->kind() == prim::GetAttr || node->kind() == prim::SetAttr) &&
                !object_of(*node))
                use_unknown(*node);
    }

    void add_fill(const Node &set, const void *object)
    {
        const Node *guard = set.owningBlock()->owningNode();
        for (const Node *outer = guard; outer; outer = outer->owningBlock()->owningNode())
            if (outer->kind() != prim::If)
                return;
        unsigned history = first_history << fills_.size();
        for (const CacheFill &other : fills_) {
            if (other.object == object && name_of(*other.set) == name_of(set))
                is_clear_ = false;
            if (guard && other.guard == guard)
                history = other.history;
        }
        if (fills_.size() >= most_caches)
            is_clear_ = false;
        else
            fills_.push_back({.set = &set, .guard = guard, .object = object, .history = history});
    }

    // An object that was chosen between others.  One that this run made has its attributes in
    // `fields_`.
    void use_unknown(const Node &node)
    {
        for (const CacheFill &fill : fills_)
            if (name_of(*fill.set) == name_of(node) &&
                *node.input(0)->type() == *fill.set->input(0)->type())
                is_clear_ = false;
    }

    static const std::string &name_of(const Node &node) { return node.s(c10::attr::name); }

    const CacheFill *fill_by(const Node &set) const
    {
        const auto found = std::find_if(fills_.begin(), fills_.end(),
                                        [&](const CacheFill &fill) { return fill.set == &set; });
        return found == fills_.end() ? nullptr : &*found;
    }

    const CacheFill *fill_read_by(const Node &read) const
    {
        const void *object = object_of(read);
        for (const CacheFill &fill : fills_)
            if (object == fill.object && name_of(read) == name_of(*fill.set))
                return &fill;
        return nullptr;
    }

    static bool is_behind(const Node &read, const CacheFill &fill)
    {
        return read.isDominatedBy(fill.set) || (fill.guard && read.isDominatedBy(fill.guard));
    }

    unsigned history_of_guard(const Node &node) const
    {
        for (const CacheFill &fill : fills_)
            if (fill.guard == &node)
                return fill.history;
        return 0;
    }

    // ---- marks

    void collect_values()
    {
        values_.assign(graph_->inputs().begin(), graph_->inputs().end());
        for (const Node *node : nodes_in(*graph_->block()))
            values_.insert(values_.end(), node->outputs().begin(), node->outputs().end());
    }

    void mark(const Value *value, unsigned marks)
    {
        GraphWalk::mark(value, marks & (marks_allowed(value->type()) | ~unsigned{on_pictures}));
    }

    void mark_outputs(const Node &node, unsigned marks)
    {
        for (const Value *output : node.outputs())
            mark(output, marks);
    }

    // What depends on whether code is executed.
    static unsigned spread(unsigned condition)
    {
        const unsigned history = condition & ~on_pictures;
        return condition & on_pictures ? on_pictures | history : history;
    }

    void carry(const Value *from, const Value *to) override { mark(to, marks_of(from)); }

    void decide(const Node &node, unsigned marks) override { mark_outputs(node, spread(marks)); }

    // ---- the walk

    void visit(const Node &node) override
    {
        switch (node.kind()) {
        case prim::Constant:
        case prim::CreateObject:
        case prim::Uninitialized:
        case prim::Print:
        case prim::RaiseException:
            return;
        case prim::GetAttr:
            return get_attribute(node);
        case prim::SetAttr:
            return set_attribute(node);
        case prim::If:
            return visit_if(node);
        case prim::Loop:
            return visit_loop(node);
        case prim::ListConstruct:
        case prim::TupleConstruct:
        case prim::DictConstruct:
        case prim::ListUnpack:
        case prim::TupleUnpack:
        case prim::TupleIndex:
        case prim::TupleSlice:
        case prim::isinstance:
        case prim::unchecked_cast:
        case prim::unchecked_unwrap_optional:
            return mark_outputs(node, marks_of_inputs(node));
        default:
            break;
        }
        if (node.maybeSchema() && node.blocks().empty() && !outer_body_of(node))
            run_operator(node);
        else
            is_clear_ = false;
    }

    void get_attribute(const Node &node)
    {
        const CacheFill *fill = fill_read_by(node);
        if (fill && !is_behind(node, *fill))
            mark(node.output(), fill->history);
        else if (!object_of(node))
            mark(node.output(), marks_of(node.input()) | fields_[field_of(node)]);
    }

    static std::pair<std::string, std::string> field_of(const Node &node)
    {
        return {node.input(0)->type()->str(), name_of(node)};
    }

    void set_attribute(const Node &node)
    {
        const Value &stored = *node.input(1);
        const unsigned marks = marks_of(&stored) | fields_of(stored.type()) | spread(control_);
        if (fill_by(node))
            is_clear_ = is_clear_ && marks == 0;
        else if (!object_of(node)) {
            for (const CacheFill &fill : fills_)
                if (!node.isBefore(fill.set) &&
                    *node.input(0)->type() == *fill.set->input(1)->type())
                    is_clear_ = false;
            unsigned &all = fields_[field_of(node)];
            changed_ = changed_ || (all | marks) != all;
            all |= marks;
        }
    }

    // The marks of all objects of that class, or of those in a container of that type.
    unsigned fields_of(const c10::TypePtr &type) const
    {
        unsigned marks = 0;
        if (type->kind() == c10::TypeKind::ClassType) {
            for (const auto &[field, all] : fields_)
                marks |= field.first == type->str() ? all : 0;
            return marks;
        }
        for (const auto &inner : type->containedTypes())
            marks |= fields_of(inner);
        return marks;
    }

    void visit_if(const Node &node)
    {
        const unsigned own = history_of_guard(node);
        const auto truth = known_.truth_of(node.input());
        const unsigned condition = truth ? 0 : marks_of(node.input());
        if (!own || truth)
            return choose_under(node, condition);
        if (condition & ~own)
            is_clear_ = false;
        guards_.push_back(&node);
        for (const Block *block : node.blocks())
            walk_guarded(*block, fills_in(*block) ? 0 : own);
        guards_.pop_back();
        for (size_t i = 0; i < node.outputs().size(); i++)
            carry_from_guard(node, i, own);
    }

    bool fills_in(const Block &block) const
    {
        return std::any_of(fills_.begin(), fills_.end(), [&](const CacheFill &fill) {
            return fill.set->owningBlock() == &block;
        });
    }

    void walk_guarded(const Block &block, unsigned condition)
    {
        const unsigned outer = std::exchange(control_, control_ | condition);
        walk(block);
        control_ = outer;
    }

    void choose_under(const Node &node, unsigned condition)
    {
        const unsigned outer = std::exchange(control_, control_ | condition);
        choose(node);
        control_ = outer;
    }

    // If one branch returns what it stores and the other one what is stored, both are the same.
    void carry_from_guard(const Node &node, size_t i, unsigned own)
    {
        const bool first = fills_in(*node.blocks().at(0));
        const Value *stored = node.blocks().at(first ? 0 : 1)->outputs()[i];
        const Value *kept = node.blocks().at(first ? 1 : 0)->outputs()[i];
        carry(stored, node.outputs()[i]);
        const Node &read = *behind_casts(kept)->node();
        const CacheFill *fill = read.kind() == prim::GetAttr ? fill_read_by(read) : nullptr;
        if (fill && fill->guard == &node && returns_stored(*stored, *fill))
            return;
        carry(kept, node.outputs()[i]);
        mark(node.outputs()[i], own);
    }

    bool returns_stored(const Value &value, const CacheFill &fill) const
    {
        const Value *plain = behind_casts(&value);
        const Node &read = *plain->node();
        return plain == behind_casts(fill.set->input(1)) ||
               (read.kind() == prim::GetAttr && fill_read_by(read) == &fill &&
                is_behind(read, fill));
    }

    void visit_loop(const Node &node)
    {
        const unsigned condition = marks_of(node.input(0)) | marks_of(node.input(1)) |
                                   marks_of(node.blocks().at(0)->outputs()[0]);
        const unsigned outer = std::exchange(control_, control_ | condition);
        repeat(node);
        control_ = outer;
    }

    // ---- operators

    void run_operator(const Node &node)
    {
        const c10::FunctionSchema &schema = node.schema();
        const unsigned marks = result_of(node, schema);
        mark_outputs(node, marks);
        for (size_t i = 0; i < node.inputs().size() && i < schema.arguments().size(); i++) {
            const c10::AliasInfo *alias = schema.arguments()[i].alias_info();
            if (alias && writes_elements(*alias))
                is_clear_ = false;
            else if (alias && alias->isWrite())
                write(node, *node.input(i), marks);
        }
    }

    unsigned result_of(const Node &node, const c10::FunctionSchema &schema) const
    {
        unsigned given = marks_of_inputs(node);
        if (makes_alike(schema.name()))
            given &= ~unsigned{on_samples};
        const unsigned history = given & ~on_pictures;
        if (draws_random_numbers(schema))
            return on_pictures | history;
        if (reads_no_samples(schema.name()))
            return history | (given & on_extents ? unsigned{on_numbers} : 0);
        unsigned of_numbers = 0;
        for (const Value *input : node.inputs())
            if (!may_hold_tensor(input->type()))
                of_numbers |= marks_of(input) & on_numbers;
        if (moves_elements(schema.name()))
            return given | (of_numbers ? on_pictures : 0);
        unsigned marks = history;
        if (given & on_pictures)
            marks |= on_samples | on_numbers;
        const bool by_mask = has_dynamic_extents(schema) || schema.name() == "aten::index";
        if (of_numbers || (given & on_extents) || (by_mask && (given & on_samples)))
            marks |= on_extents;
        return marks;
    }

    // LibTorch asks for values that may be changed, and changes none.
    bool may_share(const Value &a, const Value &b) const
    {
        return aliases_->mayContainAlias(const_cast<Value *>(&a), const_cast<Value *>(&b));
    }

    // All other names of the written memory are written, too.
    void write(const Node &node, const Value &written, unsigned marks)
    {
        for (const CacheFill &fill : fills_)
            if (!node.isBefore(fill.set) && may_share(*fill.set->input(1), written))
                is_clear_ = false;
        const unsigned all = marks | spread(control_);
        const auto [known, is_new] = written_.try_emplace(&node, all);
        if (!is_new && std::exchange(known->second, all) == all)
            return;
        for (const Value *value : values_)
            if (value == &written || aliases_->mayAlias(value, &written))
                mark(value, all | guards_around(*value));
    }

    // The guards that decide whether something outside them is written.
    unsigned guards_around(const Value &value) const
    {
        unsigned marks = 0;
        for (const Node *guard : guards_)
            if (!lies_in(value, *guard))
                marks |= history_of_guard(*guard);
        return marks;
    }

    std::vector<CacheFill> fills_;
    std::vector<const Value *> values_;
    std::unique_ptr<torch::jit::AliasDb> aliases_;
    std::map<std::pair<std::string, std::string>, unsigned> fields_; // of objects of this run
    std::map<const Node *, unsigned> written_; // what a node was last found to write
    std::vector<const Node *> guards_;         // those around the node that is visited
    unsigned control_ = 0;                     // what decides whether that node is executed
    bool is_clear_ = true;
};

} // namespace

std::set<const Node *> cache_fills(const Module &module, const std::shared_ptr<Graph> &graph)
{
    try {
        return CacheWalk(module, graph).fills();
    } catch (const std::exception &) {
        return {}; // LibTorch cannot follow the memory of each operator
    }
}

} // namespace engine_torch
