// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What the launcher tells of a program from its file.  argv: a dynamic program, one
// that is linked to libavfilter, one with a libavfilter inside, and a static one or "".
#include "launcher/program.h"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <link.h>
#include <random>
#include <string>
#include <unistd.h>

namespace dnn_torch
{

void PrintTo(Hindrance hindrance, std::ostream *out)
{
    *out << static_cast<int>(hindrance);
}

namespace
{

namespace fs = std::filesystem;

std::string plain, linked, with_own, statically;

std::string bytes_of(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

class ProgramFiles : public testing::Test
{
protected:
    ProgramFiles()
    {
        std::string name = testing::TempDir() + "program_test.XXXXXX";
        folder = mkdtemp(name.data());
        search(folder.string());
    }
    ~ProgramFiles() override { fs::remove_all(folder); }

    std::string make(const std::string &name, const std::string &bytes, bool can_run = true)
    {
        fs::path path = folder / name;
        fs::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary) << bytes;
        fs::permissions(path, fs::perms(can_run ? 0755 : 0644));
        return path;
    }
    static void search(const std::string &path) { setenv("PATH", path.c_str(), 1); }

    fs::path folder;
};

Hindrance hindrance_of(const std::string &path)
{
    return inspect_program(path).hindrance;
}

TEST_F(ProgramFiles, AreFoundAsTheShellFindsThem)
{
    std::string first = make("first/ffmpeg", "", false), second = make("second/ffmpeg", "");
    fs::create_directories(folder / "third/ffmpeg");
    make("fourth/ffmpeg", "");
    std::string path;
    for (const char *name : {"none", "first", "third", "second", "fourth"})
        path += (folder / name).string() + ":";
    search(path);
    EXPECT_EQ(find_program("ffmpeg"), second);
    EXPECT_EQ(find_program("ffplay"), "");
    EXPECT_EQ(find_program(second), second);
    EXPECT_EQ(find_program(first), "") << "it cannot be executed";
}

TEST_F(ProgramFiles, AreFoundInTheCurrentFolderAndWithoutAPath)
{
    make("ffmpeg", "");
    fs::path before = fs::current_path();
    fs::current_path(folder);
    search("/nowhere::/bin");
    EXPECT_EQ(find_program("ffmpeg"), "./ffmpeg");
    for (const char *path : {":/nowhere", "/nowhere:", ""}) {
        search(path);
        EXPECT_EQ(find_program("ffmpeg"), "./ffmpeg") << path;
    }
    fs::current_path(before);
    unsetenv("PATH");
    EXPECT_EQ(find_program("sh"), "/bin/sh");
}

TEST_F(ProgramFiles, WithoutHindrance)
{
    EXPECT_EQ(hindrance_of(plain), Hindrance::none);
    EXPECT_EQ(inspect_program(plain).libavfilter, "");
    EXPECT_EQ(hindrance_of(linked), Hindrance::none);
    EXPECT_EQ(inspect_program(linked).libavfilter.rfind("libavfilter.so.", 0), 0U)
        << inspect_program(linked).libavfilter;
    EXPECT_EQ(hindrance_of(make("text", "no program")), Hindrance::none);
    EXPECT_EQ(hindrance_of(make("empty", "")), Hindrance::none);
    EXPECT_EQ(hindrance_of(make("begun", bytes_of(plain).substr(0, 20))), Hindrance::none);
    EXPECT_EQ(hindrance_of(folder / "none"), Hindrance::none);
    EXPECT_EQ(hindrance_of(folder), Hindrance::none);
    EXPECT_EQ(hindrance_of(""), Hindrance::none);
}

TEST_F(ProgramFiles, WithALibavfilterOfTheirOwn)
{
    EXPECT_EQ(hindrance_of(with_own), Hindrance::own_libavfilter);
}

TEST_F(ProgramFiles, StaticallyLinked)
{
    if (statically.empty())
        GTEST_SKIP() << "nothing can be linked statically here";
    EXPECT_EQ(hindrance_of(statically), Hindrance::statically_linked);
    std::string bytes = bytes_of(statically);
    bytes.replace(8, 3, std::string("AI\2", 3));
    EXPECT_EQ(hindrance_of(make("appimage", bytes)), Hindrance::none);
}

TEST_F(ProgramFiles, ThatAreScriptsRunTheirInterpreter)
{
    Program program = inspect_program(make("script", "#! \t" + with_own + " -x\nexit\n"));
    EXPECT_EQ(program.hindrance, Hindrance::own_libavfilter);
    EXPECT_EQ(program.runs, with_own);
    EXPECT_EQ(hindrance_of(make("shell", "#!/bin/sh\n")), Hindrance::none);
    EXPECT_EQ(hindrance_of(make("lost", "#!/nowhere/sh")), Hindrance::none);
    EXPECT_EQ(hindrance_of(make("short", "#!")), Hindrance::none);
}

TEST_F(ProgramFiles, ForOtherMachines)
{
    std::string processor = bytes_of(plain), word_size = processor;
    processor[offsetof(ElfW(Ehdr), e_machine)] = EM_MIPS;
    word_size[EI_CLASS] = word_size[EI_CLASS] == ELFCLASS64 ? ELFCLASS32 : ELFCLASS64;
    EXPECT_EQ(hindrance_of(make("processor", processor)), Hindrance::other_machine);
    EXPECT_EQ(hindrance_of(make("word_size", word_size)), Hindrance::other_machine);
}

TEST_F(ProgramFiles, WithPrivileges)
{
    std::string path = make("program", bytes_of(plain));
    fs::permissions(path, fs::perms(04755));
    EXPECT_EQ(hindrance_of(path), Hindrance::none) << "its user's own";
    if (geteuid() != 0 || chown(path.c_str(), 12345, static_cast<gid_t>(-1)) != 0)
        GTEST_SKIP() << "only root can give a file away";
    fs::permissions(path, fs::perms(04755));
    EXPECT_EQ(hindrance_of(path), Hindrance::privileged);
    fs::permissions(path, fs::perms(0755));
    EXPECT_EQ(hindrance_of(path), Hindrance::none);
}

TEST_F(ProgramFiles, InSandboxes)
{
    make("usr/bin/snap", bytes_of(plain));
    make("var/lib/flatpak/app/org.mpv/active/export/bin/org.mpv", "#!/bin/sh\n");
    fs::create_directories(folder / "bin");
    fs::create_symlink(folder / "usr/bin/snap", folder / "bin/ffmpeg");
    fs::create_symlink("../var/lib/flatpak/app/org.mpv/active/export/bin/org.mpv",
                       folder / "bin/org.mpv");
    EXPECT_EQ(hindrance_of(folder / "bin/ffmpeg"), Hindrance::sandboxed);
    EXPECT_EQ(hindrance_of(folder / "bin/org.mpv"), Hindrance::sandboxed);
    EXPECT_EQ(inspect_program(folder / "bin/org.mpv").runs, folder / "bin/org.mpv");
}

// A file that is cut off or overwritten is exec's to refuse, and must not be ours to die of.
TEST_F(ProgramFiles, ThatAreBroken)
{
    const std::string whole = bytes_of(linked);
    std::minstd_rand random(1);
    for (size_t size = 4; size < whole.size(); size += 1 + size / 8)
        EXPECT_EQ(inspect_program(make("cut", whole.substr(0, size))).runs, folder / "cut");
    for (int i = 0; i < 200; i++) {
        std::string broken = whole;
        // The headers, and entries of the dynamic section wherever they lie.
        for (int j = 0; j < 4; j++)
            broken[20 + random() % 1000] = static_cast<char>(random() % 256);
        for (int j = 0; j < 200; j++)
            broken[random() % whole.size()] = static_cast<char>(random() % 256);
        EXPECT_EQ(inspect_program(make("broken", broken)).runs, folder / "broken");
    }
}

TEST(Hindrances, AreExplainedInOneLine)
{
    EXPECT_EQ(explain(Hindrance::none), "");
    for (Hindrance hindrance :
         {Hindrance::statically_linked, Hindrance::own_libavfilter, Hindrance::privileged,
          Hindrance::other_machine, Hindrance::sandboxed}) {
        EXPECT_NE(explain(hindrance).find("; "), std::string::npos) << "what to do";
        EXPECT_EQ(explain(hindrance).find('\n'), std::string::npos);
    }
}

} // namespace
} // namespace dnn_torch

int main(int argc, char **argv)
{
    testing::InitGoogleTest(&argc, argv);
    if (argc != 5) {
        fprintf(stderr, "usage: program_test PLAIN LINKED WITH_OWN STATIC\n");
        return 2;
    }
    dnn_torch::plain = argv[1];
    dnn_torch::linked = argv[2];
    dnn_torch::with_own = argv[3];
    dnn_torch::statically = argv[4];
    return RUN_ALL_TESTS();
}
