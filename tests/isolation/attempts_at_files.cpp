// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "attempts.h"

#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace
{

int try_open(const std::string &path, int flags)
{
    int file = open(path.c_str(), flags | O_CLOEXEC, 0600);
    int error = error_of(file);
    if (file >= 0)
        close(file);
    return error;
}

int try_list(const std::string &path)
{
    DIR *folder = opendir(path.c_str());
    int error = folder ? 0 : errno;
    if (folder)
        closedir(folder);
    return error;
}

std::string of_victim(const Scene &scene, const char *file)
{
    return "/proc/" + std::to_string(scene.victim) + "/" + file;
}

int try_openat2(const Scene &scene)
{
    const uint64_t how[] = {O_RDONLY, 0, 0}; // flags, mode, resolve
    return error_of(syscall(SYS_openat2, AT_FDCWD, scene.secret.c_str(), how, sizeof(how)));
}

// Opens anew, for writing, what was handed over for reading.
int reopen(const Scene &scene)
{
    return try_open("/proc/self/fd/" + std::to_string(scene.readable), O_RDWR);
}

int write_a_megabyte(const Scene &scene)
{
    static const char bytes[1 << 20] = {};
    return error_of(pwrite(scene.writable, bytes, sizeof(bytes), 0));
}

int open_by_handle(const Scene &scene)
{
    alignas(file_handle) char place[sizeof(file_handle) + MAX_HANDLE_SZ] = {};
    auto *handle = reinterpret_cast<file_handle *>(place);
    handle->handle_bytes = MAX_HANDLE_SZ;
    int mount = 0;
    if (name_to_handle_at(AT_FDCWD, scene.secret.c_str(), handle, &mount, 0) != 0)
        return errno;
    return error_of(open_by_handle_at(scene.home_handle, handle, O_RDONLY));
}

int watch(const Scene &scene)
{
    int queue = inotify_init1(IN_CLOEXEC);
    if (queue < 0)
        return errno;
    return error_of(inotify_add_watch(queue, scene.home.c_str(), IN_ALL_EVENTS));
}

} // namespace

int error_of(long result)
{
    return result < 0 ? errno : 0;
}

