// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "caged.h"

#include "isolation/cage/cage.h"
#include "isolation/cage/layers.h"

#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace
{

namespace fs = std::filesystem;
using dnn_torch::CageRules;

constexpr unsigned patience_s = 30;

std::string close_layers(unsigned layers, const CageRules &rules)
{
    std::string reason;
    if (layers & limits)
        reason += close_limits(rules);
    if (layers & privileges)
        reason += dnn_torch::close_privileges();
    if (layers & landlock) {
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        reason += close_landlock(rules);
    }
    if (layers & seccomp)
        reason += close_system_calls(rules);
    return reason;
}

[[noreturn]] void act_and_end(unsigned layers, const std::function<int()> &act,
                              const CageRules &rules, int output)
{
    alarm(patience_s);
    std::string reason = close_layers(layers, rules);
    int answer = reason.empty() ? act() : -1;
    ssize_t written = write(output, &answer, sizeof(answer));
    _exit(written == sizeof(answer) ? 0 : 3);
}

int checked(int result, const char *what)
{
    if (result < 0)
        throw std::system_error(errno, std::generic_category(), what);
    return result;
}

// A process that does nothing.
pid_t start_victim()
{
    pid_t test = getpid(), child = checked(fork(), "fork");
    if (child)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != test)
        _exit(0);
    for (;;)
        pause();
}

int listen_at(uint16_t &port)
{
    int socket =
        checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket");
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    checked(bind(socket, reinterpret_cast<sockaddr *>(&address), size), "bind");
    checked(listen(socket, 8), "listen");
    checked(getsockname(socket, reinterpret_cast<sockaddr *>(&address), &size), "getsockname");
    port = address.sin_port;
    return socket;
}

// Returns -1 if there is none.
int open_terminal(int &keyboard)
{
    keyboard = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (keyboard < 0 || grantpt(keyboard) != 0 || unlockpt(keyboard) != 0)
        return -1;
    return open(ptsname(keyboard), O_RDWR | O_NOCTTY | O_CLOEXEC);
}

} // namespace

std::string describe(const End &end)
{
    if (end.signal)
        return "signal " + std::to_string(end.signal);
    if (end.silent)
        return "executed something";
    if (end.answer == -1)
        return "a layer did not close";
    return end.answer ? std::generic_category().message(end.answer) : "came about";
}

bool refused(const End &end)
{
    if (end.signal)
        return end.signal != SIGALRM;
    switch (end.silent ? 0 : end.answer) {
    case EPERM:
    case EACCES:
    case ENOSYS:
    case EFBIG:
    case EXDEV: // Landlock's word for what would move to another folder
        return true;
    default:
        return false;
    }
}

End run_caged(unsigned layers, const std::function<int()> &act, int64_t memory_bytes)
{
    int ends[2];
    checked(pipe2(ends, O_CLOEXEC), "pipe");
    pid_t child = checked(fork(), "fork");
    if (child == 0) {
        close(ends[0]);
        act_and_end(layers, act,
                    {.readable = {}, .open_gpu = nullptr, .memory_bytes = memory_bytes}, ends[1]);
    }
    close(ends[1]);
    End end;
    bool told = read(ends[0], &end.answer, sizeof(end.answer)) == sizeof(end.answer);
    close(ends[0]);
    int status = 0;
    checked(waitpid(child, &status, 0), "waitpid");
    if (WIFSIGNALED(status)) {
        end.signal = WTERMSIG(status);
        end.dumped_core = WCOREDUMP(status);
    }
    end.silent = !told && !end.signal;
    return end;
}

std::string not_granted(unsigned layers)
{
    static const std::vector<dnn_torch::CageLayer> probed = dnn_torch::probe_cage();
    for (size_t i = 0; i < probed.size(); i++)
        if (layers >> i & 1 && !probed[i].closed)
            return probed[i].name + ": " + probed[i].reason;
    return {};
}

SceneOfATest::SceneOfATest()
{
    std::string pattern = (fs::temp_directory_path() / "stranger-XXXXXX").string();
    if (!mkdtemp(pattern.data()))
        throw std::runtime_error("no temporary folder");
    folder_ = pattern;
    make_files();
    open_descriptors();
    scene_.shared = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    scene_.victim = start_victim();
    scene_.victim_pidfd = static_cast<int>(syscall(SYS_pidfd_open, scene_.victim, 0));
    scene_.in_victim = &scene_; // a fork has it at the same address
    // The home folder is no folder of libraries, whatever the environment says.
    setenv("HOME", scene_.home.c_str(), 1);
    setenv("LD_LIBRARY_PATH", (scene_.home + "::.:" + folder_).c_str(), 1);
}

void SceneOfATest::make_files()
{
    scene_.home = folder_ + "/home";
    scene_.secret = scene_.home + "/secret";
    scene_.spare = scene_.home + "/spare";
    fs::create_directories(scene_.spare);
    std::ofstream(scene_.secret) << "secret";
}

void SceneOfATest::open_descriptors()
{
    std::string other = folder_ + "/writable";
    scene_.readable = checked(open(scene_.secret.c_str(), O_RDONLY | O_CLOEXEC), "secret");
    scene_.writable = checked(open(other.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600), "writable");
    scene_.home_handle = checked(open(scene_.home.c_str(), O_DIRECTORY | O_CLOEXEC), "home");
    scene_.tcp = checked(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "tcp");
    scene_.unix_ = checked(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "unix");
    scene_.listener = listen_at(scene_.port);
    scene_.terminal = open_terminal(scene_.keyboard);
}

SceneOfATest::~SceneOfATest()
{
    kill(scene_.victim, SIGKILL);
    waitpid(scene_.victim, nullptr, 0);
    if (scene_.shared >= 0)
        shmctl(scene_.shared, IPC_RMID, nullptr);
    for (int file : {scene_.readable, scene_.writable, scene_.home_handle, scene_.tcp, scene_.unix_,
                     scene_.listener, scene_.terminal, scene_.keyboard, scene_.victim_pidfd})
        if (file >= 0)
            close(file);
    unsetenv("LD_LIBRARY_PATH");
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
}
