// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Looks at processes as /proc shows them.
#pragma once

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/types.h>
#include <thread>
#include <unistd.h>
#include <vector>

// "" if it has ended.  Iterators of a file would throw then.
inline std::string contents_of(pid_t process, const std::string &name)
{
    std::ifstream file("/proc/" + std::to_string(process) + "/" + name, std::ios::binary);
    std::ostringstream contents;
    contents << file.rdbuf();
    return contents.str();
}

// What stands behind "NAME:" in its status, or "".
inline std::string status_of(pid_t process, const std::string &name)
{
    const std::string status = contents_of(process, "status");
    const size_t at = status.find("\n" + name + ":\t");
    if (at == std::string::npos)
        return "";
    const size_t begin = at + name.size() + 3;
    return status.substr(begin, status.find('\n', begin) - begin);
}

inline std::string name_of(pid_t process)
{
    const std::string name = contents_of(process, "comm");
    return name.substr(0, name.find('\n'));
}

// Dead, even if nobody has reaped it.
inline bool is_gone(pid_t process)
{
    const std::string state = status_of(process, "State");
    return state.empty() || state.front() == 'Z' || state.front() == 'X';
}

// Our children that live.
inline std::vector<pid_t> children()
{
    std::vector<pid_t> found;
    std::error_code ignored;
    for (const auto &entry : std::filesystem::directory_iterator("/proc", ignored)) {
        const pid_t process = std::atoi(entry.path().filename().c_str());
        if (process > 0 && status_of(process, "PPid") == std::to_string(getpid()) &&
            !is_gone(process))
            found.push_back(process);
    }
    return found;
}

// Our only child, once those of earlier tests are gone.  Throws if it does not come to that: kill()
// takes 0 for all of us.
inline pid_t only_child()
{
    std::vector<pid_t> all;
    for (int i = 0; i < 500 && (all = children()).size() != 1; i++)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (all.size() != 1)
        throw std::runtime_error(std::to_string(all.size()) + " children instead of one");
    return all.front();
}

// What its descriptors are, in alphabetical order: paths, or words such as "pipe".  Those that are
// closed meanwhile are left out.
inline std::vector<std::string> open_files(pid_t process)
{
    std::vector<std::string> files;
    const std::string folder = "/proc/" + std::to_string(process) + "/fd";
    std::error_code ignored;
    std::filesystem::directory_iterator entry(folder, ignored);
    for (const std::filesystem::directory_iterator end; entry != end; entry.increment(ignored)) {
        const std::string file = std::filesystem::read_symlink(*entry, ignored).string();
        if (!file.empty())
            files.push_back(file.front() == '/' ? file : file.substr(0, file.find(':')));
    }
    std::sort(files.begin(), files.end());
    return files;
}

inline size_t threads_of(pid_t process)
{
    return static_cast<size_t>(std::atoi(status_of(process, "Threads").c_str()));
}

// How many pieces of memory without a name in a file system it has mapped.
inline size_t shared_memories_of(pid_t process)
{
    const std::string maps = contents_of(process, "maps");
    size_t count = 0;
    for (size_t at = 0; (at = maps.find("/memfd:", at)) != std::string::npos; at++)
        count++;
    return count;
}

// Returns false if it has not come true within some seconds.
inline bool becomes_true(const std::function<bool()> &condition)
{
    for (int i = 0; i < 500; i++) {
        if (condition())
            return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return condition();
}
