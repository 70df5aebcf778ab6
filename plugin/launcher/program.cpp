// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "program.h"

#include "base/folder_search.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <filesystem>
#include <link.h>
#include <sstream>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace dnn_torch
{
namespace
{

namespace fs = std::filesystem;

// The class name with which every graph logs.  Every libavfilter that can build graphs contains it,
// in all versions.
constexpr std::string_view lavfi_mark("\0AVFilterGraph\0", 15);
constexpr std::string_view appimage_mark("AI\2", 3);

// A mapped file.  The kernel reads the bytes on access.  The destructor unmaps them.
class FileBytes
{
public:
    explicit FileBytes(const std::string &path)
    {
        int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
        struct stat status {
        };
        if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
            map(file, static_cast<size_t>(status.st_size));
        if (file >= 0)
            close(file);
    }
    ~FileBytes()
    {
        if (start_)
            munmap(start_, size_);
    }
    FileBytes(const FileBytes &) = delete;
    FileBytes &operator=(const FileBytes &) = delete;

    // Returns the part of the range that is within the file.
    std::string_view range(size_t offset, size_t size) const
    {
        if (offset >= size_)
            return {};
        return {static_cast<const char *>(start_) + offset, std::min(size, size_ - offset)};
    }

    // Returns false if the file is too short.
    template <class T> bool read(size_t offset, T &value) const
    {
        std::string_view bytes = range(offset, sizeof(T));
        if (bytes.size() == sizeof(T))
            memcpy(&value, bytes.data(), sizeof(T));
        return bytes.size() == sizeof(T);
    }

private:
    void map(int file, size_t size)
    {
        void *mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
        if (mapped == MAP_FAILED)
            return;
        start_ = mapped;
        size_ = size;
    }

    void *start_ = nullptr;
    size_t size_ = 0;
};

bool contains(std::string_view text, std::string_view part)
{
    // memmem() is much faster than find() on the megabytes of a program.
    return !text.empty() && memmem(text.data(), text.size(), part.data(), part.size()) != nullptr;
}

// ---- ELF -------------------------------------------------------------------

using Header = ElfW(Ehdr);
using Segment = ElfW(Phdr);
using Entry = ElfW(Dyn);

bool is_elf(const FileBytes &bytes)
{
    return bytes.range(0, SELFMAG) == std::string_view(ELFMAG, SELFMAG);
}

// In an ELF file of another class all fields except e_ident and e_machine are elsewhere.
bool is_for_other_machine(const FileBytes &theirs)
{
    FileBytes ours("/proc/self/exe");
    Header own, other;
    return ours.read(0, own) && theirs.read(0, other) &&
           (own.e_machine != other.e_machine || own.e_ident[EI_CLASS] != other.e_ident[EI_CLASS] ||
            own.e_ident[EI_DATA] != other.e_ident[EI_DATA]);
}

std::vector<Segment> segments_of(const FileBytes &bytes)
{
    std::vector<Segment> segments;
    Header header;
    Segment segment;
    if (!bytes.read(0, header) || header.e_phentsize != sizeof(Segment))
        return segments;
    for (size_t i = 0; i < header.e_phnum; i++)
        if (bytes.read(header.e_phoff + i * sizeof(Segment), segment))
            segments.push_back(segment);
    return segments;
}

const Segment *segment_of_type(const std::vector<Segment> &segments, unsigned type)
{
    auto found = std::find_if(segments.begin(), segments.end(),
                              [type](const Segment &segment) { return segment.p_type == type; });
    return found == segments.end() ? nullptr : &*found;
}

// Returns the strings of the dynamic section, which holds their address in memory.
std::string_view dynamic_strings(const FileBytes &bytes, const std::vector<Segment> &segments,
                                 const std::vector<Entry> &entries)
{
    for (const Entry &entry : entries)
        for (const Segment &segment : segments)
            if (entry.d_tag == DT_STRTAB && segment.p_type == PT_LOAD &&
                entry.d_un.d_ptr >= segment.p_vaddr &&
                entry.d_un.d_ptr - segment.p_vaddr < segment.p_filesz) {
                size_t into = entry.d_un.d_ptr - segment.p_vaddr;
                return bytes.range(segment.p_offset + into, segment.p_filesz - into);
            }
    return {};
}

std::vector<Entry> dynamic_entries(const FileBytes &bytes, const Segment &dynamic)
{
    std::string_view section = bytes.range(dynamic.p_offset, dynamic.p_filesz);
    std::vector<Entry> entries(section.size() / sizeof(Entry));
    if (!entries.empty())
        memcpy(entries.data(), section.data(), entries.size() * sizeof(Entry));
    return entries;
}

std::string linked_libavfilter(const FileBytes &bytes, const std::vector<Segment> &segments)
{
    const Segment *dynamic = segment_of_type(segments, PT_DYNAMIC);
    if (!dynamic)
        return {};
    std::vector<Entry> entries = dynamic_entries(bytes, *dynamic);
    std::string_view strings = dynamic_strings(bytes, segments, entries);
    for (const Entry &entry : entries) {
        if (entry.d_tag != DT_NEEDED || entry.d_un.d_val >= strings.size())
            continue;
        std::string_view name = strings.substr(entry.d_un.d_val);
        name = name.substr(0, name.find('\0'));
        if (name.starts_with("libavfilter"))
            return std::string(name);
    }
    return {};
}

// Searches the constants, and the far larger code only if the linker did not separate the two.
// GNU's linker separates them since 2.31.
bool has_own_libavfilter(const FileBytes &bytes, const std::vector<Segment> &segments)
{
    auto constants = [](const Segment &segment) {
        return segment.p_type == PT_LOAD && segment.p_flags == PF_R;
    };
    bool parted = std::any_of(segments.begin(), segments.end(), constants);
    return std::any_of(segments.begin(), segments.end(), [&](const Segment &segment) {
        return (parted ? constants(segment) : segment.p_type == PT_LOAD) &&
               contains(bytes.range(segment.p_offset, segment.p_filesz), lavfi_mark);
    });
}

void inspect_elf(const FileBytes &bytes, Program &program)
{
    if (is_for_other_machine(bytes)) {
        program.hindrance = Hindrance::other_machine;
        return;
    }
    // An AppImage is a static program that starts one of its own files, which LD_PRELOAD reaches.
    if (bytes.range(8, appimage_mark.size()) == appimage_mark)
        return;
    std::vector<Segment> segments = segments_of(bytes);
    if (!segments.empty() && !segment_of_type(segments, PT_INTERP)) {
        program.hindrance = Hindrance::statically_linked;
        return;
    }
    program.libavfilter = linked_libavfilter(bytes, segments);
    if (program.libavfilter.empty() && has_own_libavfilter(bytes, segments))
        program.hindrance = Hindrance::own_libavfilter;
}

// ---- other hindrances ------------------------------------------------------

// Returns whether the kernel would set AT_SECURE because of the file.
bool is_privileged(const std::string &path)
{
    struct stat status {
    };
    if (stat(path.c_str(), &status) != 0)
        return false;
    bool other_user = status.st_mode & S_ISUID && status.st_uid != getuid();
    bool other_group =
        (status.st_mode & S_ISGID && status.st_mode & S_IXGRP) && status.st_gid != getgid();
    bool capable = getuid() != 0 && getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
    return other_user || other_group || capable;
}

// The names in /snap/bin are links to snap, and Flatpak's exported names lead to its own folders.
bool is_sandboxed(const std::string &path)
{
    std::error_code error;
    fs::path real = fs::canonical(path, error);
    if (error)
        return false;
    return real.filename() == "snap" || real.filename() == "flatpak" ||
           real.string().find("/flatpak/app/") != std::string::npos ||
           real.string().find("/flatpak/exports/") != std::string::npos;
}

// Returns a script's interpreter, parsed like the kernel does, or an empty text.
std::string interpreter_of(const FileBytes &bytes)
{
    std::istringstream line{std::string(bytes.range(0, 256))};
    std::string first, interpreter;
    std::getline(line, first);
    if (!first.starts_with("#!"))
        return {};
    std::istringstream(first.substr(2)) >> interpreter;
    return interpreter;
}

bool can_execute(const fs::path &path)
{
    std::error_code error;
    return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

} // namespace

std::string find_program(const std::string &name)
{
    if (name.find('/') != std::string::npos)
        return can_execute(name) ? name : std::string();
    char path[PATH_MAX];
    const char *folders = getenv("PATH");
    FolderSearch search = {
        .folders = folders ? folders : "/bin:/usr/bin", .empty_name = ".", .access = X_OK};
    return dnn_torch_find_file(&search, name.c_str(), path, sizeof(path)) ? path : std::string();
}

Program inspect_program(const std::string &path)
{
    Program program;
    program.runs = path;
    if (is_sandboxed(path)) {
        program.hindrance = Hindrance::sandboxed;
        return program;
    }
    std::string interpreter = interpreter_of(FileBytes(path));
    if (!interpreter.empty())
        program.runs = interpreter;
    FileBytes bytes(program.runs);
    if (is_elf(bytes))
        inspect_elf(bytes, program);
    if (program.hindrance == Hindrance::none && is_privileged(program.runs))
        program.hindrance = Hindrance::privileged;
    return program;
}

std::string explain(Hindrance hindrance)
{
    switch (hindrance) {
    case Hindrance::none:
        break;
    case Hindrance::statically_linked:
        return "is statically linked and cannot have the filters itself; use the distribution's "
               "ffmpeg, or a patched one (patches/README.md)";
    case Hindrance::own_libavfilter:
        return "has a libavfilter of its own linked into it, which cannot be extended; use the "
               "distribution's ffmpeg, or a patched one (patches/README.md)";
    case Hindrance::privileged:
        return "runs with privileges of its own (set-user-ID, set-group-ID, capabilities) and so "
               "without the filters; use a copy that has none";
    case Hindrance::other_machine:
        return "is a program for another kind of machine than dnn-torch, and so cannot have the "
               "filters; install both for the same architecture";
    case Hindrance::sandboxed:
        return "runs in a sandbox (Snap, Flatpak) with libraries of its own and cannot have the "
               "filters; use the distribution's package of the program";
    }
    return {};
}

} // namespace dnn_torch
