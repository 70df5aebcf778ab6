// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "pickle_calls.h"

#include "weights.h"

#include <algorithm>
#include <array>
#include <utility>

namespace engine_torch
{
namespace
{

using Kind = PickledValue::Kind;

[[noreturn]] void fail_as_foreign()
{
    throw WeightFault("holds tensors in a form that torch.save() does not write; download it "
                      "again, or save it anew with PyTorch");
}

ValueId add(Values &values, PickledValue value)
{
    values.push_back(std::move(value));
    return static_cast<ValueId>(values.size() - 1);
}

bool is_sequence(const PickledValue &value)
{
    return value.kind == Kind::tuple || value.kind == Kind::list;
}

// The elements of a tuple of arguments.
class Arguments
{
public:
    Arguments(const Values &values, ValueId tuple) : values_(values)
    {
        // A tuple can be used a million times, and is copied each time.
        constexpr size_t most = 16;
        if (values[tuple].kind != Kind::tuple || values[tuple].parts.size() > most)
            fail_as_foreign();
        parts_ = values[tuple].parts;
    }

    size_t count() const { return parts_.size(); }

    ValueId at(size_t index) const
    {
        if (index >= parts_.size())
            fail_as_foreign();
        return parts_[index];
    }

    ValueId at(size_t index, Kind kind) const
    {
        const ValueId part = at(index);
        if (values_[part].kind != kind)
            fail_as_foreign();
        return part;
    }

    ValueId sequence(size_t index) const
    {
        const ValueId part = at(index);
        if (!is_sequence(values_[part]))
            fail_as_foreign();
        return part;
    }

