// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "pickle.h"

#include "base/compose.h"
#include "engine_kit/text.h"
#include "pickle_calls.h"
#include "weights.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <utility>

namespace engine_torch
{

using dnn_torch::concat;

namespace
{

using Kind = PickledValue::Kind;

// Far more than the largest published training state has.  Each instruction creates at most one
// value, or one entry of the stack, the marks or the memo.
constexpr size_t most_instructions = 4 << 20;
constexpr size_t longest_global = 256;

[[noreturn]] void fail_as_damaged()
{
    throw WeightFault("is cut short or damaged, or is no file that torch.save() writes; copy or "
                      "download it again");
}

} // namespace

// Does the same as the stack machine of pickles.
class PickleMachine
{
public:
    PickleMachine(std::string_view &bytes, Pickle &pickle) : rest_(bytes), pickle_(pickle) {}

    void run()
    {
        size_t count = 0;
        for (unsigned char opcode = byte(); opcode != '.'; opcode = byte()) {
            if (!step_number(opcode) && !step_text(opcode) && !step_container(opcode) &&
                !step_memo(opcode) && !step_call(opcode))
                fail_as_damaged();
            if (++count > most_instructions)
                throw WeightFault("holds too many values to be a checkpoint");
        }
        pickle_.root_ = pop();
        if (!stack_.empty() || !marks_.empty())
            fail_as_damaged();
    }

private:
    Values &values() { return pickle_.values_; }

    // ---- the program's bytes
    std::string_view take(uint64_t size)
    {
        if (size > rest_.size())
            fail_as_damaged();
        const std::string_view taken = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return taken;
    }

    unsigned char byte() { return static_cast<unsigned char>(take(1).front()); }

    uint64_t little_endian(size_t size)
    {
        const std::string_view digits = take(size);
        uint64_t value = 0;
        for (size_t i = size; i > 0; i--)
            value = value << 8 | static_cast<unsigned char>(digits[i - 1]);
        return value;
    }

    std::string_view line()
    {
        const size_t end = rest_.find('\n');
        if (end == std::string_view::npos)
            fail_as_damaged();
        const std::string_view text = take(end);
        take(1);
        return text;
    }

    // ---- the stack
    void push(ValueId id) { stack_.push_back(id); }

    void push(Kind kind, int64_t number = 0, std::string_view text = {},
              std::vector<ValueId> parts = {})
    {
        values().push_back(
            {.kind = kind, .number = number, .offset = 0, .text = text, .parts = std::move(parts)});
        push(static_cast<ValueId>(values().size() - 1));
    }

    size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }

    ValueId top() const
    {
        if (stack_.size() <= floor())
            fail_as_damaged();
        return stack_.back();
    }

    ValueId pop()
    {
        const ValueId id = top();
        stack_.pop_back();
        return id;
    }

    std::string_view pop_text()
    {
        const PickledValue &value = values()[pop()];
        if (value.kind != Kind::text)
            fail_as_damaged();
        return value.text;
    }

    std::vector<ValueId> pop_to_mark()
    {
        if (marks_.empty())
            fail_as_damaged();
        const auto first = stack_.begin() + static_cast<ptrdiff_t>(marks_.back());
        std::vector<ValueId> ids(first, stack_.end());
        stack_.erase(first, stack_.end());
        marks_.pop_back();
        return ids;
    }

    void push_tuple_of(size_t count)
    {
        std::vector<ValueId> parts(count);
        for (size_t i = count; i > 0; i--)
            parts[i - 1] = pop();
        push(Kind::tuple, 0, {}, std::move(parts));
    }

    // An object of an unknown class may be a kind of list or dictionary.
    void add_parts(const std::vector<ValueId> &parts, Kind kind)
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
    void push_name(std::string_view module, std::string_view name)
    {
        if (module.size() + name.size() > longest_global)
            fail_as_damaged();
        const std::string &whole = *pickle_.names_.insert(concat(module, ".", name)).first;
        if (runs_programs(whole))
            throw WeightFault(concat("asks to run ", engine_kit::printable(whole),
                                     ", which is not done: no checkpoint needs it, so this may be "
                                     "an attack; get the weights from somebody else, as a "
                                     ".safetensors file"));
        push(Kind::name, 0, whole);
    }

    void push_call(ValueId function, ValueId arguments)
    {
        push(engine_torch::call(values(), function, arguments));
    }

    // Handles the instructions for classes of Python 2.
    void push_object(ValueId of, std::vector<ValueId> arguments)
    {
        push(Kind::tuple, 0, {}, std::move(arguments));
        push_call(of, pop());
    }

    void call()
    {
        const ValueId arguments = pop();
        push_call(pop(), arguments);
    }

    // Stores the state of an object that is not created here; a whole module is recognised by it.
    // Other states, such as the attributes of an OrderedDict, contain no weights.
    void build()
    {
        const ValueId state = pop();
        PickledValue &object = values()[top()];
        if (object.kind == Kind::opaque)
            object.parts = {state};
    }

