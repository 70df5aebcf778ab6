// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Records of tuning for a process that may not touch the user's files.
#include "engine_kit/content_hash.h"
#include "engine_kit/tuning_broker.h"
#include "engine_kit/tuning_cache.h"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace
{

using engine_torch::content_hash;
using engine_torch::content_hash_of_file;
using engine_torch::TuningBroker;
using engine_torch::TuningCache;
using engine_torch::TuningKey;
using engine_torch::TuningMessage;
using engine_torch::TuningRecord;
using engine_torch::TuningRequest;

const std::string model_bytes(3 << 20, 'm');

std::vector<dnn_torch::Descriptor> model_files()
{
    std::vector<dnn_torch::Descriptor> files;
    files.emplace_back(memfd_create("model", MFD_CLOEXEC));
    EXPECT_EQ(pwrite(files[0].get(), model_bytes.data(), model_bytes.size(), 0),
              static_cast<ssize_t>(model_bytes.size()));
    return files;
}

// A broker with a folder of its own, on a thread of its own, and the environment of a process that
// asks it.
class Brokered : public testing::Test
{
protected:
    Brokered()
    {
        EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends_), 0);
        setenv("DNN_TORCH_CACHE", folder_.c_str(), 1);
        setenv(engine_torch::tuning_socket_variable, std::to_string(ends_[1]).c_str(), 1);
        serving_ = std::thread([this] {
            while (!ended_) {
                pollfd ready = {.fd = ends_[0], .events = POLLIN, .revents = 0};
                if (poll(&ready, 1, 10) == 1 && !broker_.answer(ends_[0]))
                    break;
            }
        });
    }
    ~Brokered() override
    {
        ended_ = true;
        serving_.join();
        close(ends_[0]);
        close(ends_[1]);
        unsetenv(engine_torch::tuning_socket_variable);
        unsetenv("DNN_TORCH_CACHE");
        std::filesystem::remove_all(folder_);
    }

    size_t files() const
    {
        std::error_code none;
        size_t count = 0;
        for (const auto &entry : std::filesystem::directory_iterator(folder_, none))
            count += entry.is_regular_file();
        return count;
    }

    const std::string folder_ = testing::TempDir() + "tuning-" + std::to_string(getpid());
    const std::string hash_ = content_hash(model_bytes);
    TuningBroker broker_{"a model", model_files()};
    int ends_[2] = {-1, -1};
    std::atomic<bool> ended_{false};
    std::thread serving_;
};

TuningRecord a_record(double seconds)
{
    return {"frozen", "fp32", seconds, 77, "a notice", ""};
}

// ---- the folder ---------------------------------------------------------------------

namespace fs = std::filesystem;

// A cache folder, and beside it one that others may write to.
class InFolder : public testing::Test
{
protected:
    InFolder()
    {
        fs::create_directories(others_);
        fs::permissions(others_, fs::perms::all);
        use(own_);
    }
    ~InFolder() override
    {
        unsetenv("DNN_TORCH_CACHE");
        fs::remove_all(all_);
    }

    static void use(const fs::path &folder) { setenv("DNN_TORCH_CACHE", folder.c_str(), 1); }
    static TuningCache cache() { return TuningCache({"a model", "its hash", "settings"}); }
    static bool is_known() { return cache().recall_from_folder().has_value(); }

    static size_t files(const fs::path &folder)
    {
        std::error_code none;
        return static_cast<size_t>(
            std::distance(fs::directory_iterator(folder, none), fs::directory_iterator()));
    }

    // The one record's file.
    static fs::path record(const fs::path &folder)
    {
        return fs::directory_iterator(folder)->path();
    }

    const fs::path all_ = testing::TempDir() + "caches-" + std::to_string(getpid()),
                   own_ = all_ / "new" / "own", others_ = all_ / "others";
};

