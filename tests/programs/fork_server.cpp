// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A program that is preloaded with this loads its libraries and the engine once, and then starts
// anew, in a fork, for each request on the socket DNN_TORCH_FORK_SERVER.  That spares tests most of
// the time that a run takes.  tests/forked.py is the other end.
//
// A request is a message with one descriptor, a connection for one run.  The connection brings the
// run's standard input, output and error, then its folder, the number of its arguments, these, and
// its environment, with a NUL after each.  The status comes back as of waitpid().  A connection that
// is closed kills the run.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <poll.h>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace
{

using Main = int (*)(int, char **, char **);
using StartMain = int (*)(Main, int, char **, void (*)(), void (*)(), void (*)(), void *);

Main program = nullptr;
bool is_run = false;

[[noreturn]] void fail(const char *what)
{
    fprintf(stderr, "fork_server: %s: %s\n", what, strerror(errno));
    _exit(127);
}

// Returns the number of descriptors that came with the bytes.
size_t receive(int socket, std::string &bytes, int *descriptors, size_t capacity)
{
    char buffer[65536];
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * 4)];
    iovec part = {buffer, sizeof buffer};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    ssize_t count = 0;
    do
        count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (count < 0 && errno == EINTR);
    if (count < 0)
        fail("recvmsg");
    bytes.assign(buffer, static_cast<size_t>(count));
    const cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (!head || head->cmsg_type != SCM_RIGHTS)
        return 0;
    const size_t given = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    if (given > capacity)
        fail("too many descriptors");
    memcpy(descriptors, CMSG_DATA(head), given * sizeof(int));
    return given;
}

std::vector<std::string> words_in(const std::string &bytes)
{
    std::vector<std::string> words;
    for (size_t begin = 0; begin < bytes.size();) {
        const size_t end = bytes.find('\0', begin);
        words.push_back(bytes.substr(begin, end - begin));
        begin = end == std::string::npos ? end : end + 1;
    }
    return words;
}

// argv[] and the like; the words live as long as the process.
char **pointers_to(const std::vector<std::string> &words)
{
    auto *const pointers = new char *[words.size() + 1]();
    for (size_t i = 0; i < words.size(); i++)
        pointers[i] = strdup(words[i].c_str());
    return pointers;
}

[[noreturn]] void run(const std::vector<std::string> &words, const int *streams)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 0; i < 3; i++) {
        if (dup2(streams[i], i) < 0)
            fail("dup2");
    }
    const size_t count = std::stoul(words.at(1));
    const auto arguments = words.begin() + 2, variables = arguments + static_cast<long>(count);
    if (chdir(words[0].c_str()) != 0)
        fail(words[0].c_str());
    environ = pointers_to({variables, words.end()});
    is_run = true;
    exit(program(static_cast<int>(count), pointers_to({arguments, variables}), environ));
}

// Waits for the run's end, or kills it when nobody waits for it any more.
[[noreturn]] void supervise(int connection)
{
    signal(SIGCHLD, SIG_DFL);
    std::string bytes, more;
    int streams[4];
    if (receive(connection, bytes, streams, 3) != 3)
        fail("a request without its streams");
    int none[4];
    do {
        receive(connection, more, none, 0);
        bytes += more;
    } while (!more.empty());
    const pid_t child = fork();
    if (child < 0)
        fail("fork");
    if (child == 0)
        run(words_in(bytes), streams);
    for (const int stream : {streams[0], streams[1], streams[2]})
        close(stream);
    const int ended = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
    if (ended < 0)
        fail("pidfd_open");
    pollfd wanted[] = {{ended, POLLIN, 0}, {connection, 0, 0}};
    while (poll(wanted, 2, -1) < 0 && errno == EINTR)
        ;
    if (!(wanted[0].revents & POLLIN))
        kill(child, SIGKILL);
    int status = 0;
    if (waitpid(child, &status, 0) != child)
        fail("waitpid");
    const std::string text = std::to_string(status);
    send(connection, text.data(), text.size(), MSG_NOSIGNAL);
    _exit(0);
}

int serve(int, char **, char **)
{
    const int socket = atoi(getenv("DNN_TORCH_FORK_SERVER"));
    const char *engine = getenv("DNN_TORCH_FORK_ENGINE");
    if (*engine && !dlopen(engine, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE))
        fail(dlerror());
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGCHLD, SIG_IGN);
    for (std::string bytes;;) {
        int connection = -1;
        if (receive(socket, bytes, &connection, 1) != 1)
            _exit(0);
        const pid_t supervisor = fork();
        if (supervisor < 0)
            fail("fork");
        if (supervisor == 0) {
            close(socket);
            supervise(connection);
        }
        close(connection);
    }
}

} // namespace

// Taking back what LibTorch's libraries registered takes as long as the rest of a run, because it
// writes to all pages that the fork shares.
extern "C" __attribute__((visibility("default"), noreturn)) void exit(int status)
{
    if (is_run) {
        fflush(nullptr);
        _exit(status);
    }
    const auto leave = reinterpret_cast<void (*)(int)>(dlsym(RTLD_NEXT, "exit"));
    leave(status);
    abort();
}

extern "C" __attribute__((visibility("default"))) int
__libc_start_main(Main main, int argc, char **argv, void (*init)(), void (*fini)(),
                  void (*loader_fini)(), void *stack_end)
{
    const auto start = reinterpret_cast<StartMain>(dlsym(RTLD_NEXT, "__libc_start_main"));
    program = main;
    return start(getenv("DNN_TORCH_FORK_SERVER") ? serve : main, argc, argv, init, fini,
                 loader_fini, stack_end);
}
