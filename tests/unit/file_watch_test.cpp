// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/model/file_identity.h"

#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

using namespace dnn_torch;

namespace
{

class FileWatchTest : public testing::Test
{
protected:
    FileWatchTest() { write(path_, "one"); }
    ~FileWatchTest() override
    {
        unlink(path_.c_str());
        unlink(other_.c_str());
    }

    static void write(const std::string &path, const std::string &text)
    {
        std::ofstream(path) << text;
    }

    // The next look that the watch takes.
    bool look(FileWatch &watch)
    {
        now_ += FileWatch::interval;
        return watch.has_changed(now_);
    }

    const std::string path_ = testing::TempDir() + "dnn_torch_watch_" + std::to_string(getpid());
    const std::string other_ = path_ + ".new";
    FileWatch::Time now_{};
};

TEST_F(FileWatchTest, AFileThatStaysIsNoChange)
{
    FileWatch watch(path_);
    EXPECT_FALSE(look(watch));
    EXPECT_FALSE(look(watch));
}

TEST_F(FileWatchTest, AnotherFileInItsPlaceIsTakenAtOnce)
{
    FileWatch watch(path_);
    write(other_, "two");
    ASSERT_EQ(rename(other_.c_str(), path_.c_str()), 0);
    EXPECT_TRUE(look(watch));
    EXPECT_FALSE(look(watch));
}

TEST_F(FileWatchTest, AFileThatGrowsIsTakenOnceItIsWhole)
{
    FileWatch watch(path_);
    for (const char *text : {"three of", "three of many", "three of many words"}) {
        write(path_, text);
        EXPECT_FALSE(look(watch)) << text;
    }
    EXPECT_TRUE(look(watch));
    EXPECT_FALSE(look(watch));
}

TEST_F(FileWatchTest, AFileThatComesBackIsTaken)
{
    FileWatch watch(path_);
    // The old file lives on elsewhere, so that the new one is not given its inode.
    ASSERT_EQ(rename(path_.c_str(), other_.c_str()), 0);
    EXPECT_FALSE(look(watch));
    write(path_, "four");
    EXPECT_TRUE(look(watch));
}

TEST_F(FileWatchTest, AnotherFileIsWatchedAsWell)
{
    write(other_, "one");
    FileWatch watch(path_);
    watch.add(other_);
    watch.add(other_);
    EXPECT_FALSE(look(watch));
    write(other_, "another one");
    EXPECT_FALSE(look(watch)); // it may still grow
    EXPECT_TRUE(look(watch));
    EXPECT_FALSE(look(watch));
}

TEST_F(FileWatchTest, LooksNoMoreThanOnceInAnInterval)
{
    FileWatch watch(path_);
    EXPECT_FALSE(look(watch));
    write(other_, "five");
    ASSERT_EQ(rename(other_.c_str(), path_.c_str()), 0);
    EXPECT_FALSE(watch.has_changed(now_ + FileWatch::interval / 2));
    EXPECT_TRUE(watch.has_changed(now_ + FileWatch::interval));
}

} // namespace
