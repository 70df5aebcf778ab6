// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "change_model.h"

#include "changes.h"
#include "pickle.h"
#include "zip.h"

#include <algorithm>

namespace fuzz
{
namespace
{

// ---- damage: the file's bytes, check sums left as they are ----------------------------

struct Field {
    size_t offset, size;
};

const std::vector<Field> local_fields = {{6, 2},  {8, 2},  {14, 4}, {18, 4},
                                         {22, 4}, {26, 2}, {28, 2}, {30, 1}};
const std::vector<Field> central_fields = {{8, 2},  {10, 2}, {16, 4}, {20, 4}, {24, 4}, {28, 2},
                                           {30, 2}, {32, 2}, {34, 2}, {38, 4}, {42, 4}, {46, 1}};
const std::vector<Field> end_fields = {{4, 2}, {6, 2}, {8, 2}, {10, 2}, {12, 4}, {16, 4}, {20, 2}};
const std::vector<Field> end64_fields = {{4, 8},  {16, 4}, {20, 4}, {24, 8},
                                         {32, 8}, {40, 8}, {48, 8}};
const std::vector<Field> locator_fields = {{4, 4}, {8, 8}, {16, 4}};

const std::vector<Field> &fields_of(const std::string &file, size_t at)
{
    const std::string_view mark(file.data() + at, 4);
    if (mark == "PK\1\2")
        return central_fields;
    if (mark == "PK\5\6")
        return end_fields;
    if (mark == "PK\6\6")
        return end64_fields;
    return mark == "PK\6\7" ? locator_fields : local_fields;
}

std::vector<size_t> headers_of(const std::string &file)
{
    std::vector<size_t> headers;
    for (size_t at = 0; (at = file.find("PK", at)) != std::string::npos; at++)
        if (at + 4 <= file.size())
            headers.push_back(at);
    return headers;
}

std::string change_field(std::string &file, size_t header, Random &random)
{
    const Field field = random.pick(fields_of(file, header));
    if (header + field.offset + field.size > file.size())
        return "find no field";
    const uint64_t value = random.one_in(3) ? random.below(128) : extreme_number(random);
    for (size_t i = 0; i < field.size; i++)
        file[header + field.offset + i] = static_cast<char>(value >> 8 * i & 0xff);
    return "header at " + std::to_string(header) + ": " + std::to_string(value) + " in field " +
           std::to_string(field.offset);
}

std::string damage(std::string &file, Random &random, const Inputs &seeds)
{
    const std::vector<size_t> headers = headers_of(file);
    if (headers.empty() || random.one_in(3))
        return change_bytes(file, random, seeds);
    const size_t header = random.pick(headers);
    if (random.one_in(2))
        return change_field(file, header, random);
    return change_bytes(file, random, seeds, header, header + 128);
}

// ---- rewriting: what the archive holds ------------------------------------------------

const Language code_language = {{"torch",
                                 "Tensor",
                                 "int",
                                 "float",
                                 "bool",
                                 "str",
                                 "None",
                                 "True",
                                 "Optional[Tensor]",
                                 "List[int]",
                                 "Dict[str, Tensor]",
                                 "Tuple[Tensor, Tensor]",
                                 "(",
                                 ")",
                                 "[",
                                 "]",
                                 ",",
                                 ":",
                                 ".",
                                 "=",
                                 "-",
                                 "\n    ",
                                 "\n",
                                 "  ",
                                 "self",
                                 "x",
                                 "forward",
                                 "__torch__",
                                 "__setstate__",
                                 "__getstate__",
                                 "while True:\n      x = x\n    ",
                                 "if bool(torch.eq(x, x)):\n      x = x\n    ",
                                 "annotate(List[int], [])",
                                 "annotate(Tensor, 3)",
                                 "unchecked_cast(Tensor, 3)",
                                 "unchecked_cast(List[int], x)",
                                 "uninitialized(Tensor)",
                                 "uninitialized(__torch__.Model)",
                                 "CONSTANTS.c0",
                                 "CONSTANTS.c99",
                                 "getattr(self, \"x\")",
                                 "ops.prim.data(x)",
                                 "ops.prim.NumToTensor(3)",
                                 "ops.prim.unchecked_unwrap_optional(None)",
                                 "ops.aten.Int(x)",
                                 "fork(self, x)",
                                 "prim.rangelist(9)",
                                 "torch.save(x, \"escaped\")",
                                 "torch.from_file(\"/etc/hostname\", False, 8)",
                                 "x: Tensor=torch.save(torch.ones([1]), \"escaped\")",
                                 "torch.as_strided(x, [1, 3, 64, 64], [0, 4096, 64, 1], 9)",
                                 "torch.as_strided_(x, [1, 3, 64, 64], [0, 4096, 64, 1], -9)",
                                 "torch.set_(x, x, 9, [1, 3, 64, 64], [0, 4096, 64, 1])",
                                 "torch.resize_(x, [1, 3, 512, 512])",
                                 "torch.empty([1, 3, 64, 64])",
                                 "torch.reshape(x, [-1])",
                                 "torch.index_select(x, 3, torch.tensor([99999]))",
                                 "torch.gather(x, 3, torch.tensor([[[[99999]]]]))",
                                 "torch.take(x, torch.tensor([-99999]))",
                                 "torch.embedding(x, torch.tensor([99999]))",
                                 "torch.max_unpool2d(x, torch.tensor([[[[99999]]]]), [64, 64])",
                                 "torch.conv2d(x, x, None, [1, 1], [0, 0], [0, 0])",
                                 "torch.upsample_nearest2d(x, [100000, 100000], None)",
                                 "torch.pixel_shuffle(x, 0)",
                                 "torch.repeat(x, [1, 1, 100000, 100000])"},
                                100000};

std::string change_code(std::string &code, Random &random, const Inputs &seeds)
{
    return change_text(code, random, code_language, seeds);
}

const std::vector<std::string> member_names = {"archive/data.pkl",
                                               "archive/constants.pkl",
                                               "archive/version",
                                               "archive/byteorder",
                                               "archive/.data/serialization_id",
                                               "archive/data/0",
                                               "archive/data/1",
                                               "archive/constants/0",
                                               "archive/code/__torch__.py",
                                               "archive/code/__torch__.py.debug_pkl",
                                               "archive/extra/producer_info.json",
                                               "archive/attributes.pkl",
                                               "archive/bytecode.pkl",
                                               "archive/mobile_debug_handles.pkl",
                                               "archive/tensors/0",
                                               "archive/model.json",
                                               "archive/data.ff",
                                               "../archive/version",
                                               "/data.pkl",
                                               "archive/",
                                               "archive//data.pkl",
                                               "ARCHIVE/DATA.PKL",
                                               "data.pkl",
                                               ""};

// The same kind of member of another archive; its own where that has none.
const Member &foreign(const Archive &other, const Member &member, Random &random)
{
    const size_t begin = random.below(other.members.size());
    const std::string ending =
        member.name.substr(std::min(member.name.size(), member.name.rfind('.')));
    for (size_t i = 0; i < other.members.size(); i++) {
        const Member &each = other.members[(begin + i) % other.members.size()];
        if (each.method == 0 && each.name.size() >= ending.size() &&
            each.name.compare(each.name.size() - ending.size(), ending.size(), ending) == 0)
            return each;
    }
    return member;
}

std::string change_place(Archive &archive, size_t at, Random &random)
{
    std::vector<Member> &members = archive.members;
    const std::string name = members[at].name;
    Member &other = random.pick(members);
    switch (random.below(6)) {
    case 0:
        members[at].name = random.one_in(2) ? other.name : random.pick(member_names);
        return "name " + name + " " + members[at].name;
    case 1:
        members.erase(members.begin() + static_cast<ptrdiff_t>(at));
        return "remove " + name;
    case 2:
        members.push_back(members[at]);
        return "repeat " + name;
    case 3:
        std::swap(members[at].name, other.name);
        return "swap the names of " + name + " and " + members[at].name;
    case 4:
        std::swap(members[at], other);
        return "swap the places of " + name + " and " + members[at].name;
    default:
        members.push_back(members[at]);
        members.back().name = random.pick(member_names);
        return "add " + name + " as " + members.back().name;
    }
}

std::string change_member_header(Member &member, Random &random)
{
    switch (random.below(4)) {
    case 0:
        member.method = static_cast<unsigned>(random.below(100));
        return "method of " + member.name;
    case 1:
        member.flags = static_cast<unsigned>(random.next() & 0xffff);
        return "flags of " + member.name;
    case 2:
        member.size = extreme_number(random);
        return "size of " + member.name;
    default:
        change_bytes(member.name, random, member_names);
        return "name of " + member.name;
    }
}

// Larger than anything that a file of that size could need, yet quickly made.
std::string put_bomb(Member &member, Random &random)
{
    const uint64_t size = uint64_t{1} << (16 + random.below(random.one_in(8) ? 13 : 8));
    const std::string name = member.name;
    member = bomb(name, size);
    if (random.one_in(4))
        member.size = random.below(1000); // more than it says
    return "bomb of " + std::to_string(size) + " in " + name;
}

bool ends_with(const std::string &text, std::string_view end)
{
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::string change_contents(Member &member, Random &random, const Inputs &seeds)
{
    if (member.method != 0) { // its check sum stays: this has no inflate
        change_bytes(member.stored, random, seeds);
        return "packed bytes of " + member.name;
    }
    std::string contents = member.stored;
    const auto change = ends_with(member.name, "pkl")   ? change_pickle(contents, random, seeds)
                        : ends_with(member.name, ".py") ? change_code(contents, random, seeds)
                                                        : change_bytes(contents, random, seeds);
    member.put(std::move(contents));
    return member.name + ": " + change;
}

// Mostly what is parsed; tensors are only numbers.
size_t pick_member(const Archive &archive, Random &random)
{
    const size_t begin = random.below(archive.members.size());
    if (random.one_in(6))
        return begin;
    for (size_t i = 0; i < archive.members.size(); i++) {
        const size_t at = (begin + i) % archive.members.size();
        const std::string &name = archive.members[at].name;
        if (ends_with(name, "pkl") ? !ends_with(name, "debug_pkl") || random.one_in(6)
                                   : ends_with(name, ".py"))
            return at;
    }
    return begin;
}

std::string rewrite(Archive &archive, Random &random, const Inputs &seeds)
{
    const size_t at = pick_member(archive, random);
    Member &member = archive.members[at];
    if (random.one_in(100))
        return put_bomb(member, random);
    if (random.one_in(12))
        return change_member_header(member, random);
    if (random.one_in(8))
        return change_place(archive, at, random);
    const auto other = random.one_in(20) ? take_apart(random.pick(seeds)) : std::nullopt;
    if (other && !other->members.empty()) {
        const Member &source = foreign(*other, member, random);
        member.put(source.stored);
        return member.name + ": taken from " + source.name + " of another";
    }
    return change_contents(member, random, seeds);
}

} // namespace

std::string change_model(std::string &file, Family family, Random &random, const Inputs &seeds)
{
    if (family == Family::damage)
        return damage(file, random, seeds);
    auto archive = take_apart(file);
    if (!archive || archive->members.empty())
        return change_bytes(file, random, seeds);
    const std::string change = rewrite(*archive, random, seeds);
    file = put_together(*archive);
    return change;
}

} // namespace fuzz
