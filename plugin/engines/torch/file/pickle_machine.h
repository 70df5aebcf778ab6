// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The stack machine of pickles: its bytes, its stack and the instructions that PyTorch writes.
// What a value is, and what is refused, is up to its heirs.  Needs no LibTorch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace engine_torch
{

// Each value on the stack is an Entry.  Kind has none, boolean, integer, real, text, list and dict.
// Instances belong to one thread each.  The bytes must outlive them.
template <class Entry, class Kind> class PickleMachine
{
protected:
    using Entries = std::vector<Entry>;

    explicit PickleMachine(std::string_view bytes) : rest_(bytes) {}
    ~PickleMachine() = default;

    // Runs the program up to its end.  Returns its result.
    Entry run()
    {
        // Far more than the largest published model or training state has.  Each instruction
        // creates at most one value, or one entry of the stack, the marks or the memo.
        constexpr size_t most_instructions = 4 << 20;
        size_t count = 0;
        for (unsigned char opcode = byte(); opcode != '.'; opcode = byte()) {
            if (!step_value(opcode) && !step_container(opcode) && !step_call(opcode) &&
                !step_other(opcode))
                fail();
            if (++count > most_instructions)
                fail_as_too_large();
        }
        const Entry result = pop();
        if (!stack_.empty() || !marks_.empty())
            fail();
        return result;
    }

    // ---- what heirs decide
    [[noreturn]] virtual void fail() const = 0;
    [[noreturn]] virtual void fail_as_too_large() const = 0;
    virtual void push_value(Kind kind, int64_t number, std::string_view text) = 0;
    virtual void push_container(Kind kind) = 0;
    virtual void push_tuple(Entries parts) = 0;
    virtual void add_parts(Kind kind, const Entries &parts) = 0; // to the container on top
    virtual void push_long(uint64_t size) = 0;                   // an integer of so many bytes
    virtual void put(uint64_t place) = 0;                        // the value on top into the memo
    virtual void get(uint64_t place) = 0;
    virtual void push_global(std::string_view module, std::string_view name) = 0;
    virtual void push_instance() = 0;
    virtual void build() = 0;
    virtual void reduce() = 0;
    virtual void push_storage() = 0;
    // Returns false if there is no such instruction.
    virtual bool step_other(unsigned char /*opcode*/) { return false; }

    // ---- the program's bytes
    std::string_view rest() const { return rest_; }

    std::string_view take(uint64_t size)
    {
        if (size > rest_.size())
            fail();
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
        const std::string_view text = take(std::min(rest_.find('\n'), rest_.size()));
        take(1);
        return text;
    }

    // ---- the stack
    void push(Entry entry) { stack_.push_back(std::move(entry)); }

    Entry &top()
    {
        if (stack_.size() <= (marks_.empty() ? 0 : marks_.back()))
            fail();
        return stack_.back();
    }

    Entry pop()
    {
        Entry entry = std::move(top());
        stack_.pop_back();
        return entry;
    }

    // Removes the values above the last mark from the stack and returns them.
    Entries pop_to_mark()
    {
        if (marks_.empty())
            fail();
        const auto first = stack_.begin() + static_cast<ptrdiff_t>(marks_.back());
        Entries entries(first, stack_.end());
        stack_.erase(first, stack_.end());
        marks_.pop_back();
        return entries;
    }

private:
    void push_integer(int64_t number) { push_value(Kind::integer, number, {}); }

    void push_tuple_of(size_t count)
    {
        Entries parts(count);
        for (size_t i = count; i > 0; i--)
            parts[i - 1] = pop();
        push_tuple(std::move(parts));
    }

    void push_named()
    {
        const std::string_view module = line();
        push_global(module, line());
    }

    // ---- instructions; each function returns false for an instruction of another group
    bool step_value(unsigned char opcode)
    {
        switch (opcode) {
        case 'N':
            return push_value(Kind::none, 0, {}), true;
        case 0x88:
        case 0x89:
            return push_value(Kind::boolean, opcode == 0x88, {}), true;
        case 'K':
            return push_integer(static_cast<int64_t>(little_endian(1))), true;
        case 'M':
            return push_integer(static_cast<int64_t>(little_endian(2))), true;
        case 'J':
            return push_integer(static_cast<int32_t>(little_endian(4))), true;
        case 0x8a:
            return push_long(little_endian(1)), true;
        case 'G':
            return take(8), push_value(Kind::real, 0, {}), true;
        case 'X':
            return push_value(Kind::text, 0, take(little_endian(4))), true;
        default:
            return false;
        }
    }

    bool step_container(unsigned char opcode)
    {
        switch (opcode) {
        case '(':
            return marks_.push_back(stack_.size()), true;
        case ')':
            return push_tuple({}), true;
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
        case 'a':
            return add_parts(Kind::list, {pop()}), true;
        case 'e':
            return add_parts(Kind::list, pop_to_mark()), true;
        case 'u':
            return add_parts(Kind::dict, pop_to_mark()), true;
        default:
            return false;
        }
    }

    bool step_call(unsigned char opcode)
    {
        switch (opcode) {
        case 'q':
            return put(little_endian(1)), true;
        case 'r':
            return put(little_endian(4)), true;
        case 'h':
            return get(little_endian(1)), true;
        case 'j':
            return get(little_endian(4)), true;
        case 'c':
            return push_named(), true;
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
    Entries stack_;
    std::vector<size_t> marks_;
};

} // namespace engine_torch