    // ---- instructions; each function returns false for an instruction of another group
    bool step_number(unsigned char opcode)
    {
        switch (opcode) {
        case 'N':
            return push(Kind::none), true;
        case 0x88:
        case 0x89:
            return push(Kind::boolean, opcode == 0x88), true;
        case 'K':
            return push(Kind::integer, static_cast<int64_t>(little_endian(1))), true;
        case 'M':
            return push(Kind::integer, static_cast<int64_t>(little_endian(2))), true;
        case 'J':
            return push(Kind::integer, static_cast<int32_t>(little_endian(4))), true;
        case 0x8a:
            return push_long(little_endian(1)), true;
        case 0x8b:
            return push_long(little_endian(4)), true;
        case 'G':
            return take(8), push(Kind::other), true;
        default:
            return false;
        }
    }

    // Reads two's complement of any length.
    void push_long(uint64_t size)
    {
        if (size > 8) {
            take(size);
            return push(Kind::other);
        }
        uint64_t value = little_endian(size);
        if (size > 0 && size < 8 && value >> (8 * size - 1))
            value |= ~uint64_t{0} << 8 * size;
        push(Kind::integer, static_cast<int64_t>(value));
    }

    bool step_text(unsigned char opcode)
    {
        switch (opcode) {
        case 'X':
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
        default:
            return false;
        }
    }

    void push_text(uint64_t size) { push(Kind::text, 0, take(size)); }

    void push_bytes(uint64_t size)
    {
        take(size);
        push(Kind::other);
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
            return push(Kind::tuple, 0, {}, pop_to_mark()), true;
        case ']':
            return push(Kind::list), true;
        case 'l':
            return push(Kind::list, 0, {}, pop_to_mark()), true;
        case '}':
            return push(Kind::dict), true;
        case 'd':
            return push_dict(pop_to_mark()), true;
        case 0x8f:
            return push(Kind::other), true;
        case 0x91:
            return pop_to_mark(), push(Kind::other), true;
        case 'a':
            return add_parts({pop()}, Kind::list), true;
        case 'e':
            return add_parts(pop_to_mark(), Kind::list), true;
        case 's':
            return set_item(), true;
        case 'u':
            return add_parts(pop_to_mark(), Kind::dict), true;
        case 0x90:
            return add_parts(pop_to_mark(), Kind::other), true;
        default:
            return false;
        }
    }

    void push_dict(std::vector<ValueId> parts)
    {
        if (parts.size() % 2 != 0)
            fail_as_damaged();
        push(Kind::dict, 0, {}, std::move(parts));
    }

    void set_item()
    {
        const ValueId value = pop(), key = pop();
        add_parts({key, value}, Kind::dict);
    }

    bool step_memo(unsigned char opcode)
    {
        switch (opcode) {
        case 'q':
            return memo_[little_endian(1)] = top(), true;
        case 'r':
            return memo_[little_endian(4)] = top(), true;
        case 0x94: {
            const uint64_t place = memo_.size();
            return memo_[place] = top(), true;
        }
        case 'h':
            return push_again(little_endian(1)), true;
        case 'j':
            return push_again(little_endian(4)), true;
        case '0':
            return pop(), true;
        case '1':
            return pop_to_mark(), true;
        case '2':
            return push(top()), true;
        case 0x80: // protocol
            return byte() <= 5 ? true : (fail_as_damaged(), false);
        case 0x95: // frame: only says how much may be read at once
            return take(8), true;
        default:
            return false;
        }
    }

    void push_again(uint64_t place)
    {
        const auto found = memo_.find(place);
        if (found == memo_.end())
            fail_as_damaged();
        push(found->second);
    }

    bool step_call(unsigned char opcode)
    {
        switch (opcode) {
        case 'c': {
            const std::string_view module = line();
            return push_name(module, line()), true;
        }
        case 0x93: {
            const std::string_view name = pop_text();
            return push_name(pop_text(), name), true;
        }
        case 'R':
        case 0x81: // creating an object is a call of its class
            return call(), true;
        case 0x92:
            return pop(), call(), true; // with keyword arguments, which PyTorch does not use
        case 'i': {
            const std::string_view module = line();
            push_name(module, line());
            const ValueId of = pop();
            return push_object(of, pop_to_mark()), true;
        }
        case 'o': {
            const std::vector<ValueId> parts = pop_to_mark();
            if (parts.empty())
                fail_as_damaged();
            return push_object(parts.front(), {parts.begin() + 1, parts.end()}), true;
        }
        case 'b':
            return build(), true;
        case 'Q':
            return push(find_storage(values(), pop())), true;
        default:
            return false;
        }
    }

    std::string_view &rest_;
    Pickle &pickle_;
    std::vector<ValueId> stack_;
    std::vector<size_t> marks_;
    std::unordered_map<uint64_t, ValueId> memo_;
};

Pickle::Pickle(std::string_view &bytes)
{
    if (bytes.substr(0, 1) != "\x80")
        fail_as_damaged();
    PickleMachine(bytes, *this).run();
}

} // namespace engine_torch
