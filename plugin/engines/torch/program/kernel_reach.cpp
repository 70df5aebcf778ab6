// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel_reach.h"

#include "node_arguments.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numeric>
#include <vector>

namespace engine_torch
{
namespace
{

using torch::jit::Node;
using torch::jit::Value;
using Numbers = std::vector<int64_t>;

// The limit of reach and growth, against overflow.
constexpr int64_t most = int64_t{1} << 40;

int64_t floor_of(int64_t number, int64_t by)
{
    return number >= 0 ? number / by : -((-number + by - 1) / by);
}

int64_t ceiling_of(int64_t number, int64_t by)
{
    return -floor_of(-number, by);
}

// A window that reads `size` samples, each `apart` from the next one.
struct Window {
    int64_t size = 1, stride = 1, padding = 0, apart = 1;

    int64_t span() const { return (size - 1) * apart; }
    bool is_sound() const
    {
        const auto is_within_limits = [](int64_t it) { return it >= 0 && it <= (1 << 16); };
        return size > 0 && stride > 0 && apart > 0 && is_within_limits(size) &&
               is_within_limits(stride) && is_within_limits(padding) && is_within_limits(apart);
    }
};

void scale(Footprint &it, int64_t out, int64_t in)
{
    it.out *= out;
    it.in *= in;
    const int64_t common = std::gcd(it.out, it.in);
    it.out /= common;
    it.in /= common;
    it.step = std::lcm(it.step, it.in);
}

Footprint after_window(Footprint it, const Window &window)
{
    it.first = ceiling_of(it.first + window.padding - window.span(), window.stride);
    it.end = floor_of(it.end - 1 + window.padding, window.stride) + 1;
    scale(it, 1, window.stride);
    return it;
}

// The reverse: each sample becomes a window.
Footprint after_transposed(Footprint it, const Window &window)
{
    it.first = it.first * window.stride - window.padding;
    it.end = (it.end - 1) * window.stride - window.padding + window.span() + 1;
    scale(it, window.stride, 1);
    return it;
}

Footprint enlarged(Footprint it, int64_t factor)
{
    it.first *= factor;
    it.end *= factor;
    scale(it, factor, 1);
    return it;
}

Footprint reduced(Footprint it, int64_t factor)
{
    it.first = floor_of(it.first, factor);
    it.end = ceiling_of(it.end, factor);
    scale(it, 1, factor);
    return it;
}

bool is_within_limits(const Footprint &it)
{
    return -most < it.first && it.end < most && it.out < most && it.in < most && it.step < most &&
           Footprint::block % it.step == 0;
}

bool is_one_of(const std::string &name, std::initializer_list<const char *> names)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

// Reads a node's arguments.
class Reading
{
public:
    Reading(const Node &node, const std::string &name, const PictureAxes &axes,
            const KnownValues &known)
        : node_(node), name_(name), axes_(axes), known_(known)
    {
    }

    std::optional<Footprints> after(const Footprints &given) const
    {
        if (is_one_of(name_, {"conv2d", "_convolution", "convolution", "conv_transpose2d"}))
            return after_convolution(given);
        if (is_one_of(name_, {"max_pool2d", "avg_pool2d"}))
            return after_pool(given);
        if (is_one_of(name_, {"pixel_shuffle", "pixel_unshuffle"}))
            return after_shuffle(given);
        if (is_one_of(name_, {"pad", "constant_pad_nd", "reflection_pad2d", "replication_pad2d"}))
            return after_padding(given);
        if (is_one_of(name_, {"slice", "narrow"}))
            return after_slice(given);
        if (name_.find("upsample_") != std::string::npos)
            return after_interpolation(given);
        return std::nullopt;
    }

private:
    std::optional<Numbers> listed(const char *name) const
    {
        return numbers(known_, argument(node_, name));
    }

