// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "zip.h"

#include <algorithm>
#include <array>

namespace fuzz
{
namespace
{

constexpr size_t local_size = 30, central_size = 46, end_size = 22, end64_size = 56;
constexpr uint64_t alignment = 64;

uint64_t number(const std::string &bytes, size_t offset, size_t size)
{
    uint64_t value = 0;
    for (size_t i = size; i-- > 0;)
        value = value << 8 | static_cast<unsigned char>(bytes.at(offset + i));
    return value;
}

void append(std::string &bytes, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes += static_cast<char>(value >> 8 * i & 0xff);
}

void append(std::string &bytes, std::initializer_list<std::pair<uint64_t, int>> fields)
{
    for (const auto &[value, size] : fields)
        append(bytes, value, static_cast<size_t>(size));
}

constexpr std::array<uint32_t, 256> crc_table = [] {
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < table.size(); i++) {
        uint32_t value = i;
        for (int bit = 0; bit < 8; bit++)
            value = value & 1 ? 0xedb88320U ^ value >> 1 : value >> 1;
        table[i] = value;
    }
    return table;
}();

uint32_t add_to_crc(uint32_t crc, unsigned char byte)
{
    return crc_table[(crc ^ byte) & 0xff] ^ crc >> 8;
}

// Throws std::out_of_range where the bytes end too early.
Member member_at(const std::string &bytes, size_t central)
{
    Member member;
    member.flags = static_cast<unsigned>(number(bytes, central + 8, 2));
    member.method = static_cast<unsigned>(number(bytes, central + 10, 2));
    member.crc = static_cast<uint32_t>(number(bytes, central + 16, 4));
    member.size = number(bytes, central + 24, 4);
    member.name = bytes.substr(central + central_size, number(bytes, central + 28, 2));
    const size_t local = number(bytes, central + 42, 4);
    const size_t name_size = number(bytes, local + 26, 2);
    const size_t extra = number(bytes, local + 28, 2);
    member.is_aligned = extra > 2 && bytes.compare(local + local_size + name_size, 2, "FB") == 0;
    const size_t data = local + local_size + name_size + extra;
    const size_t stored = number(bytes, central + 20, 4);
    if (data > bytes.size() || stored > bytes.size() - data)
        throw std::out_of_range("a member");
    member.stored = bytes.substr(data, stored);
    return member;
}

Archive members_of(const std::string &bytes)
{
    const size_t end = bytes.rfind("PK\5\6");
    Archive archive;
    archive.has_end64 = bytes.find("PK\6\6") != std::string::npos;
    size_t central = number(bytes, end + 16, 4);
    for (uint64_t count = number(bytes, end + 10, 2); count > 0; count--) {
        if (bytes.compare(central, 4, "PK\1\2") != 0)
            throw std::out_of_range("the list of members");
        archive.members.push_back(member_at(bytes, central));
        central += central_size + number(bytes, central + 28, 2) + number(bytes, central + 30, 2) +
                   number(bytes, central + 32, 2);
    }
    return archive;
}

// What makes the data begin at a multiple of the alignment.
std::string padding(const Member &member, size_t offset)
{
    if (!member.is_aligned)
        return "";
    const size_t begin = offset + local_size + member.name.size() + 4;
    const size_t missing = (alignment - begin % alignment) % alignment;
    std::string extra = "FB";
    append(extra, missing, 2);
    return extra + std::string(missing, 'Z');
}

void append_local(std::string &bytes, const Member &member)
{
    const std::string extra = padding(member, bytes.size());
    const bool later = (member.flags & 8) != 0; // then zeros stand here
    bytes += "PK\3\4";
    append(bytes, {{member.method ? 20 : 0, 2},
                   {member.flags, 2},
                   {member.method, 2},
                   {0, 4},
                   {later ? 0 : member.crc, 4},
                   {later ? 0 : member.stored.size(), 4},
                   {later ? 0 : member.size, 4},
                   {member.name.size(), 2},
                   {extra.size(), 2}});
    bytes += member.name + extra + member.stored;
    if (!later)
        return;
    bytes += "PK\7\10";
    append(bytes, {{member.crc, 4}, {member.stored.size(), 4}, {member.size, 4}});
}

void append_central(std::string &bytes, const Member &member, size_t offset)
{
    bytes += "PK\1\2";
    append(bytes, {{0, 2},
                   {member.method ? 20 : 0, 2},
                   {member.flags, 2},
                   {member.method, 2},
                   {0, 4},
                   {member.crc, 4},
                   {member.stored.size(), 4},
                   {member.size, 4},
                   {member.name.size(), 2},
                   {0, 2},
                   {0, 2},
                   {0, 2},
                   {0, 2},
                   {0, 4},
                   {offset, 4}});
    bytes += member.name;
}

void append_end64(std::string &bytes, size_t count, size_t size, size_t offset)
{
    const size_t here = bytes.size();
    bytes += "PK\6\6";
    append(bytes, {{end64_size - 12, 8},
                   {0x31e, 2},
                   {45, 2},
                   {0, 4},
                   {0, 4},
                   {count, 8},
                   {count, 8},
                   {size, 8},
                   {offset, 8}});
    bytes += "PK\6\7";
    append(bytes, {{0, 4}, {here, 8}, {1, 4}});
}

// Deflate's bits, the lowest first.
class Bits
{
public:
    void add(unsigned value, unsigned count)
    {
        for (unsigned i = 0; i < count; i++) {
            byte_ |= (value >> i & 1) << used_;
            if (++used_ == 8)
                flush();
        }
    }
    std::string take()
    {
        if (used_)
            flush();
        return std::move(bytes_);
    }

private:
    void flush()
    {
        bytes_ += static_cast<char>(byte_);
        byte_ = used_ = 0;
    }
    std::string bytes_;
    unsigned byte_ = 0, used_ = 0;
};

// One block of fixed codes: a zero, and copies of the 258 bytes before.
std::string deflated_zeros(uint64_t size)
{
    constexpr unsigned longest = 258;
    Bits bits;
    bits.add(1, 1);
    bits.add(1, 2);
    bits.add(0x0c, 8); // the literal 0: 00110000, its highest bit first
    uint64_t written = 1;
    for (; written + longest <= size; written += longest) {
        bits.add(0xa3, 8); // the length 258: 11000101
        bits.add(0, 5);    // the distance 1
    }
    for (; written < size; written++)
        bits.add(0x0c, 8);
    bits.add(0, 7); // the end
    return bits.take();
}

} // namespace

