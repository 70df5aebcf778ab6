// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The host reads nothing twice that the model's process can write.  The memory that both share is
// made inaccessible, so that each of the host's reads is seen, whatever instruction it is.
#include "host/ffmpeg_pointers.h"
#include "host/filters/filters.h"
#include "host/libavfilter/real_registry.h"

extern "C" {
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavutil/log.h>
#include <libavutil/pixdesc.h>
}

#include <csignal>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <fstream>
#include <gtest/gtest.h>
#include <link.h>
#include <map>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace
{

using dnn_torch::FramePointer;
using dnn_torch::GraphPointer;

// ---- watching memory ----------------------------------------------------------------

#ifdef __x86_64__

struct Watched {
    char *begin;
    size_t size;
    // By the address at which an instruction begins to read.
    std::vector<uint8_t> reads;
    std::vector<uint32_t> last_copy; // the number of the access by which the C library read it
};

std::vector<Watched> watched;
uintptr_t second_read = 0; // the instruction
volatile sig_atomic_t writes = 0;
uint32_t accesses = 0;
uintptr_t c_library_begin = 0, c_library_end = 0;

constexpr greg_t trap_flag = 0x100, is_write = 2;

void protect(int protection)
{
    for (const Watched &each : watched)
        mprotect(each.begin, each.size, protection);
}

int find_c_library(dl_phdr_info *about, size_t, void *)
{
    if (!std::strstr(about->dlpi_name, "/libc.so"))
        return 0;
    for (int i = 0; i < about->dlpi_phnum; i++) {
        const auto &segment = about->dlpi_phdr[i];
        if (segment.p_type == PT_LOAD && segment.p_flags & PF_X) {
            c_library_begin = about->dlpi_addr + segment.p_vaddr;
            c_library_end = c_library_begin + segment.p_memsz;
        }
    }
    return 1;
}

// memcpy() reads some bytes twice: the beginning of a few, where their end overlaps it, and the end
// of more, which it reads before all between.  Which of the two it keeps is the copy's one value.
bool is_same_copy(Watched &memory, size_t at, uintptr_t instruction)
{
    constexpr uint32_t of_one_copy = 32; // a row of 400 bytes, 16 at once
    accesses++;
    if (instruction < c_library_begin || instruction >= c_library_end)
        return false;
    const uint32_t last = std::exchange(memory.last_copy[at], accesses);
    return last && accesses - last <= of_one_copy;
}

Watched *watched_at(const char *address)
{
    for (Watched &each : watched)
        if (address >= each.begin && address < each.begin + each.size)
            return &each;
    return nullptr;
}

// Lets the one instruction pass.
void on_access(int number, siginfo_t *about, void *context)
{
    auto &registers = static_cast<ucontext_t *>(context)->uc_mcontext.gregs;
    const char *const address = static_cast<char *>(about->si_addr);
    Watched *const memory = watched_at(address);
    if (!memory) {
        std::signal(number, SIG_DFL);
        return;
    }
    const auto at = static_cast<size_t>(address - memory->begin);
    const auto instruction = static_cast<uintptr_t>(registers[REG_RIP]);
    if (registers[REG_ERR] & is_write)
        writes = writes + 1;
    else if (!is_same_copy(*memory, at, instruction) && memory->reads[at]++)
        second_read = instruction;
    protect(PROT_READ | PROT_WRITE);
    registers[REG_EFL] |= trap_flag;
}

void after_access(int, siginfo_t *, void *context)
{
    static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_EFL] &= ~trap_flag;
    protect(PROT_NONE);
}

void handle(int number, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action = {};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO;
    sigaction(number, &action, nullptr);
}

// The seals of this process's memory files, by their inodes.
std::map<ino_t, int> seals_of_files()
{
    std::map<ino_t, int> seals;
    DIR *const folder = opendir("/proc/self/fd");
    while (const dirent *entry = readdir(folder)) {
        const int number = std::atoi(entry->d_name);
        struct stat about = {};
        if (const int found = fcntl(number, F_GET_SEALS); found >= 0 && fstat(number, &about) == 0)
            seals[about.st_ino] = found;
    }
    closedir(folder);
    return seals;
}

// Finds what the other process may write: all that is not sealed against it.
void find_shared_memory()
{
    constexpr int future_write = 0x10; // F_SEAL_FUTURE_WRITE
    const std::map<ino_t, int> seals = seals_of_files();
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        unsigned long begin = 0, end = 0, inode = 0;
        if (line.find("memfd:dnn-torch") == line.npos ||
            std::sscanf(line.c_str(), "%lx-%lx %*s %*s %*s %lu", &begin, &end, &inode) != 3)
            continue;
        const auto found = seals.find(inode);
        ASSERT_NE(found, seals.end());
        EXPECT_EQ(found->second & (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL),
                  F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
        if (!(found->second & (future_write | F_SEAL_WRITE)))
            watched.push_back({.begin = reinterpret_cast<char *>(begin),
                               .size = end - begin,
                               .reads = std::vector<uint8_t>(end - begin),
                               .last_copy = std::vector<uint32_t>(end - begin)});
    }
}

