// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The sizes that a model takes, and the user's options about sizes.
#pragma once

#include "host/frames/frame_window.h"
#include "host/size.h"

#include <optional>
#include <string>

namespace dnn_torch
{

// The longest side that a contract or an option may ask for.
constexpr int largest_side = 1 << 16;

// How frames are brought to the one size that a model takes.
enum class Fit { automatic, tile, scale, letterbox };

struct SizeParameters {
    // ---- of the model; unset fields are found by trying
    std::optional<int> multiple; // width and height must be multiples of it
    std::optional<Size> minimum; // the smallest width and height
    std::optional<Size> only;    // the one size that it takes
    std::optional<Padding> padding;

    // ---- of the user
    std::optional<Size> tile; // 0x0: never; nullopt: only if a frame does not fit into memory
    std::optional<int> overlap;
    Fit fit = Fit::automatic;
    double scale = 0;           // 0: as the model scales
    std::optional<Size> target; // the size of the filter's output

    bool never_tiles() const { return tile && tile->width == 0; }
};

// As the user wrote them; "" is not given.
struct SizeOptions {
    std::string tile, overlap, fit, scale, size;
    bool operator==(const SizeOptions &) const = default;
};

// Set what the options say.  Throw Error that names the option.
void apply_size_options(const SizeOptions &options, SizeParameters &parameters);

} // namespace dnn_torch
