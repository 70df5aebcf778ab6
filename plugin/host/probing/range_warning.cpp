// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "range_warning.h"

#include "base/compose.h"
#include "host/frames/lab.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <vector>

namespace dnn_torch
{
namespace
{

constexpr int samples_along = 32; // how many lines and columns are sampled

float sample_at(const Images &images, int channel, int x, int y)
{
    return *reinterpret_cast<const float *>(static_cast<const std::byte *>(images.data) +
                                            channel * images.channel_stride +
                                            y * images.row_stride + x * images.column_stride);
}

// Returns samples of the first picture, sorted, without NaN and infinity.
std::vector<float> some_of(const Images &images, int channels)
{
    std::vector<float> samples;
    const auto place = [](int i, int extent) { return (2 * i + 1) * extent / (2 * samples_along); };
    for (int c = 0; c < channels; c++)
        for (int y = 0; y < samples_along; y++)
            for (int x = 0; x < samples_along; x++)
                samples.push_back(
                    sample_at(images, c, place(x, images.width), place(y, images.height)));
    samples.erase(std::remove_if(samples.begin(), samples.end(),
                                 [](float sample) { return !std::isfinite(sample); }),
                  samples.end());
    std::sort(samples.begin(), samples.end());
    return samples;
}

// Leaves out 5 % of the samples at each end, because single samples may be anything.
struct Spread {
    float low = 0, high = 0;
    float width() const { return high - low; }
};

Spread spread_of(const std::vector<float> &sorted)
{
    const size_t end = sorted.size() / 20;
    return {.low = sorted[end], .high = sorted[sorted.size() - 1 - end]};
}

double share_below(const std::vector<float> &sorted, float limit)
{
    const auto end = std::lower_bound(sorted.begin(), sorted.end(), limit);
    return static_cast<double>(end - sorted.begin()) / static_cast<double>(sorted.size());
}

std::string in_digits(float number)
{
    char text[32];
    snprintf(text, sizeof(text), "%.3g", static_cast<double>(number));
    return text;
}

// Returns whether the numbers fit -1..1 and do not fit 0..1.
bool are_signed_fractions(const Spread &made)
{
    return made.low < -0.25F && made.low >= -1.25F && made.high <= 1.25F;
}

bool are_quantised(const Spread &made)
{
    return made.high > 16 && made.high < 280 && made.low > -0.1F * made.high;
}

// Returns the range that fits, of the output or of both sides.  A model that takes 0..1 and returns
// another range spreads the numbers; one that takes that other range too does not.
std::string fitting_range(const PictureNumbers &input, float in, const Spread &out)
{
    constexpr float least_share = 0.75F;
    const bool is_signed = are_signed_fractions(out);
    if (!is_signed && !are_quantised(out))
        return "";
    const char *const name = is_signed ? "-1..1" : "255";
    const bool is_spread = out.width() > least_share * (is_signed ? 2 : 255) * in;
    return is_spread && input.low == 0 && input.high == 1 ? concat("1|", name) : name;
}

// Warns of a and b so small that they may be fractions of 128.
RangeWarning warning_of_a_and_b(const Contract &contract, const std::vector<float> &made)
{
    const Spread after = spread_of(made);
    if (contract.output.high != largest_a_or_b || after.width() < 0.1F || after.low < -1.25F ||
        after.high > 1.25F)
        return {};
    return {.words = concat("the model makes a and b from ", in_digits(after.low), " to ",
                            in_digits(after.high),
                            ", which are hardly any colours: range=IN|-1..1 is for models that "
                            "make fractions of 128"),
            .option = ""};
}

} // namespace

RangeWarning warning_of_range(const Contract &contract, const Images &in, const Images &out)
{
    if (in.element != Element::f32 || out.element != Element::f32)
        return {};
    const std::vector<float> inputs = some_of(in, std::min(in.channels, 3));
    const std::vector<float> made = some_of(out, out.channels);
    if (inputs.empty() || made.empty())
        return {};
    if (contract.as == As::lab)
        return warning_of_a_and_b(contract, made);
    constexpr float least_spread = 0.1F;
    const float before = spread_of(inputs).width() / std::abs(map_of(contract.input).factor[0]);
    const Spread after = spread_of(made);
    const float low = std::min(contract.output.low, contract.output.high);
    const float width = std::abs(contract.output.high - contract.output.low);
    const double below = share_below(made, low - width / 50);
    const double above = 1 - share_below(made, low + width + width / 50);
    // Black is near 0 in any range that begins at 0, though not exactly 0 if it comes from YUV.
    const float whole = std::max(width, after.high - low);
    const double black = share_below(made, low + whole / 50) - below;
    const bool are_most_outside = below + above >= 0.3 && below + above >= 0.9 * (1 - black);
    // Of pictures from -1 to 1, only the darker half is outside.
    const bool is_half_below = below >= 0.25 && after.low < low - 0.4F * width;
    if (before < least_spread || (!are_most_outside && !is_half_below))
        return {};
    const std::string option = fitting_range(contract.input, before, after);
    return {.words = concat("the model makes numbers from ", in_digits(after.low), " to ",
                            in_digits(after.high), ", of which those outside ", in_digits(low),
                            "..", in_digits(low + width), " are cut off: ",
                            option.empty() ? "range=IN|OUT says what black and white are"
                                           : concat("range=", option, " seems to be right")),
            .option = option};
}

} // namespace dnn_torch