std::vector<Attempt> attempts_at_files()
{
    return {
        ATTEMPT("read_a_file_in_home", landlock, works, try_open(s.secret, O_RDONLY)),
        ATTEMPT("read_etc_passwd", landlock, works, try_open("/etc/passwd", O_RDONLY)),
        ATTEMPT("read_by_a_folders_descriptor", landlock, works,
                error_of(openat(s.home_handle, "secret", O_RDONLY))),
        ATTEMPT("read_by_dots_from_a_library_folder", landlock, works,
                try_open("/usr/lib/../../etc/passwd", O_RDONLY)),
        ATTEMPT("list_home", landlock, works, try_list(s.home)),
        ATTEMPT("list_root", landlock, works, try_list("/")),
        ATTEMPT("list_processes", landlock, works, try_list("/proc")),
        ATTEMPT("open_for_writing", landlock | seccomp, works, try_open(s.secret, O_WRONLY)),
        ATTEMPT("append", landlock | seccomp, works, try_open(s.secret, O_WRONLY | O_APPEND)),
        ATTEMPT("create_in_home", landlock | seccomp, works,
                try_open(s.spare + "/new", O_CREAT | O_WRONLY)),
        ATTEMPT("create_in_tmp", landlock | seccomp, works, try_open("/tmp", O_TMPFILE | O_RDWR)),
        ATTEMPT("create_in_dev_shm", landlock | seccomp, depends,
                try_open("/dev/shm/dnn-torch-stranger", O_CREAT | O_RDWR)),
        ATTEMPT("creat", landlock | seccomp, works,
                error_of(creat((s.spare + "/new").c_str(), 0600))),
        ATTEMPT("openat2", landlock | seccomp, depends, try_openat2(s)),
        ATTEMPT("empty_while_opening", landlock | seccomp, works,
                try_open(s.secret, O_RDONLY | O_TRUNC)),
        ATTEMPT("truncate", seccomp, works, error_of(truncate(s.secret.c_str(), 0))),
        ATTEMPT("truncate_what_was_handed_over", seccomp | limits, works,
                error_of(ftruncate(s.writable, 1 << 20))),
        ATTEMPT("reopen_for_writing", landlock | seccomp, works, reopen(s)),
        ATTEMPT("write_past_the_limit", limits, works, write_a_megabyte(s)),
        ATTEMPT("allocate_in_a_file", limits | seccomp, works,
                error_of(fallocate(s.writable, 0, 0, 1 << 20))),
        ATTEMPT("unlink", landlock | seccomp, works, error_of(unlink(s.secret.c_str()))),
        ATTEMPT("rename", landlock | seccomp, works,
                error_of(rename(s.secret.c_str(), (s.home + "/moved").c_str()))),
        ATTEMPT("link", landlock | seccomp, works,
                error_of(link(s.secret.c_str(), (s.spare + "/link").c_str()))),
        ATTEMPT("symlink", landlock | seccomp, works,
                error_of(symlink("/etc/passwd", (s.spare + "/link").c_str()))),
        ATTEMPT("mkdir", landlock | seccomp, works,
                error_of(mkdir((s.spare + "/folder").c_str(), 0700))),
        ATTEMPT("rmdir", landlock | seccomp, works, error_of(rmdir(s.spare.c_str()))),
        ATTEMPT("mkfifo", landlock | seccomp, works,
                error_of(mkfifo((s.spare + "/pipe").c_str(), 0600))),
        ATTEMPT("chmod", seccomp, works, error_of(chmod(s.secret.c_str(), 0777))),
        ATTEMPT("chmod_what_was_handed_over", seccomp, works, error_of(fchmod(s.readable, 0777))),
        ATTEMPT("chown", seccomp, works, error_of(chown(s.secret.c_str(), getuid(), getgid()))),
        ATTEMPT("set_times", seccomp, works,
                error_of(utimensat(AT_FDCWD, s.secret.c_str(), nullptr, 0))),
        ATTEMPT("set_an_attribute", seccomp, depends,
                error_of(setxattr(s.secret.c_str(), "user.stranger", "x", 1, 0))),
        ATTEMPT("lock_a_file", seccomp, works, error_of(flock(s.readable, LOCK_EX | LOCK_NB))),
        ATTEMPT("chdir", seccomp, works, error_of(chdir(s.home.c_str()))),
        ATTEMPT("chroot", seccomp | privileges, works_as_root, error_of(chroot(s.home.c_str()))),
        ATTEMPT("watch_home", seccomp, works, watch(s)),
        ATTEMPT("open_by_handle", seccomp | privileges, depends, open_by_handle(s)),
        ATTEMPT("read_anothers_memory", landlock, depends, try_open(of_victim(s, "mem"), O_RDONLY)),
        ATTEMPT("write_anothers_memory", landlock | seccomp, depends,
                try_open(of_victim(s, "mem"), O_RDWR)),
        ATTEMPT("read_anothers_environment", landlock, works,
                try_open(of_victim(s, "environ"), O_RDONLY)),
        ATTEMPT("read_anothers_command", landlock, works,
                try_open(of_victim(s, "cmdline"), O_RDONLY)),
        ATTEMPT("list_anothers_descriptors", landlock, works, try_list(of_victim(s, "fd"))),
        ATTEMPT("read_the_networks_state", landlock, works,
                try_open("/proc/self/net/tcp", O_RDONLY)),
        ATTEMPT("open_the_terminal", landlock | seccomp, depends, try_open("/dev/tty", O_RDWR)),
        ATTEMPT("open_a_device", landlock, works, try_open("/dev/zero", O_RDONLY)),
    };
}