TEST_F(InFolder, OfOurOwnIsMadeAndKept)
{
    cache().remember(a_record(1));
    EXPECT_TRUE(is_known());
    EXPECT_EQ(files(own_), 1U);
    EXPECT_EQ(fs::status(own_).permissions(), fs::perms::owner_all);
    fs::create_directory_symlink(own_, all_ / "link");
    use(all_ / "link");
    EXPECT_TRUE(is_known());
}

TEST_F(InFolder, OfOthersNothingIsBelievedOrWritten)
{
    cache().remember(a_record(1));
    fs::copy(record(own_), others_);
    use(others_);
    EXPECT_FALSE(is_known());
    fs::remove(record(others_));
    cache().remember(a_record(1));
    EXPECT_EQ(files(others_), 0U);
    if (geteuid() != 0)
        return;
    use(own_);
    ASSERT_EQ(chown(own_.c_str(), 12345, 12345), 0);
    EXPECT_FALSE(is_known());
    cache().remember(a_record(2));
    ASSERT_EQ(chown(own_.c_str(), 0, 0), 0);
    EXPECT_EQ(cache().recall_from_folder()->run_seconds, 1);
    ASSERT_EQ(chown(record(own_).c_str(), 12345, 12345), 0);
    EXPECT_FALSE(is_known());
}

TEST_F(InFolder, RecordsThatAreLinksOrOpenToOthersAreNotBelieved)
{
    cache().remember(a_record(1));
    const fs::path path = record(own_);
    fs::permissions(path, fs::perms::others_write, fs::perm_options::add);
    EXPECT_FALSE(is_known());
    fs::permissions(path, fs::perms::others_write, fs::perm_options::remove);
    EXPECT_TRUE(is_known());
    fs::rename(path, others_ / "elsewhere");
    fs::create_symlink(others_ / "elsewhere", path);
    EXPECT_FALSE(is_known());
    cache().remember(a_record(2)); // replaces the link, and not what it leads to
    EXPECT_EQ(cache().recall_from_folder()->run_seconds, 2);
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(path)));
    fs::remove(path);
    fs::create_directory(path);
    cache().remember(a_record(3));
    EXPECT_FALSE(is_known());
    EXPECT_EQ(files(own_), 1U) << "a temporary file was left";
}

// Exchanges the cache folder for a link to the others' one while records are kept.
TEST_F(InFolder, ThatIsReplacedMeanwhileLeadsNowhere)
{
    fs::create_directories(own_);
    const fs::path link = all_ / "link";
    fs::create_directory_symlink(own_, link);
    use(link);
    std::atomic<bool> ended{false};
    std::thread replacing([&] {
        for (bool is_own = false; !ended; is_own = !is_own) {
            fs::create_directory_symlink(is_own ? own_ : others_, all_ / "next");
            fs::rename(all_ / "next", link);
        }
    });
    for (int i = 0; i < 2000; i++) {
        cache().remember(a_record(i));
        is_known();
    }
    ended = true;
    replacing.join();
    EXPECT_EQ(files(others_), 0U);
    EXPECT_EQ(files(own_), 1U);
}

TEST_F(InFolder, ThatIsFullKeepsNothing)
{
    cache().remember(a_record(1));
    const auto before = std::signal(SIGXFSZ, SIG_IGN);
    rlimit limit = {}, little = {};
    getrlimit(RLIMIT_FSIZE, &limit);
    little = {.rlim_cur = 20, .rlim_max = limit.rlim_max};
    setrlimit(RLIMIT_FSIZE, &little);
    cache().remember(a_record(2));
    setrlimit(RLIMIT_FSIZE, &limit);
    std::signal(SIGXFSZ, before);
    EXPECT_EQ(cache().recall_from_folder()->run_seconds, 1);
    EXPECT_EQ(files(own_), 1U);
}

