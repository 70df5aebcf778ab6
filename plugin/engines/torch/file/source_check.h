// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The code of a TorchScript archive, looked through before LibTorch reads it.
// Needs no LibTorch.
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

// What code may do, as far as its text tells.
struct SourceFacts {
    std::set<std::string> operators; // "aten::relu"; called or only named
    std::set<std::string> classes;   // made in C++: "torch.classes.quantized.Conv2dPackedParams"
    bool runs_while_loading = false; // there is a __setstate__()
};

// Reads the sources of one archive, one after the other.
class SourceCheck
{
public:
    // `module` as in "__torch__.torch.nn.functional".  Throws a SourceFault unless
    // the code is laid out as PyTorch writes it, with nothing outside of functions
    // that could compute: default arguments are literals.
    void add(const std::string &module, std::string_view source);

    // What all of them say together.  Throws a SourceFault where a name leads
    // nowhere, or from one to the next for too long.
    SourceFacts finish();

private:
    struct Unit { // a class, or a function outside of one
        size_t functions = 1;
        std::set<std::string> names; // that begin with those of other units
        std::vector<Unit *> leads_to;
        size_t looked_at = 0, depth = 0; // depth: 0 while it is not known
        bool under_way = false;
    };

    class Reader;

    Unit &find_unit(std::string name);
    void measure(Unit &first);

    std::map<std::string, Unit> units_;
    SourceFacts facts_;
};

} // namespace engine_torch
