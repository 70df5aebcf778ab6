// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "pickle.h"

#include "base/compose.h"
#include "engine_kit/text.h"
#include "engines/torch/file/pickle_machine.h"
#include "pickle_calls.h"
#include "weights.h"

#include <cstddef>
#include <unordered_map>
#include <utility>

namespace engine_torch
{

using dnn_torch::concat;

namespace
{

using Kind = PickledValue::Kind;

constexpr size_t longest_global = 256;

[[noreturn]] void fail_as_damaged()
{
    throw WeightFault("is cut short or damaged, or is no file that torch.save() writes; copy or "
                      "download it again");
}

} // namespace

// Creates the values of a Pickle.
class PickleReader final : PickleMachine<ValueId, PickledValue::Kind>
{
public:
    PickleReader(std::string_view bytes, Pickle &pickle) : PickleMachine(bytes), pickle_(pickle) {}

    // Returns the bytes after the pickle.
    std::string_view read()
    {
        pickle_.root_ = run();
        return rest();
    }

private:
    Values &values() { return pickle_.values_; }

    [[noreturn]] void fail() const override { fail_as_damaged(); }
    [[noreturn]] void fail_as_too_large() const override
    {
        throw WeightFault("holds too many values to be a checkpoint");
    }

    // ---- the stack
    void push_new(PickledValue value)
    {
        values().push_back(std::move(value));
        push(static_cast<ValueId>(values().size() - 1));
    }

    void push_value(Kind kind, int64_t number = 0, std::string_view text = {}) override
    {
        push_new({.kind = kind, .number = number, .offset = 0, .text = text, .parts = {}});
    }

    void push_parts(Kind kind, Entries parts)
    {
        push_value(kind);
        values().back().parts = std::move(parts);
    }

    void push_tuple(Entries parts) override { push_parts(Kind::tuple, std::move(parts)); }
    void push_container(Kind kind) override { push_value(kind); }

    std::string_view pop_text()
    {
        const PickledValue &value = values()[pop()];
        if (value.kind != Kind::text)
            fail_as_damaged();
        return value.text;
    }

    // An object of an unknown class may be a kind of list or dictionary.
    void add_parts(Kind kind, const Entries &parts) override
    {
        PickledValue &whole = values()[top()];
        if (kind == Kind::dict && parts.size() % 2 != 0)
            fail_as_damaged();
        if (whole.kind == kind)
            whole.parts.insert(whole.parts.end(), parts.begin(), parts.end());
        else if (whole.kind != Kind::opaque && whole.kind != Kind::other)
            fail_as_damaged();
    }

    // ---- calls
    void push_global(std::string_view module, std::string_view name) override
    {
        if (module.size() + name.size() > longest_global)
            fail_as_damaged();
        const std::string &whole = *pickle_.names_.insert(concat(module, ".", name)).first;
        if (runs_programs(whole))
            throw WeightFault(concat("asks to run ", engine_kit::printable(whole),
                                     ", which is not done: no checkpoint needs it, so this may be "
                                     "an attack; get the weights from somebody else, as a "
                                     ".safetensors file"));
        push_value(Kind::name, 0, whole);
    }

    void push_call(ValueId function, ValueId arguments)
    {
        push(engine_torch::call(values(), function, arguments));
    }

    // Handles the instructions for classes of Python 2.
    void push_object(ValueId of, Entries arguments)
    {
        push_tuple(std::move(arguments));
        push_call(of, pop());
    }

    // Creating an object is a call of its class.
    void push_instance() override { reduce(); }

    void reduce() override
    {
        const ValueId arguments = pop();
        push_call(pop(), arguments);
    }

    // Stores the state of an object that is not created here; a whole module is recognised by it.
    // Other states, such as the attributes of an OrderedDict, contain no weights.
    void push_storage() override { push(find_storage(values(), pop())); }

    void build() override
    {
        const ValueId state = pop();
        PickledValue &object = values()[top()];
        if (object.kind == Kind::opaque)
            object.parts = {state};
    }

