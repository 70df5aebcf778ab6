// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "value_check.h"

#include "graph_checks.h"

#include <ATen/core/Tensor.h>
#include <cstddef>
#include <cstdint>
#include <torch/csrc/jit/ir/constants.h>
#include <unordered_set>
#include <utility>
#include <vector>

namespace engine_torch
{
namespace
{

using c10::IValue;
using c10::TypeKind;
using c10::TypePtr;

bool lies_within_storage(const at::Tensor &tensor)
{
    if (!tensor.defined() || tensor.layout() != at::kStrided || !tensor.has_storage())
        return true;
    int64_t last = tensor.storage_offset();
    if (last < 0)
        return false;
    for (int64_t i = 0; i < tensor.dim(); i++) {
        if (tensor.size(i) == 0)
            return true;
        int64_t reach = 0;
        if (tensor.stride(i) < 0 ||
            __builtin_mul_overflow(tensor.size(i) - 1, tensor.stride(i), &reach) ||
            __builtin_add_overflow(last, reach, &last))
            return false;
    }
    return static_cast<uint64_t>(last) <
           tensor.storage().nbytes() / static_cast<size_t>(tensor.element_size());
}

// Visits values without recursion.  Visits a shared value once for each type.
class Walk
{
public:
    void add(const IValue &value, const TypePtr &type) { work_.emplace_back(value, type); }

    std::string find_fault()
    {
        while (!work_.empty()) {
            const auto [value, type] = work_.back();
            work_.pop_back();
            if (!check(value, type))
                return "holds a value that is no " + type->repr_str() + " though its code says so";
            if (reaches_out_)
                return "has a tensor that reaches beyond its storage";
        }
        return "";
    }

private:
    bool check(const IValue &value, const TypePtr &type)
    {
        switch (type->kind()) {
        case TypeKind::TensorType:
            return check_tensor(value);
        case TypeKind::OptionalType:
            if (!value.isNone())
                add(value, type->expectRef<c10::OptionalType>().getElementType());
            return true;
        case TypeKind::ListType:
            return check_list(value, type);
        case TypeKind::DictType:
            return check_dict(value, type);
        case TypeKind::TupleType:
            return check_tuple(value, type);
        case TypeKind::ClassType:
        case TypeKind::InterfaceType:
            return check_object(value, type);
        default:
            return value.type()->isSubtypeOf(*type);
        }
    }

    bool check_tensor(const IValue &value)
    {
        if (!value.isTensor())
            return false;
        reaches_out_ = reaches_out_ || !lies_within_storage(value.toTensor());
        return true;
    }

    bool check_list(const IValue &value, const TypePtr &type)
    {
        const TypePtr element = type->expectRef<c10::ListType>().getElementType();
        if (!value.isList() || *value.toList().elementType() != *element)
            return false;
        for (const IValue &each : value.toListRef())
            add(each, element);
        return true;
    }

    bool check_dict(const IValue &value, const TypePtr &type)
    {
        const auto &of = type->expectRef<c10::DictType>();
        if (!value.isGenericDict() || *value.toGenericDict().keyType() != *of.getKeyType() ||
            *value.toGenericDict().valueType() != *of.getValueType())
            return false;
        for (const auto &entry : value.toGenericDict()) {
            add(entry.key(), of.getKeyType());
            add(entry.value(), of.getValueType());
        }
        return true;
    }

    bool check_tuple(const IValue &value, const TypePtr &type)
    {
        const auto elements = type->expectRef<c10::TupleType>().elements();
        if (!value.isTuple() || value.toTupleRef().elements().size() != elements.size())
            return false;
        for (size_t i = 0; i < elements.size(); i++)
            add(value.toTupleRef().elements()[i], elements[i]);
        return true;
    }

    bool check_object(const IValue &value, const TypePtr &type)
    {
        if (!value.isObject())
            return false;
        const auto object = value.toObject();
        const auto own = object->type();
        const bool fits = type->kind() == TypeKind::InterfaceType ? own->isSubtypeOf(*type)
                                                                  : own.get() == type.get();
        if (!fits || !seen_.insert(object.get()).second)
            return fits;
        if (own->name() &&
            own->name()->qualifiedName().find(".torch.classes.") != std::string::npos)
            return true; // its contents are C++ objects
        if (object->slots().size() < own->numAttributes())
            return false;
        for (size_t i = 0; i < own->numAttributes(); i++)
            add(object->getSlot(i), own->getAttribute(i));
        return true;
    }

    std::vector<std::pair<IValue, TypePtr>> work_;
    std::unordered_set<const void *> seen_;
    bool reaches_out_ = false;
};

} // namespace

std::string find_wrong_value(const torch::jit::Module &module)
{
    Walk walk;
    walk.add(module._ivalue(), module.type());
    visit_nodes(module, [&](const torch::jit::Node &node) {
        if (node.kind() != c10::prim::Constant || node.outputs().size() != 1)
            return;
        if (const auto value = torch::jit::toIValue(node.output()))
            walk.add(*value, node.output()->type());
    });
    return walk.find_fault();
}

} // namespace engine_torch