// Each record is one that somebody wrote: nobody sees half of one.
TEST_F(InFolder, OfSixteenProcessesHasWholeRecords)
{
    constexpr int processes = 16, rounds = 625;
    cache().remember(a_record(1));
    for (int i = 0; i < processes; i++)
        if (fork() == 0) {
            bool is_whole = true;
            for (int round = 0; round < rounds; round++) {
                TuningRecord record = a_record(i);
                record.notice = std::string(static_cast<size_t>(i) * 100, 'n');
                cache().remember(record);
                const auto known = cache().recall_from_folder();
                is_whole = is_whole && known &&
                           (known->notice == "a notice" ||
                            known->notice.size() == static_cast<size_t>(known->run_seconds * 100));
            }
            _exit(is_whole ? 0 : 1);
        }
    for (int i = 0; i < processes; i++) {
        int status = -1;
        wait(&status);
        EXPECT_EQ(status, 0);
    }
    EXPECT_EQ(files(own_), 1U);
}

// ---- the broker ---------------------------------------------------------------------

TEST(ContentHash, OfAFileIsThatOfItsBytes)
{
    EXPECT_EQ(content_hash_of_file(model_files()[0].get()), content_hash(model_bytes));
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    EXPECT_EQ(content_hash_of_file(pipe_ends[0]), "");
    EXPECT_EQ(content_hash_of_file(-1), "");
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}

TEST_F(Brokered, RecordsAreKeptForTheirModel)
{
    const TuningCache cache({"a model", hash_, "settings"});
    EXPECT_FALSE(cache.recall_from_folder());
    cache.remember(a_record(0.5));
    EXPECT_EQ(files(), 1U);
    const auto known = cache.recall_from_folder();
    ASSERT_TRUE(known);
    EXPECT_EQ(known->variant, "frozen");
    EXPECT_EQ(known->run_seconds, 0.5);
    EXPECT_EQ(known->notice, "a notice");
    // A process that is trusted finds the same.
    unsetenv(engine_torch::tuning_socket_variable);
    EXPECT_TRUE(TuningCache({"another name", hash_, "settings"}).recall_from_folder());
}

TEST_F(Brokered, RecordsOfOtherModelsAreNotForged)
{
    const std::string other = content_hash("another model");
    const TuningCache forged({"a model", other, "settings"});
    forged.remember(a_record(1));
    EXPECT_EQ(files(), 0U);
    unsetenv(engine_torch::tuning_socket_variable);
    const TuningCache true_cache({"a model", other, "settings"});
    true_cache.remember(a_record(2));
    EXPECT_EQ(files(), 1U);
    setenv(engine_torch::tuning_socket_variable, std::to_string(ends_[1]).c_str(), 1);
    EXPECT_FALSE(forged.recall_from_folder());
}

TEST_F(Brokered, TextsThatAreNoRecordsAreNotKept)
{
    const std::string line = hash_ + "; line", good = text_of(a_record(1), line);
    const auto ask = [&](const std::string &about, const std::string &text) {
        return ask_broker(ends_[1], TuningRequest::write, about, text);
    };
    for (const std::string &text :
         {std::string(), std::string("nonsense"), good + "more\n", text_of(a_record(-1), line),
          text_of(a_record(1), hash_ + "; other"), std::string(8191, 'x'), std::string(9000, 'x')})
        ask(line, text);
    ask(line + "\n", good);
    ask(hash_, good);
    ask("", good);
    ask(std::string(5000, 'x'), good);
    EXPECT_EQ(files(), 0U);
    ask(line, good);
    EXPECT_EQ(files(), 1U);
    EXPECT_EQ(ask_broker(ends_[1], TuningRequest::read, line, ""), good);
}

TEST_F(Brokered, WritesAreCounted)
{
    for (int i = 0; i < 1100; i++) {
        const std::string line = hash_ + "; " + std::to_string(i);
        ask_broker(ends_[1], TuningRequest::write, line, text_of(a_record(1), line));
    }
    EXPECT_EQ(files(), 1000U);
}

TEST_F(Brokered, WhoSendsSomethingElseIsNotAnswered)
{
    EXPECT_EQ(send(ends_[1], "nonsense", 8, 0), 8);
    serving_.join();
    serving_ = std::thread([] {});
    char reply = 0;
    EXPECT_EQ(recv(ends_[1], &reply, 1, MSG_DONTWAIT), -1);
}

} // namespace