uint32_t crc_of(const std::string &bytes)
{
    uint32_t crc = ~0U;
    for (const char c : bytes)
        crc = add_to_crc(crc, static_cast<unsigned char>(c));
    return ~crc;
}

void Member::put(std::string contents)
{
    stored = std::move(contents);
    method = 0;
    size = stored.size();
    crc = crc_of(stored);
}

std::optional<Archive> take_apart(const std::string &bytes)
{
    const size_t end = bytes.rfind("PK\5\6");
    if (end == std::string::npos || bytes.size() - end < end_size)
        return std::nullopt;
    try {
        return members_of(bytes);
    } catch (const std::out_of_range &) {
        return std::nullopt;
    }
}

std::string put_together(const Archive &archive)
{
    std::string bytes;
    std::vector<size_t> offsets;
    for (const Member &member : archive.members) {
        offsets.push_back(bytes.size());
        append_local(bytes, member);
    }
    const size_t begin = bytes.size();
    for (size_t i = 0; i < offsets.size(); i++)
        append_central(bytes, archive.members[i], offsets[i]);
    const size_t size = bytes.size() - begin;
    if (archive.has_end64)
        append_end64(bytes, offsets.size(), size, begin);
    bytes += "PK\5\6";
    append(bytes,
           {{0, 4}, {offsets.size(), 2}, {offsets.size(), 2}, {size, 4}, {begin, 4}, {0, 2}});
    return bytes;
}

Member bomb(const std::string &name, uint64_t size)
{
    Member member;
    member.name = name;
    member.stored = deflated_zeros(size);
    member.method = 8;
    member.size = size;
    uint32_t crc = ~0U;
    for (uint64_t i = 0; i < size; i++)
        crc = add_to_crc(crc, 0);
    member.crc = ~crc;
    return member;
}

} // namespace fuzz
