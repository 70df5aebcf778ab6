// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "pickle_check.h"

#include "base/compose.h"
#include "pickle_machine.h"
#include "source_tokens.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace engine_torch
{

using dnn_torch::concat;

namespace
{

// LibTorch's recursion over values must not overflow the stack.
constexpr size_t most_dimensions = 64, deepest_value = 100;
constexpr uint64_t most_with_repeats = 64 << 20, most_elements = uint64_t{1} << 48;

enum class Kind : uint8_t {
    none,
    boolean,
    integer,
    real,
    text,
    tuple,
    list,
    dict,
    storage_type, // number: bytes per element
    function,     // can be called by REDUCE
    class_name,
    instance, // an object that has no state yet
    object,
    storage, // number: elements
    hooks,   // an empty OrderedDict
    other    // has no parts: tensors, devices, complex numbers
};

struct Value {
    Kind kind = Kind::none;
    bool complete = true; // nothing more can be added
    uint32_t depth = 1;   // nesting depth
    int64_t number = 0;
    std::string_view text;
    uint64_t weight = 1; // how many values it holds; shared ones count each time
    size_t first = 0;    // index of a tuple's first part
    size_t count = 0;
};

[[noreturn]] void refuse_pickle(const std::string &words)
{
    throw PickleFault(words);
}

[[noreturn]] void refuse_as_foreign()
{
    refuse_pickle("holds values in a form that PyTorch does not write for TorchScript");
}

struct AllowedType {
    std::string_view name;
    int64_t size;
};

constexpr std::array<AllowedType, 16> element_types = {{
    {"FloatStorage", 4},
    {"HalfStorage", 2},
    {"BFloat16Storage", 2},
    {"DoubleStorage", 8},
    {"ByteStorage", 1},
    {"CharStorage", 1},
    {"ShortStorage", 2},
    {"IntStorage", 4},
    {"LongStorage", 8},
    {"BoolStorage", 1},
    {"ComplexHalfStorage", 4},
    {"ComplexFloatStorage", 8},
    {"ComplexDoubleStorage", 16},
    {"UInt16Storage", 2},
    {"UInt32Storage", 4},
    {"UInt64Storage", 8},
}};

// The functions that REDUCE may call, by "module.name".
constexpr std::string_view rebuild_tensor = "torch._utils._rebuild_tensor_v2",
                           restore_type = "torch.jit._pickle.restore_type_tag",
                           ordered_dict = "collections.OrderedDict", complex = "builtins.complex",
                           device = "torch.device", list_prefix = "torch.jit._pickle.build_";
constexpr std::array<std::string_view, 4> lists = {
    "torch.jit._pickle.build_intlist",
    "torch.jit._pickle.build_doublelist",
    "torch.jit._pickle.build_boollist",
    "torch.jit._pickle.build_tensorlist",
};

bool is_function(std::string_view name)
{
    return name == rebuild_tensor || name == restore_type || name == ordered_dict ||
           name == complex || name == device ||
           std::find(lists.begin(), lists.end(), name) != lists.end();
}

// Knows the kinds of the values, but not the values.
class Checker final : PickleMachine<Value, Kind>
{
public:
    Checker(std::string_view bytes, const StorageSize &storage_size)
        : PickleMachine(bytes), storage_size_(storage_size)
    {
    }

    std::set<std::string> check()
    {
        if (byte() != 0x80 || byte() != 2)
            refuse_as_foreign();
        run();
        if (!rest().empty())
            refuse_as_foreign();
        return std::move(classes_);
    }

private:
    [[noreturn]] void fail() const override { refuse_as_foreign(); }
    [[noreturn]] void fail_as_too_large() const override { refuse_pickle("holds too many values"); }

    // ---- the stack
    void push_checked(const Value &value)
    {
        if (value.depth > deepest_value)
            refuse_pickle("holds values that are nested too deeply");
        if (value.weight > most_with_repeats)
            refuse_pickle("holds too many values");
        push(value);
    }

    void push_value(Kind kind, int64_t number = 0, std::string_view text = {}) override
    {
        Value value;
        value.kind = kind;
        value.number = number;
        value.text = text;
        push(value);
    }

    void push_long(uint64_t size) override
    {
        if (size != 8)
            refuse_as_foreign();
        push_value(Kind::integer, static_cast<int64_t>(little_endian(8)));
    }

    Value pop_kind(Kind kind)
    {
        const Value value = pop();
        if (value.kind != kind)
            refuse_as_foreign();
        return value;
    }

    static void include(Value &whole, const Value &part)
    {
        if (part.kind == Kind::instance)
            refuse_as_foreign();
        whole.depth = std::max(whole.depth, part.depth + 1);
        whole.weight = std::min(whole.weight + part.weight, most_with_repeats + 1);
    }

    void push_tuple(Entries parts) override
    {
        Value tuple;
        tuple.kind = Kind::tuple;
        tuple.first = parts_.size();
        tuple.count = parts.size();
        for (const Value &part : parts)
            include(tuple, part);
        parts_.insert(parts_.end(), parts.begin(), parts.end());
        push_checked(tuple);
    }

    const Value &part(const Value &tuple, size_t index, Kind kind) const
    {
        if (index >= tuple.count || parts_[tuple.first + index].kind != kind)
            refuse_as_foreign();
        return parts_[tuple.first + index];
    }

    void push_container(Kind kind) override
    {
        push_value(kind);
        top().complete = false;
    }

    // A container must not grow once it is in the memo.  So no container can hold itself.
    void add_parts(Kind kind, const Entries &parts) override
    {
        Value whole = pop_kind(kind);
        if (whole.complete || (kind == Kind::dict && parts.size() % 2 != 0))
            refuse_as_foreign();
        for (size_t i = 0; i < parts.size(); i++) {
            if (kind == Kind::dict && i % 2 == 0)
                check_key(parts[i].kind);
            include(whole, parts[i]);
        }
        whole.complete = true;
        push_checked(whole);
    }

    static void check_key(Kind kind)
    {
        if (kind != Kind::text && kind != Kind::integer && kind != Kind::real &&
            kind != Kind::boolean)
            refuse_pickle("holds a dict with keys that are neither texts nor numbers");
    }

    // ---- the memo
    void put(uint64_t place) override
    {
        top().complete = true;
        if (place > memo_.size() || top().kind == Kind::instance)
            refuse_as_foreign();
        if (place == memo_.size())
            memo_.emplace_back();
        memo_[place] = top();
    }

    void get(uint64_t place) override
    {
        if (place >= memo_.size())
            refuse_as_foreign();
        push_checked(memo_[place]);
    }

    // ---- calls
    void push_global(std::string_view module, std::string_view last) override
    {
        const std::string name = concat(module, ".", last);
        constexpr std::string_view root = "__torch__.", torch = "torch.";
        if (is_function(name))
            return push_value(Kind::function, 0, *names_.insert(name).first);
        if (name.compare(0, root.size(), root) == 0) {
            if (!is_type_text(name))
                refuse_as_foreign();
            return push_value(Kind::class_name, 0, *classes_.insert(name).first);
        }
        for (const AllowedType &type : element_types)
            if (name == std::string(torch) + std::string(type.name))
                return push_value(Kind::storage_type, type.size);
        if (name == "torch._utils._rebuild_qtensor" || name.rfind("torch.Q", 0) == 0)
            refuse_pickle("holds quantised tensors; export the model before it is quantised");
        if (!is_type_text(name))
            refuse_as_foreign();
        refuse_pickle("holds a value made by " + name +
                      ", which PyTorch does not write for TorchScript");
    }

    void push_instance() override
    {
        const Value arguments = pop_kind(Kind::tuple);
        const Value of = pop_kind(Kind::class_name);
        if (arguments.count != 0)
            refuse_as_foreign();
        push_value(Kind::instance, 0, of.text);
    }

    void build() override
    {
        const Value state = pop();
        pop_kind(Kind::instance);
        Value object;
        object.kind = Kind::object;
        include(object, state);
        push_checked(object);
    }

    void reduce() override
    {
        const Value arguments = pop();
        if (top().kind == Kind::class_name)
            refuse_pickle("keeps an enumeration's value, which is not supported");
        const Value function = pop_kind(Kind::function);
        if (arguments.kind != Kind::tuple)
            refuse_as_foreign();
        if (function.text == rebuild_tensor)
            return push_tensor(arguments);
        if (function.text == ordered_dict)
            return push_hooks(arguments);
        if (function.text == device) {
            part(arguments, 0, Kind::text);
        } else if (function.text == complex) {
            part(arguments, 0, Kind::real);
            part(arguments, 1, Kind::real);
        } else {
            return push_tagged(function, arguments);
        }
        push_value(Kind::other);
    }

    void push_hooks(const Value &arguments)
    {
        if (arguments.count != 0)
            refuse_as_foreign();
        push_value(Kind::hooks);
    }

    // Pushes the container, which now has a type for its values.
    void push_tagged(const Value &function, const Value &arguments)
    {
        const bool named = function.text == restore_type;
        if (arguments.count != (named ? 2U : 1U))
            refuse_as_foreign();
        const Value &container = parts_[arguments.first];
        if (container.kind != Kind::list && (!named || container.kind != Kind::dict))
            refuse_as_foreign();
        if (named && !is_type_text(part(arguments, 1, Kind::text).text))
            refuse_pickle("holds a list or dict of a type that cannot be read");
        push_checked(container);
    }

    // The tuple is ("storage", type, key, device, count).
    void push_storage() override
    {
        const Value id = pop_kind(Kind::tuple);
        const int64_t element = part(id, 1, Kind::storage_type).number;
        const std::string_view key = part(id, 2, Kind::text).text;
        const int64_t count = part(id, 4, Kind::integer).number;
        if (id.count != 5 || part(id, 0, Kind::text).text != "storage" ||
            part(id, 3, Kind::text).text.size() > 32 || count < 0)
            refuse_as_foreign();
        int64_t bytes = 0;
        if (__builtin_mul_overflow(count, element, &bytes))
            refuse_as_foreign();
        const auto size = count == 0 ? uint64_t{0} : storage_size_(key);
        if (!size)
            refuse_pickle("has a tensor whose record of numbers is missing");
        if (count > 0 && (*size < static_cast<uint64_t>(bytes) ||
                          *size - static_cast<uint64_t>(bytes) >= static_cast<uint64_t>(element)))
            refuse_pickle("has a tensor with more or fewer numbers than its record");
        push_value(Kind::storage, count);
    }

    // `arguments`: (storage, offset, sizes, strides, requires_grad, hooks)
    void push_tensor(const Value &arguments)
    {
        const int64_t count = part(arguments, 0, Kind::storage).number;
        const int64_t offset = part(arguments, 1, Kind::integer).number;
        const Value &sizes = part(arguments, 2, Kind::tuple);
        const Value &strides = part(arguments, 3, Kind::tuple);
        part(arguments, 4, Kind::boolean);
        part(arguments, 5, Kind::hooks);
        if (arguments.count != 6 || sizes.count != strides.count || sizes.count > most_dimensions)
            refuse_as_foreign();
        if (!lies_within(count, offset, sizes, strides))
            refuse_pickle("has a tensor that reaches beyond its storage");
        push_value(Kind::other);
    }

    bool lies_within(int64_t count, int64_t offset, const Value &sizes, const Value &strides) const
    {
        int64_t last = offset;
        uint64_t elements = 1;
        bool is_empty = false;
        for (size_t i = 0; i < sizes.count; i++) {
            const int64_t size = part(sizes, i, Kind::integer).number;
            const int64_t stride = part(strides, i, Kind::integer).number;
            int64_t reach = 0;
            if (size < 0 || stride < 0 ||
                __builtin_mul_overflow(std::max<int64_t>(size - 1, 0), stride, &reach) ||
                __builtin_add_overflow(last, reach, &last) ||
                __builtin_mul_overflow(elements, static_cast<uint64_t>(std::max<int64_t>(size, 1)),
                                       &elements) ||
                elements > most_elements)
                return false;
            is_empty = is_empty || size == 0;
        }
        return offset >= 0 && (is_empty ? offset <= count : last < count);
    }

    const StorageSize &storage_size_;
    Entries parts_, memo_;
    std::set<std::string> names_, classes_;
};

} // namespace

std::set<std::string> check_pickle(std::string_view bytes, const StorageSize &storage_size)
{
    return Checker(bytes, storage_size).check();
}

} // namespace engine_torch
