// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// How each convolution is computed, and how each tensor is arranged.
#pragma once

#include "convolution.h"
#include "direct.h"
#include "int8.h"
#include "rows.h"
#include "stages.h"
#include "winograd.h"

#include <memory>
#include <vector>

namespace engine_torch::fused
{

// Depends only on the kind of a layer, never on measured speed: a result's last bits would depend
// on that.
enum class LayoutChoice {
    fastest,    // whatever is the fastest on most machines
    direct,     // no transforms, for pictures that they harm
    interleaved // by oneDNN where it can, with the channels of a pixel side by side; for tests
};

// Whether Winograd's transforms are used where layers allow it.
bool transforms_pay(Precision precision);

// What computes a stage's convolution: one of these, or none for other stages.
struct StageKernel {
    std::shared_ptr<PackedConvolution> onednn = nullptr;
    std::shared_ptr<const WinogradConvolution> winograd = nullptr;
    std::shared_ptr<const DirectConvolution> direct = nullptr;
    std::shared_ptr<const Int8Scales> int8 = nullptr; // oneDNN computes it in int8

    bool convolves() const { return onednn || winograd || direct; }
    Arrangement in() const;
    Arrangement out() const { return onednn ? Arrangement::interleaved : Arrangement::blocked; }
    size_t fused_steps() const;
    // Whether results differ from the model's if samples are not finite.
    bool needs_finite() const;
    size_t scratch_bytes() const;
    size_t weight_bytes() const;
    // Bands of other heights waste some computation.
    int64_t rows_at_once() const { return winograd ? winograd_out : 1; }
    const char *name() const;

private:
    template <class Ask> size_t ask(const Ask &ask_it) const;
};

struct Layouts {
    StageList list;                   // with copies between arrangements inserted
    std::vector<RowLayout> layouts;   // by tensor
    std::vector<StageKernel> kernels; // by stage
};

// In programs in fp32, convolutions with a range are computed in int8 if oneDNN can.  Shares
// weights with `like`, which is null or was made of the same graph for another size, or with other
// ranges. Throws GraphError if the processor cannot compute in the precision.
Layouts choose_layouts(StageList list, Precision precision, LayoutChoice choice,
                       const LayerRanges &ranges, const Layouts *like);

} // namespace engine_torch::fused
