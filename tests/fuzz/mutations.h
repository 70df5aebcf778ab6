// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Model files with something changed at random.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

struct Mutant {
    std::string bytes;
    bool repaired; // the archive is sound, with right CRCs; what changed is in its records
};

// The same number makes the same mutant.  `file` is a TorchScript archive.
Mutant mutate(std::string_view file, std::uint64_t number);