struct Reads {
    size_t places = 0, repeated = 0;
    std::string last_repeated; // for objdump
};

std::string name_of(uintptr_t instruction)
{
    Dl_info about = {};
    if (!instruction || !dladdr(reinterpret_cast<void *>(instruction), &about))
        return "";
    char text[256];
    const auto begin = reinterpret_cast<uintptr_t>(about.dli_fbase);
    std::snprintf(text, sizeof text, "%s+0x%zx (after %s)", about.dli_fname, instruction - begin,
                  about.dli_sname ? about.dli_sname : "nothing exported");
    return text;
}

// What `work` reads of it.
template <class Work> Reads reads_of(const Work &work)
{
    find_shared_memory();
    dl_iterate_phdr(find_c_library, nullptr);
    handle(SIGSEGV, on_access);
    handle(SIGTRAP, after_access);
    protect(PROT_NONE);
    work();
    protect(PROT_READ | PROT_WRITE);
    std::signal(SIGSEGV, SIG_DFL);
    std::signal(SIGTRAP, SIG_DFL);
    Reads reads;
    for (const Watched &each : watched)
        for (const uint8_t count : each.reads) {
            reads.places += count > 0;
            reads.repeated += count > 1;
        }
    reads.last_repeated = name_of(std::exchange(second_read, 0));
    watched.clear();
    return reads;
}

// ---- filters ------------------------------------------------------------------------

constexpr int width = 50, height = 38;

// A graph of one filter whose model runs in a process of its own.
class Film
{
public:
    Film(const AVFilter *filter, const char *format, const std::string &script,
         const std::string &options)
        : path_(testing::TempDir() + "reads_once_" + std::to_string(getpid()) + ".txt")
    {
        std::ofstream(path_) << script << '\n';
        char input[128];
        std::snprintf(input, sizeof input, "video_size=%dx%d:pix_fmt=%s:time_base=1/25", width,
                      height, format);
        const std::string all =
            path_ + ":engine=fake:isolate=1:async=0:workers=1:threads=1" + options;
        format_ = av_get_pix_fmt(format);
        int status = create(&source_, avfilter_get_by_name("buffer"), "in", input);
        if (status >= 0)
            status = create(&filter_, filter, "dnn", all.c_str());
        if (status >= 0)
            status = create(&sink_, avfilter_get_by_name("buffersink"), "out", nullptr);
        if (status >= 0)
            status = avfilter_link(source_, 0, filter_, 0);
        if (status >= 0)
            status = avfilter_link(filter_, 0, sink_, 0);
        if (status >= 0)
            status = avfilter_graph_config(graph_.get(), nullptr);
        EXPECT_GE(status, 0) << all;
        is_open_ = status >= 0;
    }
    ~Film() { unlink(path_.c_str()); }
    Film(const Film &) = delete;
    Film &operator=(const Film &) = delete;

    bool is_open() const { return is_open_; }

    void show_frame()
    {
        frame_->width = width;
        frame_->height = height;
        frame_->format = format_;
        frame_->pts = shown_++;
        ASSERT_EQ(av_frame_get_buffer(frame_.get(), 0), 0);
        fill();
        ASSERT_EQ(av_buffersrc_add_frame_flags(source_, frame_.get(), AV_BUFFERSRC_FLAG_PUSH), 0);
        ASSERT_EQ(av_buffersink_get_frame(sink_, frame_.get()), 0);
        av_frame_unref(frame_.get());
    }

private:
    // With numbers that are valid in each format, from dark to bright: what looks only at such
    // frames has then looked at those before the one that is watched.
    void fill()
    {
        const AVPixFmtDescriptor &about = *av_pix_fmt_desc_get(format_);
        const int depth = about.comp[0].depth;
        const auto fill_with = [](const AVBufferRef &buffer, auto number_at) {
            using Number = decltype(number_at(size_t{}));
            for (size_t i = 0; i < buffer.size / sizeof(Number); i++)
                reinterpret_cast<Number *>(buffer.data)[i] = number_at(i);
        };
        const auto code_at = [depth](size_t i) { return i * 5 % 200 << (depth - 8); };
        for (const AVBufferRef *buffer : frame_->buf)
            if (!buffer)
                continue;
            else if (about.flags & AV_PIX_FMT_FLAG_FLOAT)
                fill_with(*buffer, [](size_t i) { return static_cast<float>(i % 100) / 100; });
            else if (depth == 8)
                fill_with(*buffer, [&](size_t i) { return static_cast<uint8_t>(code_at(i)); });
            else
                fill_with(*buffer, [&](size_t i) { return static_cast<uint16_t>(code_at(i)); });
    }

