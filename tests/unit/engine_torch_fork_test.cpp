// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// fork() in the midst of running models, as Python's DataLoader does.
#include "engine_torch_models.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace
{

// What a child does; 0 if all of it can be done.
int use_models_of_its_own()
{
    for (const char *name : {"net_memory", "random_rand", "state_in_tensor"}) {
        const std::string path = path_of(name);
        Model model(options_for(path, "frozen"));
        if (model.tune({1, 3, 64, 64}).status != DNN_TORCH_OK)
            return 1;
        Session session(model);
        for (int i = 0; i < 2; i++)
            if (session.run(Pictures(1, 3, 64, 64).view).status != DNN_TORCH_OK)
                return 2;
    }
    return testing::Test::HasFailure() ? 3 : 0;
}

class RunningThreads
{
public:
    RunningThreads()
    {
        for (const char *name : {"net_memory", "random_rand"})
            threads_.emplace_back([this, name] {
                Running running(name, "frozen");
                const Pictures pictures(1, 3, 64, 64);
                for (bool began = false; !ended_; began = true) {
                    EXPECT_EQ(running.session.run(pictures.view).status, DNN_TORCH_OK);
                    began_ += began ? 0 : 1;
                }
            });
        // LibTorch's own locks are held while a model is loaded.
        while (began_ < threads_.size())
            std::this_thread::yield();
    }
    ~RunningThreads()
    {
        ended_ = true;
        for (std::thread &thread : threads_)
            thread.join();
    }
    RunningThreads(const RunningThreads &) = delete;
    RunningThreads &operator=(const RunningThreads &) = delete;

private:
    std::atomic<bool> ended_{false};
    std::atomic<size_t> began_{0};
    std::vector<std::thread> threads_;
};

TEST(Fork, ChildrenUseModelsOfTheirOwn)
{
    constexpr int children = 50;
    constexpr unsigned patience_seconds = 20;
    const RunningThreads threads;
    for (int i = 0; i < children; i++) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1 + i % 7));
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            alarm(patience_seconds);
            _exit(use_models_of_its_own());
        }
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFEXITED(status)) << "child " << i << ": signal " << WTERMSIG(status);
        ASSERT_EQ(WEXITSTATUS(status), 0) << "child " << i;
    }
}

} // namespace
