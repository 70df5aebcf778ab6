// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "zip_records.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <new>
#include <set>
#include <zlib.h>

namespace engine_torch
{
namespace
{

// The format is described in PKWARE's APPNOTE.TXT.
constexpr std::string_view local_mark("PK\3\4", 4), central_mark("PK\1\2", 4),
    descriptor_mark("PK\7\10", 4), end_mark("PK\5\6", 4), end64_mark("PK\6\6", 4),
    locator_mark("PK\6\7", 4);
constexpr uint64_t local_size = 30, central_size = 46, end_size = 22, end64_size = 56,
                   locator_size = 20;
constexpr uint64_t in_extra = 0xffffffff; // the number is in the zip64 extra field
constexpr uint64_t sizes_follow = 8, known_flags = 8 | 0x800, stored = 0, deflated = 8;

// PyTorch only compresses texts of a few hundred kilobytes, by factors of 2 to 15.
constexpr uint64_t largest_inflated = 64 << 20, largest_ratio = 200, most_records = 1 << 20;

// Reads numbers from bytes.  Throws ZipDamage if one is outside of them.
class Bytes
{
public:
    explicit Bytes(std::string_view bytes) : bytes_(bytes) {}

    uint64_t size() const { return bytes_.size(); }

    std::string_view part(uint64_t offset, uint64_t size) const
    {
        if (offset > bytes_.size() || size > bytes_.size() - offset)
            throw ZipDamage();
        return bytes_.substr(offset, size);
    }

    uint64_t number(uint64_t offset, uint64_t size) const
    {
        const std::string_view digits = part(offset, size);
        uint64_t value = 0;
        for (size_t i = digits.size(); i > 0; i--)
            value = value << 8 | static_cast<unsigned char>(digits[i - 1]);
        return value;
    }

    void expect(uint64_t offset, std::string_view mark) const
    {
        if (part(offset, mark.size()) != mark)
            throw ZipDamage();
    }

