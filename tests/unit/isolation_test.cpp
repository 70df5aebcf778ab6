// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A model in a process of its own: what comes through, and what that process has and leaves.
// fake_engine_test holds more of what comes through against the engine alone.
// isolation_test ENGINE-ISOLATED [--hold]
#include "scripted_child.h"

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>

namespace
{

std::string own_path, engine_path;

// "0-3,8", of a process or a thread.
std::string processors_of(pid_t thread)
{
    return status_of(thread, "Cpus_allowed_list");
}

int threads_bound_to(pid_t process, const std::string &processors)
{
    int count = 0;
    std::error_code ignored;
    for (const auto &entry :
         std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task", ignored))
        count += processors_of(std::atoi(entry.path().filename().c_str())) == processors;
    return count;
}

// ---- what comes through -------------------------------------------------------------

TEST(Tensors, OfAnySize)
{
    Scripted scripted("scale 2");
    Session session(scripted.model);
    for (const int extent : {2, 64, 3, 200, 1, 65}) {
        const auto pictures = picture(1, extent, extent + 1);
        ASSERT_EQ(session.run(*pictures).status, DNN_TORCH_OK);
        ASSERT_EQ(session.output.width, 2 * (extent + 1));
        for (int y = 0; y < session.output.height; y++)
            ASSERT_EQ(sample(session.output, 0, 2, y, 1), sample(pictures->view, 0, 2, y / 2, 0));
    }
}

TEST(Tensors, InMemoryOfTheSession)
{
    Scripted scripted("");
    Session session(scripted.model);
    const auto pictures = picture(5, 30, 40);
    const size_t bytes = pictures->samples.size() * sizeof(float);
    for (int i = 0; i < 3; i++) {
        Images view = pictures->view;
        view.data = session.memory(bytes);
        ASSERT_NE(view.data, nullptr);
        std::memcpy(view.data, pictures->samples.data(), bytes);
        ASSERT_EQ(session.run(view).status, DNN_TORCH_OK);
        EXPECT_EQ(samples_of(session.output), pictures->samples);
    }
    EXPECT_EQ(session.memory(SIZE_MAX - 1), nullptr);
}

TEST(Tensors, PartlyOutsideTheMemoryOfTheSession)
{
    Scripted scripted("");
    Session session(scripted.model);
    const auto pictures = picture(5, 30, 40);
    const size_t bytes = pictures->samples.size() * sizeof(float);
    auto *memory = static_cast<char *>(session.memory(2 * bytes));
    std::memcpy(memory + 64, pictures->samples.data(), bytes);
    Images view = pictures->view;
    view.data = memory + 64;
    ASSERT_EQ(session.run(view).status, DNN_TORCH_OK);
    EXPECT_EQ(samples_of(session.output), pictures->samples);
    ASSERT_EQ(session.run(*pictures).status, DNN_TORCH_OK);
    EXPECT_EQ(samples_of(session.output), pictures->samples);
}

TEST(Tensors, InCodesAndInterleaved)
{
    Scripted scripted("takes_integers 1");
    Session session(scripted.model);
    const auto pictures = picture(7, 5, 9);
    pictures->interleave();
    Images wish = {};
    wish.element = DNN_TORCH_U8;
    wish.white = 255;
    ASSERT_EQ(session.run(pictures->view, wish).status, DNN_TORCH_OK);
    EXPECT_EQ(session.output.element, DNN_TORCH_U8);
    EXPECT_EQ(session.output.white, 255);
    EXPECT_EQ(session.output.channel_stride, 1);
    EXPECT_EQ(*static_cast<uint8_t *>(session.output.data), 7);
}

TEST(Sessions, RunSideBySide)
{
    Scripted scripted("latency_us 2000");
    scripted.model.plan();
    std::vector<std::thread> threads;
    for (int i = 0; i < 6; i++)
        threads.emplace_back([&scripted, i] {
            Session session(scripted.model);
            for (int n = 0; n < 20; n++) {
                const auto pictures = picture(i, 4 + i, 6 + n);
                ASSERT_EQ(session.run(*pictures).status, DNN_TORCH_OK);
                ASSERT_EQ(samples_of(session.output), pictures->samples);
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_NO_THROW(only_child());
}

// The cage keeps the child from binding its threads itself.
TEST(Sessions, RunWhereTheirThreadMay)
{
    const std::string here = processors_of(getpid());
    if (here.find_first_of(",-") == std::string::npos)
        GTEST_SKIP() << "there is one processor";
    const std::string last = here.substr(here.find_last_of(",-") + 1);
    Scripted scripted("");
    scripted.model.plan();
    const pid_t child = only_child();
    EXPECT_EQ(threads_bound_to(child, last), 0);
    std::thread([&] {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(std::atoi(last.c_str()), &one);
        ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
        Session session(scripted.model);
        ASSERT_EQ(session.run(*picture(1, 4, 4)).status, DNN_TORCH_OK);
        EXPECT_EQ(threads_bound_to(child, last), 1);
    }).join();
    EXPECT_EQ(processors_of(child), here);
    Session free_one(scripted.model);
    ASSERT_EQ(free_one.run(*picture(1, 4, 4)).status, DNN_TORCH_OK);
}

TEST(Texts, ComeThrough)
{
    Scripted scripted("notice mind the gap\nhint try more\nexclusive 1\ntuned_us 2000000\n"
                      "tuned_bytes 77\nin_order 1\ntakes_integers 1\ninterleaved 1");
    Model &model = scripted.model;
    ASSERT_EQ(model.tune(usual_shape).status, DNN_TORCH_OK);
    EXPECT_EQ(model.notice(), "mind the gap");
    EXPECT_EQ(model.metadata("format"), "script");
    EXPECT_EQ(model.metadata("exclusive"), "1");
    EXPECT_EQ(engine().model_metadata(model.get(), "nosuch"), nullptr);
    EXPECT_EQ(engine().model_metadata(model.get(), std::string(1000, 'x').c_str()), nullptr);
    EXPECT_NE(model.metadata("cage"), "");
    EXPECT_EQ(model.variant(), "scripted");
    EXPECT_EQ(model.hint(), "try more");
    EXPECT_EQ(model.tuning.run_seconds, 2.0);
    EXPECT_EQ(model.tuning.run_bytes, 77);
    EXPECT_EQ(model.tuning.in_order + model.tuning.takes_integers + model.tuning.interleaved, 3);
    EXPECT_STREQ(engine().name, "isolated");
    EXPECT_EQ(engine().list_devices(nullptr, 0), 0U);
}

TEST(Samples, ThatAreNoTensorAreRefused)
{
    Scripted scripted("");
    Pictures pictures(1, 3, 4, 4);
    DnnTorchTensor samples = tensor_of(pictures.view);
    samples.data = nullptr;
    expect_failure(scripted.model.tune(usual_shape, 0, &samples), DNN_TORCH_BAD_INPUT,
                   {"calibrate"});
    samples = tensor_of(pictures.view);
    samples.dims[2] = INT64_MAX;
    expect_failure(scripted.model.tune(usual_shape, 0, &samples), DNN_TORCH_BAD_INPUT,
                   {"calibrate"});
    samples.dims[2] = 0;
    expect_failure(scripted.model.tune(usual_shape, 0, &samples), DNN_TORCH_BAD_INPUT,
                   {"calibrate"});
}

TEST(Sources, AsFiles)
{
    const std::string path = testing::TempDir() + "isolated-" + std::to_string(getpid());
    std::ofstream(path) << "gain nonsense";
    expect_failure(Model(options_for(path)).opened, DNN_TORCH_BAD_MODEL, {path, "line 1"});
    unlink(path.c_str());
    expect_failure(Model(Options{}).opened, DNN_TORCH_BAD_OPTION, {"model"});
}

TEST(Options, ThatMakeNoSense)
{
    const std::string long_text(5000, 'x');
    const auto expect_refused = [](const char *key, const char *value, DnnTorchStatus status,
                                   const std::vector<std::string> &parts) {
        expect_failure(Scripted("", {{key, value}}).model.opened, status, parts);
    };
    expect_refused("nosuch", "1", DNN_TORCH_BAD_OPTION, {"'nosuch'", "precision"});
    expect_refused("device", "tpu", DNN_TORCH_NO_DEVICE, {"'tpu'"});
    expect_refused("timeout", "soon", DNN_TORCH_BAD_OPTION, {"timeout", "'soon'"});
    expect_refused("timeout", "-1", DNN_TORCH_BAD_OPTION, {"timeout"});
    expect_refused("timeout", "nan", DNN_TORCH_BAD_OPTION, {"timeout"});
    expect_refused("restarts", "1.5", DNN_TORCH_BAD_OPTION, {"restarts"});
    expect_refused("cage", "maybe", DNN_TORCH_BAD_OPTION, {"'maybe'", "require"});
    expect_refused("allow", long_text.c_str(), DNN_TORCH_BAD_OPTION, {"allow", "longer"});
    expect_refused(long_text.c_str(), "1", DNN_TORCH_BAD_OPTION, {"longer"});
    further_options().clear();
    expect_failure(Scripted("", {{"engine", "nosuch"}}).model.opened, DNN_TORCH_NO_FILE,
                   {"engine-nosuch.so", "install"});
    expect_failure(Scripted("", {{"engine", "a/b"}}).model.opened, DNN_TORCH_BAD_OPTION, {"'a/b'"});
    further_options() = {{"engine", "fake"}};
}

// ---- the process --------------------------------------------------------------------

TEST(Process, HasNothingOfOurs)
{
    const int leaking = open("/dev/null", O_RDONLY); // without O_CLOEXEC
    setenv("A_SECRET", "1", 1);
    setenv("OMP_NUM_THREADS", "3", 1);
    {
        Scripted scripted("");
        const pid_t child = only_child();
        EXPECT_EQ(name_of(child), "engine-host");
        EXPECT_EQ(getsid(child), child);
        EXPECT_EQ(open_files(child),
                  (std::vector<std::string>{"/dev/null", "pipe", "pipe", "socket", "socket"}));
        const std::string environment = contents_of(child, "environ");
        EXPECT_EQ(environment.find("A_SECRET"), std::string::npos);
        EXPECT_EQ(environment.find("LD_PRELOAD"), std::string::npos);
        EXPECT_NE(environment.find("OMP_NUM_THREADS=3"), std::string::npos);
        EXPECT_NE(contents_of(child, "status").find("SigBlk:\t0000000000000000"),
                  std::string::npos);
    }
    close(leaking);
    unsetenv("A_SECRET");
    unsetenv("OMP_NUM_THREADS");
}

// Returns the setting in the environment of a model's process, or "".
std::string setting_of_child(const std::string &name)
{
    Scripted scripted("");
    const std::string environment = contents_of(only_child(), "environ");
    const size_t at = environment.find(name + "=");
    return at == std::string::npos ? "" : environment.c_str() + at;
}

// Unless the user has said how threads are to wait.
TEST(Process, ThreadsOfARunSoonSleep)
{
    const auto waits = [] { return setting_of_child("GOMP_SPINCOUNT"); };
    EXPECT_EQ(waits(), "GOMP_SPINCOUNT=3000");
    setenv("GOMP_SPINCOUNT", "7", 1);
    EXPECT_EQ(waits(), "GOMP_SPINCOUNT=7");
    unsetenv("GOMP_SPINCOUNT");
    setenv("OMP_WAIT_POLICY", "active", 1);
    EXPECT_EQ(waits(), "");
    unsetenv("OMP_WAIT_POLICY");
}

// Unless the user has said how memory is to be made.
TEST(Process, HeapIsOfLargePages)
{
    unsetenv("GLIBC_TUNABLES");
    EXPECT_EQ(setting_of_child("GLIBC_TUNABLES"), "GLIBC_TUNABLES=glibc.malloc.hugetlb=1");
    setenv("GLIBC_TUNABLES", "glibc.malloc.perturb=0", 1);
    EXPECT_EQ(setting_of_child("GLIBC_TUNABLES"), "GLIBC_TUNABLES=glibc.malloc.perturb=0");
    unsetenv("GLIBC_TUNABLES");
}

TEST(Process, EndsWithItsModel)
{
    for (const char *script : {"", "die_open exit", "fail_open no such thing"}) {
        Scripted scripted(script);
    }
    EXPECT_TRUE(becomes_true([] { return children().empty(); }));
}

// Loading an engine takes long, and a model is often opened to be described first.
TEST(Process, ServesTheNextOpeningOfAFileThatHasNotRun)
{
    const std::string path = testing::TempDir() + "opened-twice-" + std::to_string(getpid());
    const std::string copy = path + "-copy";
    const auto write = [&](const std::string &name, const char *script) {
        std::ofstream(name) << script;
        return options_for(name);
    };
    const auto opened_by = [](const Options &options, const std::function<void(Model &)> &use) {
        Model model(options);
        use(model);
        return only_child();
    };
    const auto not_at_all = [](Model &) {};
    const auto described = [](Model &model) { model.metadata("notice"); };
    const Options options = write(path, "");
    const pid_t first = opened_by(options, described);
    EXPECT_EQ(opened_by(options, not_at_all), first);
    EXPECT_EQ(opened_by(options, [](Model &model) { model.probe(usual_shape); }), first);

    const pid_t second = opened_by(options, not_at_all); // the model has run in the first
    EXPECT_NE(second, first);
    Options other_name = write(copy, ""), permitted = options;
    permitted.allow = "anything";
    const pid_t third = opened_by(other_name, not_at_all);
    EXPECT_NE(third, second);
    EXPECT_NE(opened_by(permitted, not_at_all), third);
    const pid_t fourth = opened_by(options, not_at_all);
    const Options rewritten = write(path, "gain nonsense");
    expect_failure(Model(rewritten).opened, DNN_TORCH_BAD_MODEL, {"line 1"});
    const pid_t fifth = only_child();
    EXPECT_NE(fifth, fourth);
    expect_failure(Model(rewritten).opened, DNN_TORCH_BAD_MODEL, {"line 1"});
    EXPECT_EQ(only_child(), fifth);

    kill(fifth, SIGKILL); // while it waits
    expect_failure(Model(rewritten).opened, DNN_TORCH_BAD_MODEL, {"line 1"});
    EXPECT_NE(only_child(), fifth);
    EXPECT_TRUE(becomes_true([] { return children().empty(); }));
    unlink(path.c_str());
    unlink(copy.c_str());
}

TEST(Process, DiesAtOnceWithTheHost)
{
    pid_t number = -1;
    std::array<int, 2> ends = {};
    ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    char hold[] = "--hold";
    char *const words[] = {own_path.data(), engine_path.data(), hold, nullptr};
    ASSERT_EQ(posix_spawn(&number, own_path.c_str(), &actions, nullptr, words, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    pid_t grandchild = -1;
    ASSERT_EQ(read(ends[0], &grandchild, sizeof grandchild), ssize_t{sizeof grandchild});
    close(ends[0]);
    EXPECT_EQ(kill(grandchild, 0), 0);
    kill(number, SIGKILL);
    waitpid(number, nullptr, 0);
    EXPECT_TRUE(becomes_true([&] { return is_gone(grandchild); }));
}

TEST(Process, LeavesNothingBehind)
{
    becomes_true([] { return children().empty(); });
    const auto state = [] {
        return std::array{open_files(getpid()).size(), threads_of(getpid()),
                          shared_memories_of(getpid()), children().size()};
    };
    const auto before = state();
    for (int i = 0; i < 200; i++) {
        Scripted scripted("");
        if (i % 20)
            continue;
        Session session(scripted.model);
        ASSERT_EQ(run(session, 1).status, DNN_TORCH_OK);
    }
    EXPECT_TRUE(becomes_true([&] { return state() == before; }));
}

// ---- what it prints -----------------------------------------------------------------

// What `work` makes this process write to a descriptor.
std::string written_to(int descriptor, const std::function<void()> &work)
{
    const int file = memfd_create("written", MFD_CLOEXEC), before = dup(descriptor);
    dup2(file, descriptor);
    work();
    dup2(before, descriptor);
    close(before);
    std::string text(static_cast<size_t>(lseek(file, 0, SEEK_CUR)), '\0');
    EXPECT_EQ(pread(file, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    close(file);
    return text;
}

// Standard output may carry a video.
TEST(Printing, GoesToStandardErrorAndIsBounded)
{
    const std::string line(900, 'x');
    const auto print = [&] {
        Scripted scripted("print " + line + "\x1b[31m");
        Session session(scripted.model);
        for (int i = 0; i < 200; i++)
            ASSERT_EQ(run(session, 1).status, DNN_TORCH_OK);
        // Not all of it is out while the child lives.
        kill(only_child(), SIGTERM);
        becomes_true([] { return children().empty(); });
    };
    std::string errors;
    const std::string output =
        written_to(STDOUT_FILENO, [&] { errors = written_to(STDERR_FILENO, print); });
    EXPECT_EQ(output.find(line), std::string::npos);
    EXPECT_NE(errors.find(line + "\\x1b[31m\n"), std::string::npos);
    EXPECT_NE(errors.find("prints too much"), std::string::npos);
    EXPECT_LT(errors.size(), size_t{100} << 10);
}

// ---- fork() -------------------------------------------------------------------------

// Exits with the number of the first thing that went wrong.
[[noreturn]] void use_in_forked_copy(Session &session, Model &model)
{
    DnnTorchMessage message = {};
    const auto pictures = picture(1);
    const DnnTorchTensor in = tensor_of(pictures->view);
    DnnTorchTensor out = {.size = sizeof out};
    DnnTorchRun report = {.size = sizeof report};
    if (engine().session_run(session.get(), &in, 1, &out, 1, &report, &message) !=
            DNN_TORCH_RUN_FAILED ||
        !std::strstr(message.text, "forked"))
        _exit(1);
    if (engine().model_probe(model.get(), &in, 1, &out, 1, &message) != DNN_TORCH_RUN_FAILED)
        _exit(2);
    if (engine().session_memory(session.get(), 100) || engine().model_metadata(model.get(), "x"))
        _exit(3);
    engine().session_stop(session.get());
    DnnTorchSession *copy = session.get();
    engine().session_close(&copy);
    DnnTorchModel *model_copy = model.get();
    engine().model_close(&model_copy);
    _exit(copy || model_copy ? 4 : 0);
}

TEST(Fork, LeavesTheParentsChildAlone)
{
    Scripted scripted("");
    Session session(scripted.model);
    ASSERT_EQ(run(session, 1).status, DNN_TORCH_OK);
    const pid_t copy = fork();
    if (copy == 0)
        use_in_forked_copy(session, scripted.model);
    int status = -1;
    waitpid(copy, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(run(session, 2).status, DNN_TORCH_OK);
}

// Holds a model until it is killed, and tells its child's number.
int hold()
{
    Scripted scripted("hang_at 1");
    const pid_t child = only_child();
    static_cast<void>(!write(STDOUT_FILENO, &child, sizeof child));
    for (;;)
        pause();
}

} // namespace

int main(int argc, char **argv)
{
    testing::InitGoogleTest(&argc, argv);
    if (argc < 2) {
        std::fprintf(stderr, "usage: %s ENGINE-ISOLATED [--hold]\n", argv[0]);
        return 1;
    }
    own_path = argv[0];
    engine_path = argv[1];
    engine(engine_path);
    further_options() = {{"engine", "fake"}};
    return argc > 2 ? hold() : RUN_ALL_TESTS();
}