    int64_t number(size_t index) const { return values_[at(index, Kind::integer)].number; }

private:
    const Values &values_;
    std::vector<ValueId> parts_; // a copy: values move when one is added
};

// Arguments: (storage, offset, shape, strides, ...).
ValueId make_tensor(Values &values, const Arguments &given)
{
    return add(values,
               {.kind = Kind::tensor,
                .number = 0,
                .offset = given.number(1),
                .text = {},
                .parts = {given.at(0, Kind::storage), given.sequence(2), given.sequence(3)}});
}

// Arguments: (storage, offset, shape, strides, requires_grad, hooks, element type, ...).
ValueId make_tensor_of_type(Values &values, const Arguments &given)
{
    const ValueId tensor = make_tensor(values, given);
    values[tensor].parts.push_back(given.at(6, Kind::name));
    return tensor;
}

// Python 2 wrote an OrderedDict as a list of pairs.  Turns the list itself into the dictionary,
// because a pickle may use one list a million times.
ValueId make_dict(Values &values, const Arguments &given)
{
    if (given.count() == 0)
        return add(values, {.kind = Kind::dict, .number = 0, .offset = 0, .text = {}, .parts = {}});
    PickledValue &first = values[given.at(0)];
    if (first.kind == Kind::dict)
        return given.at(0);
    if (!is_sequence(first))
        fail_as_foreign();
    std::vector<ValueId> parts;
    for (const ValueId pair : first.parts) {
        const PickledValue &both = values[pair];
        if (!is_sequence(both) || both.parts.size() != 2)
            fail_as_foreign();
        parts.insert(parts.end(), both.parts.begin(), both.parts.end());
    }
    first.kind = Kind::dict;
    first.parts = std::move(parts);
    return given.at(0);
}

ValueId make_shape(Values &values, const Arguments &given)
{
    return given.count() == 1 && is_sequence(values[given.at(0)])
               ? given.at(0)
               : add(values,
                     {.kind = Kind::tuple, .number = 0, .offset = 0, .text = {}, .parts = {}});
}

// Arguments: (tensor, ...).  A parameter becomes its tensor.
ValueId take_tensor(Values & /*values*/, const Arguments &given)
{
    return given.at(0, Kind::tensor);
}

// Arguments: (function, class, arguments, state).  The result is a tensor with attributes.
ValueId make_with_state(Values &values, const Arguments &given);

struct Function {
    std::string_view name;
    ValueId (*make)(Values &, const Arguments &);
};

constexpr std::array<Function, 15> functions = {{
    {"torch._utils._rebuild_tensor_v2", make_tensor},
    {"torch._utils._rebuild_tensor", make_tensor},
    {"torch._utils._rebuild_tensor_v3", make_tensor_of_type},
    {"torch._utils._rebuild_parameter", take_tensor},
    {"torch._utils._rebuild_parameter_with_state", take_tensor},
    {"torch.nn.parameter.Parameter", take_tensor},
    {"torch.nn.parameter.Buffer", take_tensor},
    {"torch._tensor._rebuild_from_type_v2", make_with_state},
    {"torch._tensor._rebuild_from_type", make_with_state},
    {"torch.tensor._rebuild_from_type", make_with_state},
    {"collections.OrderedDict", make_dict},
    {"builtins.dict", make_dict},
    {"__builtin__.dict", make_dict},
    {"torch.Size", make_shape},
    {"torch.torch.Size", make_shape},
}};

const Function *find_function(std::string_view name)
{
    const auto *found = std::find_if(functions.begin(), functions.end(),
                                     [name](const Function &each) { return each.name == name; });
    return found == functions.end() ? nullptr : found;
}

ValueId make_with_state(Values &values, const Arguments &given)
{
    const ValueId function = given.at(0, Kind::name), arguments = given.at(2, Kind::tuple);
    const std::string_view name = values[function].text;
    const Function *known = find_function(name);
    if (!known || known->make == make_with_state)
        return add(values,
                   {.kind = Kind::opaque, .number = 0, .offset = 0, .text = name, .parts = {}});
    return known->make(values, Arguments(values, arguments));
}

// "torch.cuda.FloatStorage" has the same elements as "torch.FloatStorage".
bool is_storage_type(std::string_view name)
{
    constexpr std::string_view ending = "Storage";
    return name.starts_with("torch.") && name.size() > ending.size() &&
           name.substr(name.size() - ending.size()) == ending;
}

// `view`: (key, offset, count), a range within the storage.
void narrow(const Values &values, const PickledValue &view, PickledValue &storage)
{
    if (view.kind == Kind::none)
        return;
    if (view.kind != Kind::tuple || view.parts.size() != 3)
        fail_as_foreign();
    const PickledValue &offset = values[view.parts[1]], &count = values[view.parts[2]];
    if (offset.kind != Kind::integer || count.kind != Kind::integer || offset.number < 0 ||
        count.number < 0 || offset.number > storage.number ||
        count.number > storage.number - offset.number)
        fail_as_foreign();
    storage.offset = offset.number;
    storage.number = count.number;
}

} // namespace

bool runs_programs(std::string_view name)
{
    constexpr std::array<std::string_view, 22> modules = {
        "os.",     "posix.",  "nt.",     "subprocess.", "commands.",  "sys.",
        "shutil.", "socket.", "pty.",    "runpy.",      "importlib.", "imp.",
        "code.",   "codeop.", "ctypes.", "popen2",      "marshal.",   "webbrowser.",
        "bdb.",    "pdb.",    "timeit.", "platform."};
    constexpr std::array<std::string_view, 8> functions_of_python = {
        "eval", "exec", "execfile", "compile", "__import__", "open", "input", "breakpoint"};
    for (const std::string_view module : modules)
        if (name.starts_with(module))
            return true;
    for (const std::string_view module : {"builtins.", "__builtin__."})
        if (name.starts_with(module))
            return std::find(functions_of_python.begin(), functions_of_python.end(),
                             name.substr(std::string_view(module).size())) !=
                   functions_of_python.end();
    return false;
}

ValueId call(Values &values, ValueId function, ValueId arguments)
{
    if (values[function].kind != Kind::name)
        return add(values, {.kind = Kind::opaque,
                            .number = 0,
                            .offset = 0,
                            .text = values[function].text,
                            .parts = {}});
    const std::string_view name = values[function].text;
    if (const Function *known = find_function(name))
        return known->make(values, Arguments(values, arguments));
    return add(values, {.kind = Kind::opaque, .number = 0, .offset = 0, .text = name, .parts = {}});
}

// `id`: ("storage", type, key, device, count), in the older format followed by a view of it or
// None.  The older format also has ("module", class, file, source).
ValueId find_storage(Values &values, ValueId id)
{
    const Arguments given(values, id);
    const std::string_view what = values[given.at(0, Kind::text)].text;
    if (what == "module")
        return given.at(1, Kind::name);
    const ValueId type = given.at(1, Kind::name);
    PickledValue storage = {.kind = Kind::storage,
                            .number = given.number(4),
                            .offset = 0,
                            .text = values[given.at(2, Kind::text)].text,
                            .parts = {type}};
    if (what != "storage" || !is_storage_type(values[type].text) || storage.number < 0)
        fail_as_foreign();
    if (given.count() > 5)
        narrow(values, values[given.at(5)], storage);
    return add(values, std::move(storage));
}

} // namespace engine_torch
