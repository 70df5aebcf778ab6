// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A program that is preloaded with this loads its libraries and the engine once, and then starts
// anew, in a fork, for each request on the socket DNN_TORCH_FORK_SERVER.  That spares tests most of
// the time that a run takes.  tests/forked.py is the other end.
//
// A request is one message: the run's folder, the number of its arguments, these, and its
// environment, with a NUL after each; with them come its standard input, output and error, and a
// connection.  Over that the status comes back, as of waitpid().  If it is closed, the run is
// killed.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <optional>
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

struct Request {
    std::string bytes;
    int streams_and_connection[4];
};

// Returns nullopt if the other side is gone.
std::optional<Request> receive(int socket)
{
    Request request = {std::string(size_t{1} << 18, '\0'), {}};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof request.streams_and_connection)];
    iovec part = {request.bytes.data(), request.bytes.size()};
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
    if (count == 0)
        return std::nullopt;
    const cmsghdr *head = CMSG_FIRSTHDR(&message);
    if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) || !head ||
        head->cmsg_len != CMSG_LEN(sizeof request.streams_and_connection))
        fail("a request that is no request");
    memcpy(request.streams_and_connection, CMSG_DATA(head), sizeof request.streams_and_connection);
    request.bytes.resize(static_cast<size_t>(count));
    return request;
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

[[noreturn]] void run(const Request &request)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 0; i < 3; i++) {
        if (dup2(request.streams_and_connection[i], i) < 0)
            fail("dup2");
    }
    for (const int each : request.streams_and_connection)
        close(each);
    const std::vector<std::string> words = words_in(request.bytes);
    const size_t count = std::stoul(words.at(1));
    const auto arguments = words.begin() + 2, variables = arguments + static_cast<long>(count);
    if (chdir(words[0].c_str()) != 0)
        fail(words[0].c_str());
    environ = pointers_to({variables, words.end()});
    is_run = true;
    exit(program(static_cast<int>(count), pointers_to({arguments, variables}), environ));
}

// Waits for the run's end, or kills it when nobody waits for it any more.
[[noreturn]] void supervise(const Request &request)
{
    signal(SIGCHLD, SIG_DFL);
    const pid_t child = fork();
    if (child < 0)
        fail("fork");
    if (child == 0)
        run(request);
    const auto &[input, output, errors, connection] = request.streams_and_connection;
    for (const int stream : {input, output, errors})
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

// What each run would do for itself: loads the engine and the host's module, which the preloaded
// object opens when it is asked for a filter of ours, and lets LibTorch make its table of
// operators, as it does when it reads its first model.
void load(const char *engine)
{
    void *const library = dlopen(engine, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library)
        fail(dlerror());
    if (void *const found = dlsym(RTLD_DEFAULT, "avfilter_get_by_name"))
        reinterpret_cast<const void *(*)(const char *)>(found)("dnn_torch");
    if (void *const found = dlsym(library, "_ZN5torch3jit28populate_upgraders_graph_mapEv"))
        reinterpret_cast<void (*)()>(found)();
}

int serve(int, char **, char **)
{
    const int socket = atoi(getenv("DNN_TORCH_FORK_SERVER"));
    if (const char *engine = getenv("DNN_TORCH_FORK_ENGINE"); *engine)
        load(engine);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGCHLD, SIG_IGN);
    while (const auto request = receive(socket)) {
        const pid_t supervisor = fork();
        if (supervisor < 0)
            fail("fork");
        if (supervisor == 0) {
            close(socket);
            supervise(*request);
        }
        for (const int each : request->streams_and_connection)
            close(each);
    }
    _exit(0);
}

} // namespace

// Taking back what LibTorch's libraries registered takes as long as the rest of a run, because it
// writes to all pages that the fork shares.  What the thread itself has is released: graphs that
// ffmpeg freed while frames were in our filters are among it.
extern "C" __attribute__((visibility("default"), noreturn)) void exit(int status)
{
    if (is_run) {
        const auto release = reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "__call_tls_dtors"));
        if (!release)
            fail("__call_tls_dtors");
        release();
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