    void expect(uint64_t offset, uint64_t size, uint64_t value) const
    {
        if (number(offset, size) != value)
            throw ZipDamage();
    }

private:
    std::string_view bytes_;
};

struct Entry {
    std::string_view name, common; // common: from version to time and date
    uint64_t flags, method, crc, stored_size, size, offset;
};

struct Directory {
    uint64_t offset, size, count;
};

// PyTorch always writes the zip64 records, too.
Directory find_directory(const Bytes &bytes)
{
    if (bytes.size() < end_size)
        throw ZipDamage();
    const uint64_t end = bytes.size() - end_size;
    bytes.expect(end, end_mark);
    bytes.expect(end + 4, 4, 0);  // disk numbers
    bytes.expect(end + 20, 2, 0); // comment length
    const uint64_t count = bytes.number(end + 10, 2), size = bytes.number(end + 12, 4),
                   offset = bytes.number(end + 16, 4);
    bytes.expect(end + 8, 2, count);
    if (end < locator_size + end64_size ||
        bytes.part(end - locator_size, locator_mark.size()) != locator_mark) {
        if (offset + size != end)
            throw ZipDamage();
        return {.offset = offset, .size = size, .count = count};
    }
    const uint64_t end64 = end - locator_size - end64_size;
    bytes.expect(end - locator_size + 8, 8, end64);
    bytes.expect(end64, end64_mark);
    const Directory whole = {.offset = bytes.number(end64 + 48, 8),
                             .size = bytes.number(end64 + 40, 8),
                             .count = bytes.number(end64 + 32, 8)};
    bytes.expect(end64 + 24, 8, whole.count);
    if (whole.offset > end64 || whole.size != end64 - whole.offset ||
        (count != 0xffff && count != whole.count) || (size != in_extra && size != whole.size) ||
        (offset != in_extra && offset != whole.offset))
        throw ZipDamage();
    return whole;
}

// Reads the numbers that did not fit into 32 bits, in this order.
void take_large_numbers(const Bytes &extra, Entry &entry)
{
    uint64_t at = 0;
    while (at + 4 <= extra.size() && extra.number(at, 2) != 1)
        at += 4 + extra.number(at + 2, 2);
    at += 4;
    for (uint64_t *number : {&entry.size, &entry.stored_size, &entry.offset})
        if (*number == in_extra) {
            *number = extra.number(at, 8);
            at += 8;
        }
}

Entry read_entry(const Bytes &bytes, uint64_t &at)
{
    bytes.expect(at, central_mark);
    const uint64_t name_size = bytes.number(at + 28, 2), extra_size = bytes.number(at + 30, 2),
                   comment_size = bytes.number(at + 32, 2);
    Entry entry = {.name = bytes.part(at + central_size, name_size),
                   .common = bytes.part(at + 6, 10),
                   .flags = bytes.number(at + 8, 2),
                   .method = bytes.number(at + 10, 2),
                   .crc = bytes.number(at + 16, 4),
                   .stored_size = bytes.number(at + 20, 4),
                   .size = bytes.number(at + 24, 4),
                   .offset = bytes.number(at + 42, 4)};
    const Bytes extra(bytes.part(at + central_size + name_size, extra_size));
    if (entry.size == in_extra || entry.stored_size == in_extra || entry.offset == in_extra)
        take_large_numbers(extra, entry);
    at += central_size + name_size + extra_size + comment_size;
    return entry;
}

void check_kind(const Entry &entry)
{
    if (entry.flags & ~known_flags)
        throw ZipOddity("has an encrypted or patched record");
    if (entry.method != stored && entry.method != deflated)
        throw ZipOddity("has a record that is compressed in a way that PyTorch does not use");
    if (entry.method == stored && entry.stored_size != entry.size)
        throw ZipDamage();
    if (entry.method == deflated &&
        (entry.size > largest_inflated || entry.stored_size > largest_inflated ||
         entry.size / largest_ratio > entry.stored_size))
        throw ZipOddity("has a record that would become too large when it is unpacked");
}

// Checks the CRC and the sizes.  A local header may leave them to the descriptor after the data.
void check_sizes(const Bytes &bytes, uint64_t at, const Entry &entry, bool may_be_zero)
{
    const uint64_t crc = bytes.number(at, 4), stored_size = bytes.number(at + 4, 4),
                   size = bytes.number(at + 8, 4);
    if (may_be_zero && crc == 0 && stored_size == 0 && size == 0)
        return;
    if (crc != entry.crc || (stored_size != in_extra && stored_size != entry.stored_size) ||
        (size != in_extra && size != entry.size))
        throw ZipDamage();
}

// Reads sizes of 32 or 64 bits.  `next` is where the next record begins.
uint64_t check_descriptor(const Bytes &bytes, uint64_t at, uint64_t next, const Entry &entry)
{
    bytes.expect(at, descriptor_mark);
    bytes.expect(at + 4, 4, entry.crc);
    const uint64_t width = next - at == 16 ? 4 : 8;
    bytes.expect(at + 8, width, entry.stored_size);
    bytes.expect(at + 8 + width, width, entry.size);
    return at + 8 + 2 * width;
}

// Returns the data.  The record must end where the next one begins.
std::string_view check_record(const Bytes &bytes, const Entry &entry, uint64_t next)
{
    const uint64_t at = entry.offset;
    bytes.expect(at, local_mark);
    bytes.expect(at + 4, entry.common);
    check_sizes(bytes, at + 14, entry, entry.flags & sizes_follow);
    bytes.expect(at + 26, 2, entry.name.size());
    bytes.expect(at + local_size, entry.name);
    const uint64_t data = at + local_size + entry.name.size() + bytes.number(at + 28, 2);
    const std::string_view contents = bytes.part(data, entry.stored_size);
    uint64_t end = data + entry.stored_size;
    if (entry.flags & sizes_follow && end != next)
        end = check_descriptor(bytes, end, next, entry);
    if (end != next)
        throw ZipDamage();
    return contents;
}

std::string inflated(std::string_view compressed, uint64_t size)
{
    std::string bytes(size, '\0');
    z_stream stream = {};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
        throw std::bad_alloc();
    stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(compressed.data()));
    stream.avail_in = static_cast<uInt>(compressed.size());
    stream.next_out = reinterpret_cast<Bytef *>(bytes.data());
    stream.avail_out = static_cast<uInt>(bytes.size());
    const int result = inflate(&stream, Z_FINISH);
    const bool whole = stream.avail_in == 0 && stream.avail_out == 0;
    inflateEnd(&stream);
    if (result != Z_STREAM_END || !whole)
        throw ZipDamage();
    return bytes;
}

void check_crc(std::string_view bytes, uint64_t crc)
{
    if (crc32_z(0, reinterpret_cast<const Bytef *>(bytes.data()), bytes.size()) != crc)
        throw ZipDamage();
}

std::string lower_case(std::string_view name)
{
    std::string lower(name);
    for (char &c : lower)
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower;
}

// LibTorch's reader ignores case when it looks for a name.
void check_names(const std::vector<Entry> &entries)
{
    std::set<std::string> seen;
    for (const Entry &entry : entries) {
        if (entry.name.find('\0') != std::string_view::npos)
            throw ZipOddity("has a record with a zero in its name");
        if (!seen.insert(lower_case(entry.name)).second)
            throw ZipOddity("has two records of one name");
    }
}

std::vector<Entry> read_entries(const Bytes &bytes, const Directory &directory)
{
    if (directory.count > most_records)
        throw ZipOddity("has too many records");
    std::vector<Entry> entries;
    uint64_t at = directory.offset;
    const uint64_t end = directory.offset + directory.size;
    while (at < end)
        entries.push_back(read_entry(bytes, at));
    if (at != end || entries.size() != directory.count)
        throw ZipDamage();
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Entry &a, const Entry &b) { return a.offset < b.offset; });
    return entries;
}

} // namespace

ZipRecords::ZipRecords(std::string_view archive)
{
    const Bytes bytes(archive);
    const Directory directory = find_directory(bytes);
    const std::vector<Entry> entries = read_entries(bytes, directory);
    check_names(entries);
    uint64_t total = 0;
    for (size_t i = 0; i < entries.size(); i++) {
        const Entry &entry = entries[i];
        check_kind(entry);
        if (i == 0 && entry.offset != 0)
            throw ZipDamage();
        const uint64_t next = i + 1 < entries.size() ? entries[i + 1].offset : directory.offset;
        std::string_view contents = check_record(bytes, entry, next);
        if (entry.method == deflated) {
            if ((total += entry.size) > 4 * largest_inflated)
                throw ZipOddity("has records that would become too large when they are unpacked");
            contents = inflated_.emplace_back(inflated(contents, entry.size));
        }
        check_crc(contents, entry.crc);
        records_.push_back(
            {.name = std::string(entry.name), .bytes = contents, .stored_size = entry.stored_size});
    }
}

std::vector<std::string> names_in_zip(std::string_view file)
{
    std::vector<std::string> names;
    if (file.substr(0, local_mark.size()) != local_mark)
        return names;
    try {
        const Bytes bytes(file);
        for (const Entry &entry : read_entries(bytes, find_directory(bytes)))
            names.emplace_back(entry.name);
    } catch (const ZipDamage &) {
        names.clear();
    } catch (const ZipOddity &) {
        names.clear();
    }
    return names;
}

} // namespace engine_torch