    // Reads one number for both axes, or one for each.
    std::optional<int64_t> of_axis(const char *name, size_t axis, int64_t otherwise) const
    {
        if (!argument(node_, name))
            return otherwise;
        const auto all = listed(name);
        if (!all || all->size() > 2)
            return std::nullopt;
        return all->empty() ? otherwise : all->size() == 1 ? all->front() : (*all)[axis];
    }

    std::optional<Window> window(size_t axis, int64_t size, int64_t default_stride) const
    {
        const auto stride = of_axis("stride", axis, default_stride);
        const auto padding = of_axis("padding", axis, 0), apart = of_axis("dilation", axis, 1);
        if (!stride || !padding || !apart)
            return std::nullopt;
        const Window result = {
            .size = size, .stride = *stride, .padding = *padding, .apart = *apart};
        return result.is_sound() ? std::optional(result) : std::nullopt;
    }

    template <class Change>
    std::optional<Footprints> on_both(const Footprints &given, const Change &change) const
    {
        Footprints result = given;
        for (size_t axis = 0; axis < result.size(); axis++) {
            const std::optional<Footprint> one = change(result[axis], axis);
            if (!one || !is_within_limits(*one))
                return std::nullopt;
            result[axis] = *one;
        }
        return result;
    }

    std::optional<Footprints> after_convolution(const Footprints &given) const
    {
        const Value *weight = argument(node_, "weight");
        const auto known = weight ? known_.value_of(weight) : std::nullopt;
        if (!known || !known->isTensor() || known->toTensor().dim() != 4)
            return std::nullopt;
        const at::Tensor &kernel = known->toTensor();
        const Value *transposes = argument(node_, "transposed");
        const auto truth = transposes ? known_.truth_of(transposes) : std::optional(false);
        if (!truth)
            return std::nullopt;
        const bool is_transposed = name_ == "conv_transpose2d" || *truth;
        return on_both(given, [&](const Footprint &it, size_t axis) -> std::optional<Footprint> {
            const auto found = window(axis, kernel.size(static_cast<int64_t>(axis) + 2), 1);
            if (!found)
                return std::nullopt;
            return is_transposed ? after_transposed(it, *found) : after_window(it, *found);
        });
    }

    std::optional<Footprints> after_pool(const Footprints &given) const
    {
        return on_both(given, [&](const Footprint &it, size_t axis) -> std::optional<Footprint> {
            const auto size = of_axis("kernel_size", axis, 1);
            const auto found = size ? window(axis, *size, *size) : std::nullopt;
            return found ? std::optional(after_window(it, *found)) : std::nullopt;
        });
    }

    std::optional<Footprints> after_shuffle(const Footprints &given) const
    {
        const bool is_reverse = name_ == "pixel_unshuffle";
        const auto factor = listed(is_reverse ? "downscale_factor" : "upscale_factor");
        if (!factor || factor->size() != 1 || factor->front() < 1 || factor->front() > (1 << 16))
            return std::nullopt;
        return on_both(given, [&](const Footprint &it, size_t) -> std::optional<Footprint> {
            return is_reverse ? reduced(it, factor->front()) : enlarged(it, factor->front());
        });
    }

    // Numbers are listed for the last dimension first.  Samples that pad come from near the border.
    std::optional<Footprints> after_padding(const Footprints &given) const
    {
        const auto around =
            listed(name_ == "pad" || name_ == "constant_pad_nd" ? "pad" : "padding");
        const Value *mode = argument(node_, "mode");
        const auto kind = mode ? known_.value_of(mode) : std::nullopt;
        const bool wraps =
            mode && (!kind || !kind->isString() || kind->toStringRef() == "circular");
        if (!around || wraps || !axes_.is_known())
            return std::nullopt;
        Footprints result = given;
        for (size_t i = 0; i + 1 < around->size(); i += 2)
            if (const auto axis = axes_.spatial_place(-static_cast<int64_t>(i / 2) - 1))
                move(result[*axis], (*around)[i]);
        return if_within_limits(result);
    }

