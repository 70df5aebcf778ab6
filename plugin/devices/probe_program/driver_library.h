// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A driver's library, which may be missing.  It stays open, because the process ends
// without destructors.
#pragma once

#include <dlfcn.h>
#include <string>

namespace dnn_torch
{

// Returns whether dlerror() says that the library itself is missing.  If another library
// that it needs is missing, dlerror() begins with the name of that one.
inline bool is_absent(const std::string &name, const std::string &failure)
{
    return failure.rfind(name + ": cannot open shared object file", 0) == 0;
}

// Base of a table of the library's functions, which it looks up by name.
class DriverLibrary
{
public:
    // `release` is the first release that has all functions of the table: "CUDA 6.0".
    DriverLibrary(const char *name, const char *release)
        : library_(dlopen(name, RTLD_NOW | RTLD_LOCAL)), failure_(library_ ? "" : dlerror()),
          absent_(is_absent(name, failure_)),
          incomplete_(std::string(name) + " lacks functions of " + release)
    {
    }

    bool absent() const { return absent_; }

    // Returns why it cannot be used; empty if it can.
    const std::string &failure() const { return failure_; }

protected:
    template <class Function> void find(Function &function, const char *name)
    {
        function = library_ ? reinterpret_cast<Function>(dlsym(library_, name)) : nullptr;
        if (library_ && !function)
            failure_ = incomplete_;
    }

private:
    void *library_;
    std::string failure_;
    bool absent_;
    std::string incomplete_;
};

} // namespace dnn_torch
