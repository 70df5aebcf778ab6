// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "state_copy.h"

#include "graph_checks.h"

#include <ATen/core/grad_mode.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <map>
#include <set>
#include <utility>

namespace engine_torch
{
namespace
{

using c10::IValue;

// Shared values stay shared in the copy, and so does shared memory of tensors.  IValue::deepcopy()
// would mistake two views of the same memory for the same value.
class Copier
{
public:
    // `kept` are tensors that are not copied.
    explicit Copier(std::set<const c10::StorageImpl *> kept = {}) : kept_(std::move(kept)) {}

    // Whether attributes share memory with tensors that were not to be copied.
    bool met_kept() const { return met_kept_; }

    IValue copy(const IValue &value)
    {
        if (value.isTensor())
            return copy_tensor(value.toTensor());
        if (!value.isList() && !value.isGenericDict() && !value.isTuple() && !value.isObject())
            return value;
        for (const auto &[original, copied] : known_)
            if (original.is(value))
                return copied;
        return copy_container(value);
    }

private:
    IValue copy_container(const IValue &value)
    {
        if (value.isObject())
            return copy_object(value);
        if (value.isList())
            return copy_list(value);
        return value.isTuple() ? copy_tuple(value) : copy_dict(value);
    }

    // Records the copy before its attributes are copied, because they may refer to the object.
    IValue copy_object(const IValue &value)
    {
        const auto copied = value.toObjectRef().copy();
        known_.emplace_back(value, copied);
        const auto type = copied->type();
        for (size_t slot = 0; slot < type->numAttributes(); slot++)
            if (kept_.empty() || !type->is_module() || !type->is_parameter(slot))
                copied->setSlot(slot, copy(copied->getSlot(slot)));
        return copied;
    }

    IValue copy_list(const IValue &value)
    {
        c10::List<IValue> copied = value.toList().copy();
        known_.emplace_back(value, copied);
        for (size_t i = 0; i < copied.size(); i++)
            copied.set(i, copy(copied.get(i)));
        return copied;
    }

    IValue copy_dict(const IValue &value)
    {
        const auto original = value.toGenericDict();
        auto copied = original.copy();
        known_.emplace_back(value, copied);
        for (const auto &entry : original)
            copied.insert_or_assign(entry.key(), copy(entry.value()));
        return copied;
    }

    IValue copy_tuple(const IValue &value)
    {
        const auto original = value.toTuple();
        std::vector<IValue> elements;
        for (const IValue &element : original->elements())
            elements.push_back(copy(element));
        return c10::ivalue::Tuple::createNamed(std::move(elements),
                                               original->type<c10::TupleType>());
    }

    at::Tensor copy_tensor(const at::Tensor &tensor)
    {
        if (!tensor.defined())
            return tensor;
        if (tensor.layout() != at::kStrided || tensor.is_quantized())
            return tensor.clone();
        met_kept_ = met_kept_ || kept_.count(tensor.storage().unsafeGetStorageImpl());
        auto [found, is_new] = storages_.try_emplace(tensor.storage().unsafeGetStorageImpl());
        if (is_new)
            found->second = at::empty({0}, tensor.options()).set_(tensor.storage()).clone();
        return at::empty({0}, tensor.options())
            .set_(found->second.storage(), tensor.storage_offset(), tensor.sizes(),
                  tensor.strides());
    }

    const std::set<const c10::StorageImpl *> kept_;
    bool met_kept_ = false;
    std::vector<std::pair<IValue, IValue>> known_;
    std::map<const c10::StorageImpl *, at::Tensor> storages_; // copies of whole storages
};

void set_values(const at::Tensor &tensor, const at::Tensor &values)
{
    if (tensor.sizes() == values.sizes())
        tensor.copy_(values);
    else
        tensor.set_data(values.clone());
}

std::set<const c10::StorageImpl *> storages_of_parameters(const torch::jit::Module &module)
{
    std::set<const c10::StorageImpl *> storages;
    for (const at::Tensor &parameter : module.parameters())
        if (parameter.defined() && parameter.has_storage())
            storages.insert(parameter.storage().unsafeGetStorageImpl());
    return storages;
}

// Shares the parameters with the original, unless runs may write to them, also through attributes
// that share their memory.
torch::jit::Module copy_of_module(const torch::jit::Module &module, bool writes_weights)
{
    if (!writes_weights) {
        Copier copier(storages_of_parameters(module));
        const IValue copied = copier.copy(module._ivalue());
        if (!copier.met_kept())
            return torch::jit::Module(copied.toObject());
    }
    return torch::jit::Module(Copier().copy(module._ivalue()).toObject());
}

} // namespace

IValue copy_of(const IValue &value)
{
    const at::NoGradGuard no_gradients;
    return Copier().copy(value);
}

StateCopy::StateCopy(const torch::jit::Module &module, const Traits &traits)
{
    const at::NoGradGuard no_gradients;
    module_ = copy_of_module(module, traits.writes_weights);
    if (traits.writes_constants)
        for (const at::Tensor &constant : tensors_in_code(module))
            constants_.push_back(
                {.in_code = constant, .original = constant.clone(), .own = constant.clone()});
}

StateCopy::Use::Use(StateCopy &copy) : copy_(copy)
{
    const at::NoGradGuard no_gradients;
    for (const Constant &constant : copy_.constants_)
        set_values(constant.in_code, constant.own);
}

StateCopy::Use::~Use()
{
    const at::NoGradGuard no_gradients;
    for (Constant &constant : copy_.constants_)
        try {
            constant.own = constant.in_code.clone();
            set_values(constant.in_code, constant.original);
        } catch (...) {
            // The constant keeps its values.  This should not happen: the constant was copied, so
            // it is writable.
        }
}

} // namespace engine_torch