    // The end of the slice does not matter.
    std::optional<Footprints> after_slice(const Footprints &given) const
    {
        const Value *from = argument(node_, "start");
        const auto nothing = from ? known_.value_of(from) : std::nullopt;
        const auto start = nothing && nothing->isNone() ? Numbers{0} : listed("start");
        const auto step = argument(node_, "step") ? listed("step") : Numbers{1};
        const auto is_within = [](const std::optional<Numbers> &numbers, int64_t least) {
            return numbers && numbers->size() == 1 && numbers->front() >= least &&
                   numbers->front() <= 1 << 16;
        };
        const bool is_clear = is_within(start, 0) && is_within(step, 1);
        if (is_clear && start->front() == 0 && step->front() == 1)
            return given;
        const auto over = listed("dim");
        if (!over || over->size() != 1 || !axes_.is_known())
            return std::nullopt;
        const auto axis = axes_.spatial_place(over->front());
        if (!axis)
            return given;
        if (!is_clear)
            return std::nullopt;
        Footprints result = given;
        move(result[*axis], -start->front());
        result[*axis] = after_window(result[*axis], {.stride = step->front()});
        return if_within_limits(result);
    }

    // Handles integer factors.  With align_corners, all samples depend on the picture's size.
    std::optional<Footprints> after_interpolation(const Footprints &given) const
    {
        const Value *corners = argument(node_, "align_corners");
        const Value *asked = argument(node_, "output_size");
        const auto size = asked ? known_.value_of(asked) : std::optional(c10::IValue());
        const auto factors = fractions(known_, argument(node_, "scale_factors"));
        if ((corners && known_.truth_of(corners) != false) || !size || !size->isNone() ||
            !factors || factors->size() != 2 || name_.find("_aa") != std::string::npos)
            return std::nullopt;
        const int64_t extra = name_.find("bicubic") != std::string::npos    ? 2
                              : name_.find("bilinear") != std::string::npos ? 1
                                                                            : 0;
        return on_both(given, [&](Footprint it, size_t axis) -> std::optional<Footprint> {
            const double factor = (*factors)[axis], inverse = 1 / factor;
            it.first -= extra;
            it.end += extra;
            if (factor >= 1 && factor <= 64 && factor == std::floor(factor))
                return enlarged(it, static_cast<int64_t>(factor));
            if (factor < 1 && factor * 64 >= 1 && inverse == std::floor(inverse))
                return reduced(it, static_cast<int64_t>(inverse));
            return std::nullopt;
        });
    }

    static void move(Footprint &it, int64_t by)
    {
        it.first += by;
        it.end += by;
    }

    static std::optional<Footprints> if_within_limits(const Footprints &result)
    {
        return is_within_limits(result[0]) && is_within_limits(result[1]) ? std::optional(result)
                                                                          : std::nullopt;
    }

    const Node &node_;
    const std::string &name_;
    const PictureAxes &axes_;
    const KnownValues &known_;
};

} // namespace

std::optional<Footprints> hull(const Footprints &one, const Footprints &other)
{
    Footprints result = one;
    for (size_t axis = 0; axis < result.size(); axis++) {
        if (result[axis].out != other[axis].out || result[axis].in != other[axis].in)
            return std::nullopt;
        result[axis].first = std::min(result[axis].first, other[axis].first);
        result[axis].end = std::max(result[axis].end, other[axis].end);
        result[axis].step = std::lcm(result[axis].step, other[axis].step);
    }
    return result;
}

std::optional<Footprints> after_kernel(const Node &node, const std::string &name,
                                       const Footprints &of_input, const PictureAxes &axes,
                                       const KnownValues &known)
{
    return Reading(node, name, axes, known).after(of_input);
}

KernelReach reach_of(const Footprint &it)
{
    const int64_t before = -floor_of(it.first * it.in, it.out);
    const int64_t after = ceiling_of(it.end * it.in, it.out) - Footprint::block;
    return {.reach = std::max<int64_t>({0, before, after}), .step = it.step};
}

} // namespace engine_torch
