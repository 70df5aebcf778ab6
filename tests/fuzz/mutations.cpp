// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "mutations.h"

#include "zip_records.h"

#include <array>
#include <random>
#include <vector>
#include <zlib.h>

namespace
{

using engine_torch::ZipRecords;

class Chance
{
public:
    explicit Chance(std::uint64_t seed) : engine_(seed * 0x9e3779b97f4a7c15 + 1) {}
    // From 0 to end - 1; 0 where that is none.
    std::size_t below(std::size_t end) { return end ? engine_() % end : 0; }
    bool one_in(std::size_t many) { return below(many) == 0; }

private:
    std::mt19937_64 engine_;
};

constexpr std::array<std::string_view, 14> numbers = {
    std::string_view("\0", 1),
    "\xff",
    "\x80",
    "\x7f",
    std::string_view("\0\0\0\0", 4),
    "\xff\xff\xff\xff",
    std::string_view("\0\0\0\x80", 4),
    std::string_view("\0\0\0\0\1\0\0\0", 8),
    "\xff\xff\xff\xff\xff\xff\xff\xff",
    "\xff\xff\xff\xff\xff\xff\xff\x7f",
    std::string_view("\x8a\x08\0\0\0\0\0\1\0\0", 10), // as a pickle has them
    "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\xff",
    std::string_view("M\xff\xff", 3),
    std::string_view("K\0", 2),
};

constexpr std::string_view opcodes = "\x81\x85\x86\x87\x88\x89()]}tQRbehjqruaNXcKMJG.";

// What stands in code, or could.
constexpr std::array<std::string_view, 34> phrases = {
    "torch.empty_like(x)",
    "torch.as_strided(x, [9], [1])",
    "torch.mul(",
    "unchecked_cast(Tensor, ",
    "uninitialized(Tensor)",
    "annotate(List[int], [])",
    "getattr(self, \"0\")",
    "self",
    "x",
    "None",
    "-1",
    "9223372036854775807",
    "1e308",
    "[",
    "]",
    "(",
    ")",
    ",",
    ":",
    "=",
    ".",
    "\n",
    "    ",
    "if True:",
    "else:",
    "for i in range(3):",
    "return x",
    "pass",
    "CONSTANTS.c0",
    "CONSTANTS.c99",
    "Optional[Tensor]",
    "List[Tensor]",
    "__torch__.",
    "def f(x: Tensor) -> Tensor:\n    return x\n",
};

std::string part_of(const std::string &bytes, Chance &chance, std::size_t longest)
{
    const std::size_t at = chance.below(bytes.size());
    return bytes.substr(at, 1 + chance.below(longest));
}

void change_bytes(std::string &bytes, Chance &chance)
{
    if (bytes.empty())
        return;
    const std::size_t at = chance.below(bytes.size());
    switch (chance.below(8)) {
    case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ 1 << chance.below(8));
        break;
    case 1:
        bytes[at] = static_cast<char>(chance.below(256));
        break;
    case 2:
        bytes.resize(at);
        break;
    case 3:
        bytes.erase(at, 1 + chance.below(32));
        break;
    case 4:
        bytes.insert(at, part_of(bytes, chance, 64));
        break;
    case 5: {
        const std::string_view number = numbers[chance.below(numbers.size())];
        bytes.replace(at, chance.one_in(2) ? number.size() : 0, number);
        break;
    }
    case 6: {
        const std::string other = part_of(bytes, chance, 64);
        bytes.replace(at, other.size(), other);
        break;
    }
    default:
        bytes[at] = opcodes[chance.below(opcodes.size())];
    }
}

// At the border of a word or a sign, where it is likelier to be read.
std::size_t border(const std::string &code, Chance &chance)
{
    const std::size_t at = code.find_first_of(" .(),:=[]\n", chance.below(code.size()));
    return at == std::string::npos ? code.size() : at + chance.below(2);
}

void change_code(std::string &code, Chance &chance)
{
    if (code.empty() || chance.one_in(6))
        return change_bytes(code, chance);
    const std::size_t from = border(code, chance), to = border(code, chance);
    switch (chance.below(4)) {
    case 0:
        code.insert(from, phrases[chance.below(phrases.size())]);
        break;
    case 1:
        code.replace(from, chance.below(12), phrases[chance.below(phrases.size())]);
        break;
    case 2:
        code.erase(std::min(from, to),
                   std::min<std::size_t>(from > to ? from - to : to - from, 40));
        break;
    default:
        code.insert(from, code.substr(to, code.find('\n', to) - to));
    }
}

std::string number(std::uint64_t value, int size)
{
    std::string bytes;
    for (int i = 0; i < size; ++i, value >>= 8)
        bytes += static_cast<char>(value & 0xff);
    return bytes;
}

struct Record {
    std::string name, bytes;
};

std::string archive_of(const std::vector<Record> &records)
{
    std::string archive, directory;
    for (const Record &record : records) {
        const auto crc =
            crc32_z(0, reinterpret_cast<const Bytef *>(record.bytes.data()), record.bytes.size());
        const std::string common = number(0, 10) + number(crc, 4) + number(record.bytes.size(), 4) +
                                   number(record.bytes.size(), 4) + number(record.name.size(), 2) +
                                   number(0, 2);
        directory += "PK\1\2" + number(0, 2) + common + number(0, 10) + number(archive.size(), 4) +
                     record.name;
        archive += "PK\3\4" + common + record.name + record.bytes;
    }
    return archive + directory + "PK\5\6" + number(0, 4) + number(records.size(), 2) +
           number(records.size(), 2) + number(directory.size(), 4) + number(archive.size(), 4) +
           number(0, 2);
}

bool has(const std::string &name, std::string_view part)
{
    return name.find(part) != std::string::npos;
}

// Of two mutants in three something that leads to others: values and code.
std::string mutate_records(std::string_view file, Chance &chance)
{
    const ZipRecords zip(file);
    std::vector<Record> records;
    for (const auto &record : zip.all())
        records.push_back({record.name, std::string(record.bytes)});
    for (std::size_t changes = 1 + chance.below(3); changes > 0; --changes) {
        Record *record = &records[chance.below(records.size())];
        while (!chance.one_in(3) && !has(record->name, ".pkl") && !has(record->name, ".py"))
            record = &records[chance.below(records.size())];
        if (has(record->name, ".py") && !has(record->name, "debug"))
            change_code(record->bytes, chance);
        else if (chance.one_in(20))
            change_bytes(record->name, chance);
        else if (chance.one_in(20))
            record->bytes = records[chance.below(records.size())].bytes;
        else
            change_bytes(record->bytes, chance);
    }
    return archive_of(records);
}

} // namespace

Mutant mutate(std::string_view file, std::uint64_t number)
{
    Chance chance(number);
    if (!chance.one_in(3))
        return {mutate_records(file, chance), true};
    std::string bytes(file);
    for (std::size_t changes = 1 + chance.below(3); changes > 0; --changes)
        change_bytes(bytes, chance);
    return {bytes, false};
}
