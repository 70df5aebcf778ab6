// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "attempts.h"

#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <linux/netlink.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <sched.h>
#include <spawn.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

namespace
{

// Ends a process that should not be, and tells the one that made it.
int error_of_fork(long child)
{
    if (child == 0)
        _exit(0);
    return error_of(child);
}

int connect_tcp(const Scene &scene)
{
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = scene.port;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return error_of(connect(scene.tcp, reinterpret_cast<sockaddr *>(&address), sizeof(address)));
}

int bind_tcp(const Scene &scene)
{
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return error_of(bind(scene.tcp, reinterpret_cast<sockaddr *>(&address), sizeof(address)));
}

int bind_unix(const Scene &scene)
{
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::string path = scene.spare + "/socket";
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    return error_of(bind(scene.unix_, reinterpret_cast<sockaddr *>(&address), sizeof(address)));
}

// Its name is not in the file system.
int bind_abstract(const Scene &scene)
{
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    constexpr char name[] = "dnn-torch-stranger";
    std::memcpy(address.sun_path + 1, name, sizeof(name));
    auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + sizeof(name));
    return error_of(bind(scene.unix_, reinterpret_cast<sockaddr *>(&address), size));
}

int make_socketpair()
{
    int ends[2];
    return error_of(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
}

int use_vfork()
{
    pid_t child = vfork(); // NOLINT: it is what is tried
    return error_of_fork(child);
}

// struct clone_args: its eleven members are 64 bits wide, and the fifth is the exit signal.
int use_clone3()
{
    const uint64_t arguments[11] = {0, 0, 0, 0, SIGCHLD};
    return error_of_fork(syscall(SYS_clone3, arguments, sizeof(arguments)));
}

char true_name[] = "true";
char *true_words[] = {true_name, nullptr};
constexpr char true_path[] = "/bin/true";

int spawn()
{
    pid_t child = 0;
    int error = posix_spawn(&child, true_path, nullptr, nullptr, true_words, environ);
    int status = 0;
    if (error == 0 && waitpid(child, &status, 0) == child && status != 0)
        error = EPERM; // some C libraries tell only so that nothing was executed
    return error;
}

int use_system()
{
    errno = EPERM;
    return std::system("true") == 0 ? 0 : errno;
}

int exec_by_descriptor()
{
    int folder = open("/usr/lib", O_PATH | O_DIRECTORY);
    return error_of(syscall(SYS_execveat, folder, true_path, true_words, environ, 0));
}

int queue_a_signal(const Scene &scene)
{
    siginfo_t info = {};
    info.si_code = SI_QUEUE;
    info.si_signo = SIGCONT;
    return error_of(syscall(SYS_rt_sigqueueinfo, scene.victim, SIGCONT, &info));
}

// A descriptor that is ready makes the kernel send its owner a signal.
int own_a_descriptor(const Scene &scene)
{
    return error_of(fcntl(scene.unix_, F_SETOWN, scene.victim));
}

int read_victim(const Scene &scene)
{
    char here[8];
    iovec local = {.iov_base = here, .iov_len = sizeof(here)};
    iovec remote = {.iov_base = scene.in_victim, .iov_len = sizeof(here)};
    return error_of(process_vm_readv(scene.victim, &local, 1, &remote, 1, 0));
}

int write_victim(const Scene &scene)
{
    char here[8] = {};
    iovec local = {.iov_base = here, .iov_len = sizeof(here)};
    iovec remote = {.iov_base = scene.in_victim, .iov_len = sizeof(here)};
    return error_of(process_vm_writev(scene.victim, &local, 1, &remote, 1, 0));
}

// The cage answers as if it had worked, so look.
int bind_victim_to_a_core(const Scene &scene)
{
    cpu_set_t before, one, after;
    if (sched_getaffinity(scene.victim, sizeof(before), &before) != 0)
        return errno;
    CPU_ZERO(&one);
    int last = 0;
    for (int core = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET(core, &before))
            last = core;
    CPU_SET(last, &one);
    if (sched_setaffinity(scene.victim, sizeof(one), &one) != 0)
        return errno;
    if (sched_getaffinity(scene.victim, sizeof(after), &after) != 0)
        return errno;
    return CPU_EQUAL(&before, &after) ? EPERM : 0;
}

int limit_victim(const Scene &scene)
{
    rlimit limit = {};
    if (getrlimit(RLIMIT_CPU, &limit) != 0)
        return errno;
    return error_of(prlimit(scene.victim, RLIMIT_CPU, &limit, nullptr));
}

int schedule_victim(const Scene &scene)
{
    sched_param parameter = {};
    return error_of(sched_setscheduler(scene.victim, SCHED_BATCH, &parameter));
}

int open_queue()
{
    mqd_t queue = mq_open("/dnn-torch-stranger", O_CREAT | O_RDWR, 0600, nullptr);
    return error_of(queue);
}

int map_shared()
{
    void *memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? errno : 0;
}

int map_a_stack()
{
    void *memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0);
    return memory == MAP_FAILED ? errno : 0;
}

int attach_shared(const Scene &scene)
{
    return shmat(scene.shared, nullptr, 0) == reinterpret_cast<void *>(-1) ? errno : 0;
}

} // namespace

