// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A folder that stands for the root of another machine.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>

namespace dnn_torch
{

namespace fs = std::filesystem;

class PretendedMachine : public testing::Test
{
protected:
    PretendedMachine()
    {
        std::string name = testing::TempDir() + "machineXXXXXX";
        root = mkdtemp(name.data());
        fs::permissions(root, fs::perms(0755));
    }
    ~PretendedMachine() override { fs::remove_all(root); }

    void file(const std::string &path, const std::string &text) const
    {
        fs::create_directories(fs::path(root + path).parent_path());
        std::ofstream(root + path) << text;
    }

    // So many cores in each node of memory, each with so many hyperthreads.  As Linux counts
    // them on most machines: the first hyperthreads of all cores, then the second ones.
    void processors(size_t nodes, size_t cores, size_t hyperthreads) const
    {
        const size_t all = nodes * cores;
        for (size_t core = 0; core < all; core++)
            for (size_t thread = 0; thread < hyperthreads; thread++)
                siblings(core + thread * all, core, all, hyperthreads);
        file("/sys/devices/system/node/online", range(0, nodes) + "\n");
        for (size_t node = 0; node < nodes; node++) {
            std::string list;
            for (size_t thread = 0; thread < hyperthreads; thread++)
                list += (thread ? "," : "") + range(node * cores + thread * all, cores);
            file("/sys/devices/system/node/node" + std::to_string(node) + "/cpulist", list + "\n");
        }
    }

    std::string root;

private:
    static std::string range(size_t first, size_t count)
    {
        const std::string from = std::to_string(first);
        return count == 1 ? from : from + "-" + std::to_string(first + count - 1);
    }

    void siblings(size_t processor, size_t core, size_t cores, size_t hyperthreads) const
    {
        std::string list = std::to_string(core);
        for (size_t thread = 1; thread < hyperthreads; thread++)
            list += "," + std::to_string(core + thread * cores);
        file("/sys/devices/system/cpu/cpu" + std::to_string(processor) +
                 "/topology/thread_siblings_list",
             list + "\n");
    }
};

} // namespace dnn_torch
