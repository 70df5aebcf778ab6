// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "readable.h"
#include "child_text.h"
#include "gpu_rules.h"

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <link.h>
#include <memory>
#include <pwd.h>
#include <sstream>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace dnn_torch
{
namespace
{

// CUDA takes seconds on a machine of eight devices.
constexpr unsigned most_seconds_to_open = 60;

// Not /dev/zero: mapping it gives memory that no limit counts.  Of /proc/self only single files:
// beneath it is the state of the whole machine's network.
constexpr const char *always_readable[] = {
    // libraries
    "/lib",
    "/lib32",
    "/lib64",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/local/lib64",
    "/etc/ld.so.cache",
    // what they look up about the machine
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/self/auxv",
    "/proc/self/cgroup",
    "/proc/self/maps",
    "/proc/self/stat",
    "/proc/self/statm",
    "/proc/self/status",
    "/proc/sys/vm/overcommit_memory",
    "/sys/devices/system",
    "/sys/fs/cgroup",
    "/sys/kernel/mm/transparent_hugepage",
    "/dev/null",
    "/dev/urandom",
    // language and time
    "/etc/localtime",
    "/usr/share/locale",
    "/usr/share/zoneinfo",
};

bool begins_with(std::string_view text, std::string_view beginning)
{
    return text.substr(0, beginning.size()) == beginning;
}

bool is_same_folder(const struct stat &one, const struct stat &other)
{
    return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

// Whether `folder` is that home folder or one above it, whatever names and links lead there.
bool is_above(const struct stat &folder, const char *home)
{
    std::unique_ptr<char, decltype(&std::free)> real(realpath(home, nullptr), std::free);
    std::string path = real ? real.get() : home;
    for (;;) {
        struct stat parent = {};
        if (stat(path.empty() ? "/" : path.c_str(), &parent) == 0 && is_same_folder(folder, parent))
            return true;
        if (path.empty())
            return false;
        size_t slash = path.rfind('/');
        path.erase(slash == path.npos ? 0 : slash);
    }
}

// A folder that is or contains the home folder is no library folder, whatever LD_LIBRARY_PATH
// says.
bool holds_home(const std::string &folder)
{
    struct stat about = {};
    if (stat(folder.empty() ? "/" : folder.c_str(), &about) != 0)
        return false;
    const char *variable = std::getenv("HOME");
    const struct passwd *user = getpwuid(geteuid());
    return (variable && is_above(about, variable)) || (user && is_above(about, user->pw_dir)) ||
           is_above(about, "/root");
}

void add_library_folder(std::vector<std::string> &paths, std::string_view folder)
{
    while (!folder.empty() && folder.back() == '/')
        folder.remove_suffix(1);
    std::string path(folder);
    bool absolute = begins_with(folder, "/");
    if (absolute && !holds_home(path) && std::find(paths.begin(), paths.end(), path) == paths.end())
        paths.push_back(std::move(path));
}

// A library may load further ones from its own folder when it is first used.
int add_folder_of(dl_phdr_info *object, size_t, void *paths)
{
    std::string_view name = object->dlpi_name ? object->dlpi_name : "";
    if (size_t slash = name.rfind('/'); slash != name.npos)
        add_library_folder(*static_cast<std::vector<std::string> *>(paths), name.substr(0, slash));
    return 0;
}

void add_library_path(std::vector<std::string> &paths)
{
    const char *variable = std::getenv("LD_LIBRARY_PATH");
    std::string_view folders = variable ? variable : "";
    while (!folders.empty()) {
        size_t end = std::min(folders.find_first_of(":;"), folders.size());
        add_library_folder(paths, folders.substr(0, end));
        folders.remove_prefix(std::min(end + 1, folders.size()));
    }
}

// Returns the folders of the libraries that opening the GPU loads, a line each.
std::string folders_with_gpu(const std::function<void()> &open_gpu)
{
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(nowhere, STDOUT_FILENO); // what a driver prints, it prints once more
    dup2(nowhere, STDERR_FILENO);
    open_gpu();
    std::vector<std::string> folders;
    dl_iterate_phdr(add_folder_of, &folders);
    std::string lines;
    for (const std::string &folder : folders)
        lines += folder + "\n";
    return lines;
}

void add_gpu_paths(std::vector<std::string> &paths, const std::function<void()> &open_gpu)
{
    const ChildText found =
        text_of_child([&open_gpu] { return folders_with_gpu(open_gpu); }, most_seconds_to_open);
    std::istringstream lines(found.text);
    for (std::string folder; std::getline(lines, folder);)
        add_library_folder(paths, folder);
    for (const std::string &path : gpu_readable_paths())
        paths.push_back(path);
}

} // namespace

std::vector<std::string> readable_paths(const CageRules &rules)
{
    std::vector<std::string> paths(std::begin(always_readable), std::end(always_readable));
    dl_iterate_phdr(add_folder_of, &paths);
    add_library_path(paths);
    paths.insert(paths.end(), rules.readable.begin(), rules.readable.end());
    if (rules.uses_gpu())
        add_gpu_paths(paths, rules.open_gpu);
    return paths;
}

} // namespace dnn_torch