    int create(AVFilterContext **ctx, const AVFilter *filter, const char *name, const char *options)
    {
        return avfilter_graph_create_filter(ctx, filter, name, options, nullptr, graph_.get());
    }

    const std::string path_;
    const GraphPointer graph_{avfilter_graph_alloc()};
    const FramePointer frame_{av_frame_alloc()};
    AVPixelFormat format_ = AV_PIX_FMT_NONE;
    AVFilterContext *source_ = nullptr, *filter_ = nullptr, *sink_ = nullptr;
    int shown_ = 0;
    bool is_open_ = false;
};

// `least` is the number of places that are read at least: no instruction reads more than 64 bytes.
void expect_one_read(const AVFilter *filter, const char *format, const std::string &script,
                     const std::string &options, size_t least)
{
    SCOPED_TRACE(std::string(format) + " " + options);
    Film film(filter, format, script, options);
    if (!film.is_open())
        return;
    film.show_frame(); // now there is memory for results
    film.show_frame();
    const Reads reads = reads_of([&] { film.show_frame(); });
    EXPECT_GE(reads.places, least);
    EXPECT_EQ(reads.repeated, 0U) << reads.last_repeated;
    EXPECT_EQ(writes, 0);
}

// Numbers so large that the first frame warns of them, and no later one is looked at for that.
constexpr char picture[] = "gain 200\nchannels 0";
constexpr size_t least_of_plane = width * height * sizeof(float) / 64;

TEST(Watching, SeesEachRead)
{
    const int file = memfd_create("dnn-torch", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0)
        GTEST_SKIP() << "no memory files are permitted here";
    ASSERT_EQ(ftruncate(file, 4096), 0);
    fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    auto *const memory = static_cast<volatile int *>(
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    Reads reads = reads_of([&] { return memory[1] + memory[3] + memory[1]; });
    EXPECT_EQ(reads.places, 2U);
    EXPECT_EQ(reads.repeated, 1U);
    reads = reads_of([&] { memory[2] = memory[1]; });
    EXPECT_EQ(reads.places, 1U);
    EXPECT_EQ(writes, 1);
    writes = 0;
    munmap(const_cast<int *>(memory), 4096);
    close(file);
}

TEST(Pictures, AreReadOnce)
{
    const AVFilter *const filter = dnn_torch::dnn_torch_filter();
    for (const char *format :
         {"rgb24", "gbrp", "rgba", "gbrp10le", "rgb48le", "gbrapf32le", "yuv420p", "yuv444p10le",
          "nv12", "gray", "gray10le", "gray16le", "grayf32le"})
        for (const char *options : {"", ":strength=0.5", ":tile=32"})
            expect_one_read(filter, format, picture, options, least_of_plane / 4);
}

TEST(Pictures, OfIntegersAreReadOnce)
{
    const std::string script = std::string(picture) + "\ntakes_integers 1";
    for (const char *format : {"rgb24", "rgb48le", "gbrp10le", "gray", "gray10le"})
        expect_one_read(dnn_torch::dnn_torch_filter(), format, script, "", least_of_plane / 4);
}

TEST(Pictures, OfDepthAreReadOnce)
{
    for (const char *options : {":as=depth", ":as=depth:depth=0..9", ":as=depth:tile=32"})
        expect_one_read(dnn_torch::dnn_torch_filter(), "rgb24",
                        "channels 3\noutput_channels 1\ngain 3", options, least_of_plane);
}

TEST(Tensors, AreReadOnce)
{
    constexpr char maps[] = "tensor - f32 1x3x19x25 0.5 0.25 0.75",
                   numbers[] = "tensor - i64 1x19x25 0 1 2",
                   scores[] = "tensor - f32 1x100 0.25 0.5 0.125",
                   boxes[] = "tensor boxes f32 20x4 1 2 30 30\ntensor labels i64 20 0 1 2\n"
                             "tensor scores f32 20 0.5 0.75";
    const std::string channels = "channels 3\n";
    for (const char *script : {maps, numbers})
        expect_one_read(dnn_torch::dnn_torch_filter(), "rgb24", channels + script, ":as=index", 10);
    expect_one_read(dnn_torch::dnn_torch_classify_filter(), "rgb24", channels + scores, "", 5);
    expect_one_read(dnn_torch::dnn_torch_detect_filter(), "rgb24", channels + boxes, "", 5);
}

#endif

} // namespace

int main(int argc, char **argv)
{
    testing::InitGoogleTest(&argc, argv);
    av_log_set_level(AV_LOG_ERROR);
    FilterRegistry linked{};
    linked.get_by_name = avfilter_get_by_name;
    linked.iterate = av_filter_iterate;
    dnn_torch::set_real_registry(linked);
    return RUN_ALL_TESTS();
}
