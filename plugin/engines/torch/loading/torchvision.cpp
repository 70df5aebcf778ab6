// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "torchvision.h"

#include "base/compose.h"
#include "engines/torch/program/vision_operators.h"

#include <algorithm>
#include <c10/core/Allocator.h>
#include <cstdlib>
#include <dlfcn.h>
#include <exception>
#include <fstream>
#include <glob.h>
#include <iterator>
#include <string_view>
#include <sys/stat.h>
#include <vector>

namespace engine_torch
{
namespace
{

using dnn_torch::concat;

constexpr std::string_view space = "torchvision::";

// ---- where the library is --------------------------------------------------------------

void add_matches(const std::string &pattern, std::vector<std::string> &paths)
{
    glob_t found = {};
    if (glob(pattern.c_str(), 0, nullptr, &found) == 0)
        paths.insert(paths.end(), found.gl_pathv, found.gl_pathv + found.gl_pathc);
    globfree(&found);
}

// An installed PyTorch has LibTorch in .../torch/lib, and torchvision next to .../torch.
void add_neighbour_of_libtorch(std::vector<std::string> &paths)
{
    Dl_info about = {};
    if (dladdr(reinterpret_cast<const void *>(&c10::GetAllocator), &about) == 0 || !about.dli_fname)
        return;
    const std::string library = about.dli_fname;
    add_matches(concat(library.substr(0, library.rfind('/') + 1), "../../torchvision/_C*.so"),
                paths);
}

// Looks in the variable, next to LibTorch and in the distribution's Python folders.
std::vector<std::string> candidates()
{
    std::vector<std::string> paths;
    if (const char *named = secure_getenv(torchvision_variable); named && *named)
        return {named};
    add_neighbour_of_libtorch(paths);
    for (const char *folder :
         {"/usr/lib/python3*", "/usr/local/lib/python3*", "/usr/lib64/python3*"})
        for (const char *packages : {"dist-packages", "site-packages"})
            add_matches(concat(folder, "/", packages, "/torchvision/_C*.so"), paths);
    return paths;
}

// ---- opening it ------------------------------------------------------------------------

// Rejects pipes and devices, which may never end.
bool is_library_file(const std::string &path)
{
    constexpr off_t most = off_t{1} << 30;
    struct stat about = {};
    return stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) && about.st_size <= most;
}

// Returns the names in the library's tables that begin with "libtorch" or "libc10".
std::vector<std::string> libtorch_of(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    std::vector<std::string> names;
    for (const std::string_view start :
         {std::string_view("\0libtorch", 9), std::string_view("\0libc10", 7)})
        for (size_t at = bytes.find(start); at != std::string::npos; at = bytes.find(start, at + 1))
            if (const char *name = bytes.c_str() + at + 1;
                std::string_view(name).find(".so") != std::string_view::npos)
                names.emplace_back(name);
    return names;
}

// A second LibTorch in the process would crash it.
bool is_for_this_libtorch(const std::string &path)
{
    if (!is_library_file(path))
        return false;
    const std::vector<std::string> names = libtorch_of(path);
    return !names.empty() && std::all_of(names.begin(), names.end(), [](const std::string &name) {
        void *const opened = dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
        if (opened)
            dlclose(opened);
        return opened != nullptr;
    });
}

// Returns "", or why the library cannot be used.
std::string open_library(const std::string &path)
try {
    if (!is_for_this_libtorch(path))
        return concat(path, " is for another LibTorch, or no library that can be read");
    if (dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE))
        return "";
    return dnn_torch::text_or_empty(dlerror());
} catch (const std::exception &error) {
    return concat(path, " cannot be used: ", error.what());
}

// Called once.  Returns "", or why there is no library.
std::string open_any_library()
{
    std::string reasons;
    for (const std::string &path : candidates()) {
        const std::string reason = open_library(path);
        if (reason.empty())
            return "";
        dnn_torch::add_to_list(reasons, reason, "; ");
    }
    return reasons;
}

const std::string &opened_once()
{
    static const std::string reason = [] {
        const bool is_of_the_program = is_provided("torchvision::nms");
        std::string why_not = is_of_the_program ? "" : open_any_library();
        register_vision_operators();
        return why_not;
    }();
    return reason;
}

} // namespace

std::string provide_torchvision(const SourceFacts &facts)
{
    std::string reason;
    for (const std::string &name : facts.operators) {
        if (std::string_view(name).substr(0, space.size()) != space)
            continue;
        reason = opened_once();
        if (!is_provided(name))
            return concat("needs the operators of torchvision (", name,
                          "); install torchvision (Debian: python3-torchvision) for this LibTorch, "
                          "or name its library _C in ",
                          torchvision_variable, reason.empty() ? "" : ": ", reason);
    }
    return "";
}

} // namespace engine_torch