std::vector<Attempt> attempts_at_others()
{
    return {
        // network
        ATTEMPT("socket_inet", seccomp, works, error_of(socket(AF_INET, SOCK_STREAM, 0))),
        ATTEMPT("socket_inet_datagrams", seccomp, works, error_of(socket(AF_INET, SOCK_DGRAM, 0))),
        ATTEMPT("socket_unix", seccomp, works, error_of(socket(AF_UNIX, SOCK_STREAM, 0))),
        ATTEMPT("socket_netlink", seccomp, depends,
                error_of(socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE))),
        ATTEMPT("socket_raw", seccomp | privileges, depends,
                error_of(socket(AF_INET, SOCK_RAW, IPPROTO_ICMP))),
        ATTEMPT("socketpair", seccomp, works, make_socketpair()),
        ATTEMPT("connect", seccomp, works, connect_tcp(s)),
        ATTEMPT("bind", seccomp, works, bind_tcp(s)),
        ATTEMPT("bind_in_a_folder", seccomp | landlock, works, bind_unix(s)),
        ATTEMPT("bind_abstract", seccomp, works, bind_abstract(s)),
        ATTEMPT("listen", seccomp, works, error_of(listen(s.tcp, 1))),
        ATTEMPT("accept", seccomp, depends, error_of(accept(s.listener, nullptr, nullptr))),
        // processes
        ATTEMPT("fork", seccomp, works, error_of_fork(fork())),
        ATTEMPT("vfork", seccomp, works, use_vfork()),
        ATTEMPT("clone", seccomp, works, error_of_fork(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0))),
        ATTEMPT("clone3", seccomp, depends, use_clone3()),
        ATTEMPT("posix_spawn", seccomp, works, spawn()),
        ATTEMPT("system", seccomp, works, use_system()),
        ATTEMPT("execve", seccomp | landlock, works,
                error_of(execve(true_path, true_words, environ))),
        ATTEMPT("execveat", seccomp | landlock, works, exec_by_descriptor()),
        // signals
        ATTEMPT("kill", seccomp, works, error_of(kill(s.victim, SIGCONT))),
        ATTEMPT("kill_parent", seccomp, works, error_of(kill(getppid(), SIGCONT))),
        ATTEMPT("kill_group", seccomp, works, error_of(kill(0, SIGCONT))),
        ATTEMPT("kill_everybody", seccomp, depends, error_of(kill(-1, 0))),
        ATTEMPT("tgkill", seccomp, works,
                error_of(syscall(SYS_tgkill, s.victim, s.victim, SIGCONT))),
        ATTEMPT("tkill", seccomp, works, error_of(syscall(SYS_tkill, s.victim, SIGCONT))),
        ATTEMPT("sigqueue", seccomp, works, queue_a_signal(s)),
        ATTEMPT("pidfd_open", seccomp, depends, error_of(syscall(SYS_pidfd_open, s.victim, 0))),
        ATTEMPT("pidfd_send_signal", seccomp, depends,
                error_of(syscall(SYS_pidfd_send_signal, s.victim_pidfd, SIGCONT, nullptr, 0))),
        ATTEMPT("own_a_descriptor", seccomp, works, own_a_descriptor(s)),
        // others' memory
        ATTEMPT("ptrace_attach", seccomp, depends,
                error_of(ptrace(PTRACE_SEIZE, s.victim, nullptr, nullptr))),
        ATTEMPT("ptrace_me", seccomp, depends,
                error_of(ptrace(PTRACE_TRACEME, 0, nullptr, nullptr))),
        ATTEMPT("process_vm_readv", seccomp, depends, read_victim(s)),
        ATTEMPT("process_vm_writev", seccomp, depends, write_victim(s)),
        ATTEMPT("pidfd_getfd", seccomp, depends,
                error_of(syscall(438 /* pidfd_getfd */, s.victim_pidfd, 0, 0))),
        ATTEMPT("kcmp", seccomp, depends,
                error_of(syscall(SYS_kcmp, s.victim, s.victim, 1 /* memory */, 0, 0))),
        // memory that several share
        ATTEMPT("shm_open", seccomp | landlock, depends,
                error_of(shm_open("/dnn-torch-stranger", O_CREAT | O_RDWR, 0600))),
        ATTEMPT("shmget", seccomp, depends, error_of(shmget(IPC_PRIVATE, 4096, 0600))),
        ATTEMPT("shmat", seccomp, depends, attach_shared(s)),
        ATTEMPT("semget", seccomp, depends, error_of(semget(IPC_PRIVATE, 1, 0600))),
        ATTEMPT("mq_open", seccomp, depends, open_queue()),
        ATTEMPT("memfd_create", seccomp, works, error_of(memfd_create("stranger", 0))),
        ATTEMPT("map_shared_memory", seccomp, works, map_shared()),
        ATTEMPT("map_a_stack", seccomp, works, map_a_stack()),
        // how others run
        ATTEMPT("prlimit", seccomp, depends, limit_victim(s)),
        ATTEMPT("setpriority", seccomp, works,
                error_of(setpriority(PRIO_PROCESS, static_cast<id_t>(s.victim), 19))),
        ATTEMPT("sched_setaffinity", seccomp, depends, bind_victim_to_a_core(s)),
        ATTEMPT("sched_setscheduler", seccomp, works, schedule_victim(s)),
        ATTEMPT("ioprio_set", seccomp, works,
                error_of(syscall(SYS_ioprio_set, 1 /* process */, s.victim, 3 << 13))),
        ATTEMPT("setpgid", seccomp, works, error_of(setpgid(0, 0))),
        ATTEMPT("setsid", seccomp, works, error_of(setsid())),
    };
}