    // ---- numbers and bytes
    // Reads two's complement of any length.
    void push_long(uint64_t size) override
    {
        if (size > 8) {
            take(size);
            return push_value(Kind::other);
        }
        uint64_t value = little_endian(size);
        if (size > 0 && size < 8 && value >> (8 * size - 1))
            value |= ~uint64_t{0} << 8 * size;
        push_value(Kind::integer, static_cast<int64_t>(value));
    }

    void push_text(uint64_t size) { push_value(Kind::text, 0, take(size)); }

    void push_bytes(uint64_t size)
    {
        take(size);
        push_value(Kind::other);
    }

    void push_dict(Entries parts)
    {
        if (parts.size() % 2 != 0)
            fail_as_damaged();
        push_parts(Kind::dict, std::move(parts));
    }

    void set_item()
    {
        const ValueId value = pop(), key = pop();
        add_parts(Kind::dict, {key, value});
    }

    // ---- the memo
    void put(uint64_t place) override { memo_[place] = top(); }

    void get(uint64_t place) override
    {
        const auto found = memo_.find(place);
        if (found == memo_.end())
            fail_as_damaged();
        push(found->second);
    }

    // ---- instructions that PyTorch does not write for TorchScript; each function returns false
    // for an instruction of another group
    bool step_other(unsigned char opcode) override
    {
        return step_text(opcode) || step_parts(opcode) || step_stack(opcode) || step_object(opcode);
    }

    bool step_text(unsigned char opcode)
    {
        switch (opcode) {
        case 'T':
            return push_text(little_endian(4)), true;
        case 'U':
        case 0x8c:
            return push_text(little_endian(1)), true;
        case 0x8d:
            return push_text(little_endian(8)), true;
        case 'B':
            return push_bytes(little_endian(4)), true;
        case 'C':
            return push_bytes(little_endian(1)), true;
        case 0x8e:
        case 0x96:
            return push_bytes(little_endian(8)), true;
        case 0x8b:
            return push_long(little_endian(4)), true;
        default:
            return false;
        }
    }

    bool step_parts(unsigned char opcode)
    {
        switch (opcode) {
        case 'l':
            return push_parts(Kind::list, pop_to_mark()), true;
        case 'd':
            return push_dict(pop_to_mark()), true;
        case 0x8f:
            return push_value(Kind::other), true;
        case 0x91:
            return pop_to_mark(), push_value(Kind::other), true;
        case 's':
            return set_item(), true;
        case 0x90:
            return add_parts(Kind::other, pop_to_mark()), true;
        default:
            return false;
        }
    }

    bool step_stack(unsigned char opcode)
    {
        switch (opcode) {
        case 0x94:
            return put(memo_.size()), true;
        case '0':
            return pop(), true;
        case '1':
            return pop_to_mark(), true;
        case '2':
            return push(top()), true;
        case 0x80: // protocol
            return byte() <= 5;
        case 0x95: // frame: only says how much may be read at once
            return take(8), true;
        default:
            return false;
        }
    }

    bool step_object(unsigned char opcode)
    {
        switch (opcode) {
        case 0x93: {
            const std::string_view name = pop_text();
            return push_global(pop_text(), name), true;
        }
        case 0x92:
            return pop(), reduce(), true; // with keyword arguments, which PyTorch does not use
        case 'i': {
            const std::string_view module = line();
            push_global(module, line());
            const ValueId of = pop();
            return push_object(of, pop_to_mark()), true;
        }
        case 'o': {
            const Entries parts = pop_to_mark();
            if (parts.empty())
                fail_as_damaged();
            return push_object(parts.front(), {parts.begin() + 1, parts.end()}), true;
        }
        default:
            return false;
        }
    }

    Pickle &pickle_;
    std::unordered_map<uint64_t, ValueId> memo_;
};

Pickle::Pickle(std::string_view &bytes)
{
    if (bytes.substr(0, 1) != "\x80")
        fail_as_damaged();
    bytes = PickleReader(bytes, *this).read();
}

} // namespace engine_torch
