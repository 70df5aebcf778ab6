// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Checks the code of a TorchScript archive before LibTorch reads it.  Needs no LibTorch.
#pragma once

#include "source_tokens.h"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace engine_torch
{

// What the code may do, according to its text.
struct SourceFacts {
    std::set<std::string> operators; // "aten::relu"; called or only named
    std::set<std::string> classes;   // C++ classes: "torch.classes.quantized.Conv2dPackedParams"
    bool runs_while_loading = false; // there is a __setstate__()
};

// Reads all sources of one archive.
class SourceCheck
{
public:
    // `module` is a name such as "__torch__.torch.nn.functional".  Throws a SourceFault unless the
    // code is laid out as PyTorch writes it and computes nothing outside of functions: default
    // arguments are literals.
    void add(const std::string &module, std::string_view source);

    // Returns the facts of all sources.  Throws a SourceFault if a name is not defined, or if a
    // chain of calls is too long.
    SourceFacts finish();

private:
    struct Unit { // a class, or a function outside of one
        size_t functions = 1;
        std::set<std::string> names; // names that begin with another unit's
        std::vector<Unit *> dependencies;
        size_t visited = 0, depth = 0; // depth is 0 while unknown
        bool on_path = false;
    };

    class Reader;

    Unit &find_unit(std::string name);
    void measure(Unit &first);

    std::map<std::string, Unit> units_;
    SourceFacts facts_;
};

} // namespace engine_torch
