// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "pickle_check.h"

#include "source_tokens.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace engine_torch
{
namespace
{

// More values than the largest published models have, but fewer than overflow the stack in
// LibTorch's recursion over values.
constexpr size_t most_values = 4 << 20, most_dimensions = 64, deepest_value = 100;
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

struct ElementType {
    std::string_view name;
    int64_t size;
};

constexpr std::array<ElementType, 16> element_types = {{
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

// Runs a pickle like its stack machine does, but on kinds instead of values.
class Machine
{
public:
    Machine(std::string_view bytes, const StorageSize &storage_size)
        : rest_(bytes), storage_size_(storage_size)
    {
    }

    std::set<std::string> run()
    {
        if (byte() != 0x80 || byte() != 2)
            refuse_as_foreign();
        while (step(byte()))
            if (++steps_ > most_values)
                refuse_pickle("holds too many values");
        if (stack_.size() != 1 || !marks_.empty() || !rest_.empty())
            refuse_as_foreign();
        return std::move(classes_);
    }

private:
    // ---- the program's bytes
    std::string_view take(size_t size)
    {
        if (size > rest_.size())
            refuse_as_foreign();
        const std::string_view taken = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return taken;
    }

    unsigned char byte() { return static_cast<unsigned char>(take(1).front()); }

    int64_t little_endian(size_t size)
    {
        const std::string_view digits = take(size);
        uint64_t value = 0;
        for (size_t i = size; i > 0; i--)
            value = value << 8 | static_cast<unsigned char>(digits[i - 1]);
        return static_cast<int64_t>(value);
    }

    std::string_view line()
    {
        const size_t end = rest_.find('\n');
        const std::string_view text = take(std::min(end, rest_.size()));
        take(1);
        return text;
    }

    // ---- the stack
    size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }

    Value pop()
    {
        if (stack_.size() <= floor())
            refuse_as_foreign();
        const Value value = stack_.back();
        stack_.pop_back();
        return value;
    }

    Value &top(Kind kind)
    {
        if (stack_.size() <= floor() || stack_.back().kind != kind || !stack_.back().complete)
            refuse_as_foreign();
        return stack_.back();
    }

    void push(const Value &value)
    {
        if (value.depth > deepest_value)
            refuse_pickle("holds values that are nested too deeply");
        if (value.weight > most_with_repeats)
            refuse_pickle("holds too many values");
        stack_.push_back(value);
    }

    void push(Kind kind, int64_t number = 0, std::string_view text = {})
    {
        Value value;
        value.kind = kind;
        value.number = number;
        value.text = text;
        push(value);
    }

    Value pop(Kind kind)
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

    // Removes the values above the last mark from the stack and returns them.
    std::vector<Value> pop_to_mark()
    {
        if (marks_.empty())
            refuse_as_foreign();
        const auto first = stack_.begin() + static_cast<ptrdiff_t>(marks_.back());
        std::vector<Value> values(first, stack_.end());
        stack_.erase(first, stack_.end());
        marks_.pop_back();
        return values;
    }

    void push_tuple(const std::vector<Value> &parts)
    {
        Value tuple;
        tuple.kind = Kind::tuple;
        tuple.first = parts_.size();
        tuple.count = parts.size();
        for (const Value &part : parts)
            include(tuple, part);
        parts_.insert(parts_.end(), parts.begin(), parts.end());
        push(tuple);
    }

    void push_tuple_of(size_t count)
    {
        std::vector<Value> parts(count);
        for (size_t i = count; i > 0; i--)
            parts[i - 1] = pop();
        push_tuple(parts);
    }

    const Value &part(const Value &tuple, size_t index, Kind kind) const
    {
        if (index >= tuple.count || parts_[tuple.first + index].kind != kind)
            refuse_as_foreign();
        return parts_[tuple.first + index];
    }

    // A container must not grow once it is in the memo.  So no container can hold itself.
    Value &open_container(Kind kind)
    {
        if (stack_.size() <= floor() || stack_.back().kind != kind || stack_.back().complete)
            refuse_as_foreign();
        return stack_.back();
    }

    void close_container(Value whole)
    {
        whole.complete = true;
        stack_.pop_back();
        push(whole);
    }

    void push_container(Kind kind)
    {
        push(kind);
        stack_.back().complete = false;
    }

    void append(const std::vector<Value> &values)
    {
        Value list = open_container(Kind::list);
        for (const Value &value : values)
            include(list, value);
        close_container(list);
    }

    void set_items(const std::vector<Value> &values)
    {
        Value dict = open_container(Kind::dict);
        if (values.size() % 2 != 0)
            refuse_as_foreign();
        for (size_t i = 0; i < values.size(); i++) {
            const Kind kind = values[i].kind;
            if (i % 2 == 0 && kind != Kind::text && kind != Kind::integer && kind != Kind::real &&
                kind != Kind::boolean)
                refuse_pickle("holds a dict with keys that are neither texts nor numbers");
            include(dict, values[i]);
        }
        close_container(dict);
    }

    // ---- the memo
    void put(size_t place)
    {
        if (stack_.size() <= floor() || place > memo_.size())
            refuse_as_foreign();
        stack_.back().complete = true;
        if (stack_.back().kind == Kind::instance)
            refuse_as_foreign();
        if (place == memo_.size())
            memo_.emplace_back();
        memo_[place] = stack_.back();
    }

    void get(size_t place)
    {
        if (place >= memo_.size())
            refuse_as_foreign();
        push(memo_[place]);
    }

    // ---- calls
    void push_global()
    {
        std::string name(line());
        name.append(".").append(line());
        constexpr std::string_view root = "__torch__.", torch = "torch.";
        if (is_function(name))
            return push(Kind::function, 0, *names_.insert(name).first);
        if (name.compare(0, root.size(), root) == 0) {
            if (!is_type_text(name))
                refuse_as_foreign();
            return push(Kind::class_name, 0, *classes_.insert(name).first);
        }
        for (const ElementType &type : element_types)
            if (name == std::string(torch) + std::string(type.name))
                return push(Kind::storage_type, type.size);
        if (name == "torch._utils._rebuild_qtensor" || name.rfind("torch.Q", 0) == 0)
            refuse_pickle("holds quantised tensors; export the model before it is quantised");
        if (!is_type_text(name))
            refuse_as_foreign();
        refuse_pickle("holds a value made by " + name +
                      ", which PyTorch does not write for TorchScript");
    }

    void push_instance()
    {
        const Value arguments = pop(Kind::tuple);
        const Value of = pop(Kind::class_name);
        if (arguments.count != 0)
            refuse_as_foreign();
        push(Kind::instance, 0, of.text);
    }

    void build()
    {
        const Value state = pop();
        pop(Kind::instance);
        Value object;
        object.kind = Kind::object;
        include(object, state);
        push(object);
    }

    void reduce()
    {
        const Value arguments = pop();
        if (stack_.size() > floor() && stack_.back().kind == Kind::class_name)
            refuse_pickle("keeps an enumeration's value, which is not supported");
        const Value function = pop(Kind::function);
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
        push(Kind::other);
    }

    void push_hooks(const Value &arguments)
    {
        if (arguments.count != 0)
            refuse_as_foreign();
        push(Kind::hooks);
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
        push(container);
    }

    // The tuple is ("storage", type, key, device, count).
    void push_storage()
    {
        const Value id = pop(Kind::tuple);
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
        push(Kind::storage, count);
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
        push(Kind::other);
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

    // ---- instructions
    bool step(unsigned char opcode)
    {
        return step_value(opcode) || step_container(opcode) || step_call(opcode) ||
               (opcode != '.' ? (refuse_as_foreign(), false) : false);
    }

    bool step_value(unsigned char opcode)
    {
        switch (opcode) {
        case 'N':
            return push(Kind::none), true;
        case 0x88:
        case 0x89:
            return push(Kind::boolean), true;
        case 'K':
            return push(Kind::integer, little_endian(1)), true;
        case 'M':
            return push(Kind::integer, little_endian(2)), true;
        case 'J':
            return push(Kind::integer, static_cast<int32_t>(little_endian(4))), true;
        case 0x8a:
            if (byte() != 8)
                refuse_as_foreign();
            return push(Kind::integer, little_endian(8)), true;
        case 'G':
            return take(8), push(Kind::real), true;
        case 'X':
            return push_text(), true;
        default:
            return false;
        }
    }

    void push_text()
    {
        const auto size = static_cast<size_t>(little_endian(4));
        push(Kind::text, 0, take(size));
    }

    bool step_container(unsigned char opcode)
    {
        switch (opcode) {
        case '(':
            return marks_.push_back(stack_.size()), true;
        case ')':
            return push_tuple_of(0), true;
        case 0x85:
        case 0x86:
        case 0x87:
            return push_tuple_of(opcode - 0x84U), true;
        case 't':
            return push_tuple(pop_to_mark()), true;
        case ']':
            return push_container(Kind::list), true;
        case '}':
            return push_container(Kind::dict), true;
        case 'a': {
            const Value value = pop();
            return append({value}), true;
        }
        case 'e':
            return append(pop_to_mark()), true;
        case 'u':
            return set_items(pop_to_mark()), true;
        default:
            return false;
        }
    }

    bool step_call(unsigned char opcode)
    {
        switch (opcode) {
        case 'q':
            return put(static_cast<size_t>(little_endian(1))), true;
        case 'r':
            return put(static_cast<size_t>(little_endian(4))), true;
        case 'h':
            return get(static_cast<size_t>(little_endian(1))), true;
        case 'j':
            return get(static_cast<size_t>(little_endian(4))), true;
        case 'c':
            return push_global(), true;
        case 0x81:
            return push_instance(), true;
        case 'b':
            return build(), true;
        case 'R':
            return reduce(), true;
        case 'Q':
            return push_storage(), true;
        default:
            return false;
        }
    }

    std::string_view rest_;
    const StorageSize &storage_size_;
    size_t steps_ = 0;
    std::vector<Value> stack_, parts_, memo_;
    std::vector<size_t> marks_;
    std::set<std::string> names_, classes_;
};

} // namespace

std::set<std::string> check_pickle(std::string_view bytes, const StorageSize &storage_size)
{
    return Machine(bytes, storage_size).run();
}

} // namespace engine_torch
