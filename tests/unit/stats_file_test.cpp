// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/error.h"
#include "host/filters/stats_file.h"

#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <sstream>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

using namespace dnn_torch;

namespace
{

class StatsPath : public testing::Test
{
protected:
    ~StatsPath() override { unlink(path.c_str()); }

    void make_pipe() { ASSERT_EQ(mkfifo(path.c_str(), S_IRUSR | S_IWUSR), 0); }
    int read_end() { return open(path.c_str(), O_RDONLY | O_NONBLOCK); }
    std::string content() const
    {
        std::stringstream text;
        text << std::ifstream(path).rdbuf();
        return text.str();
    }

    std::string path = testing::TempDir() + "dnn_torch_stats_" + std::to_string(getpid());
};

int fault_of(const std::string &path)
{
    try {
        StatsFile file(path);
        return 0;
    } catch (const Error &error) {
        EXPECT_NE(std::string(error.what()).find("stats=" + path), std::string::npos);
        return error.code();
    }
}

std::string read_all(int descriptor)
{
    char text[256];
    ssize_t size = read(descriptor, text, sizeof(text));
    return size > 0 ? std::string(text, static_cast<size_t>(size)) : std::string();
}

TEST_F(StatsPath, IsReplacedAtTheEndAndNotBefore)
{
    std::ofstream(path) << "what stood there before, which is longer";
    StatsFile file(path);
    EXPECT_EQ(content(), "what stood there before, which is longer");
    file.write("new\n");
    EXPECT_EQ(content(), "new\n");
}

TEST_F(StatsPath, MustBeOneThatCanBeWritten)
{
    EXPECT_EQ(fault_of(""), 0);
    EXPECT_EQ(fault_of("/dev/null"), 0);
    EXPECT_EQ(fault_of("/dev/stderr"), 0);
    EXPECT_EQ(fault_of("/dev/fd/2"), 0);
    EXPECT_EQ(fault_of("/nowhere/stats.json"), -ENOENT);
    EXPECT_EQ(fault_of(testing::TempDir()), -EISDIR);
    EXPECT_EQ(fault_of("/dev/fd/999"), -EBADF);
}

TEST_F(StatsPath, IsNoSocket)
{
    sockaddr_un name = {};
    name.sun_family = AF_UNIX;
    ASSERT_LT(path.size(), sizeof(name.sun_path));
    path.copy(name.sun_path, path.size());
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr *>(&name), sizeof(name)), 0);
    EXPECT_EQ(fault_of(path), -EINVAL);
    close(listener);
}

TEST_F(StatsPath, APipeNeedsAReader)
{
    make_pipe();
    EXPECT_EQ(fault_of(path), -ENXIO);
}

TEST_F(StatsPath, AReaderSeesNoEndBetweenTwoGraphs)
{
    make_pipe();
    int reader = read_end();
    std::make_unique<StatsFile>(path).reset();
    char byte;
    EXPECT_EQ(read(reader, &byte, 1), -1);
    EXPECT_EQ(errno, EAGAIN);
    StatsFile(path).write("{}\n");
    EXPECT_EQ(read_all(reader), "{}\n");
    EXPECT_EQ(read(reader, &byte, 1), 0);
    close(reader);
}

TEST_F(StatsPath, AReaderThatDoesNotReadIsNotWaitedForLong)
{
    make_pipe();
    int reader = read_end();
    StatsFile file(path);
    EXPECT_THROW(file.write(std::string(1 << 20, 'x')), Error);
    close(reader);
}

TEST_F(StatsPath, AReaderThatHasGoneIsNoSignal)
{
    make_pipe();
    int reader = read_end();
    StatsFile file(path);
    close(reader);
    EXPECT_THROW(file.write("{}\n"), Error);
}

TEST_F(StatsPath, WhatTheProgramHasOpenIsNotTruncated)
{
    int output = open(path.c_str(), O_WRONLY | O_CREAT, S_IRUSR | S_IWUSR);
    ASSERT_EQ(write(output, "log\n", 4), 4);
    StatsFile("/dev/fd/" + std::to_string(output)).write("{}\n");
    close(output);
    EXPECT_EQ(content(), "log\n{}\n");
}

} // namespace
