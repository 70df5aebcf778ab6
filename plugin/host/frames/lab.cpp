// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lab.h"

#include "component_samples.h"
#include "picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

namespace dnn_torch
{
namespace
{

// A table of a function between 0 and 1, with linear interpolation.  Elsewhere it calls the
// function.
class Table
{
public:
    explicit Table(float (*function)(float)) : function_(function), values_(new float[steps + 1])
    {
        for (int i = 0; i <= steps; i++)
            values_[i] = function(static_cast<float>(i) / steps);
    }

    float operator()(float x) const
    {
        if (!(x >= 0 && x < 1))
            return function_(x);
        const float place = x * steps;
        const auto i = static_cast<int>(place);
        return values_[i] + (values_[i + 1] - values_[i]) * (place - static_cast<float>(i));
    }

private:
    static constexpr int steps = 1 << 16;

    float (*function_)(float);
    std::unique_ptr<float[]> values_;
};

// The transfer function of sRGB (IEC 61966-2-1).
float linear(float sample)
{
    return sample <= 0.04045F ? sample / 12.92F : std::pow((sample + 0.055F) / 1.055F, 2.4F);
}

float sample_of_linear(float light)
{
    return light <= 0.0031308F ? light * 12.92F : 1.055F * std::pow(light, 1 / 2.4F) - 0.055F;
}

// The transfer function of CIE's lightness.
constexpr float bend = 6.0F / 29;

float root(float light)
{
    return light > bend * bend * bend ? std::cbrt(light) : light / (3 * bend * bend) + 4.0F / 29;
}

float light_of_root(float value)
{
    return value > bend ? value * value * value : 3 * bend * bend * (value - 4.0F / 29);
}

using Matrix = std::array<std::array<double, 3>, 3>;

// Converts R, G and B to X, Y and Z, as fractions of those of white: each row has the sum 1.
Matrix xyz_of_rgb()
{
    Matrix matrix = {{{0.412453, 0.357580, 0.180423},
                      {0.212671, 0.715160, 0.072169},
                      {0.019334, 0.119193, 0.950227}}};
    for (auto &row : matrix) {
        const double sum = row[0] + row[1] + row[2];
        for (double &share : row)
            share /= sum;
    }
    return matrix;
}

Matrix inverse_of(const Matrix &m)
{
    const auto minor = [&](size_t row, size_t column) {
        const size_t r = (row + 1) % 3, s = (row + 2) % 3, c = (column + 1) % 3,
                     d = (column + 2) % 3;
        return m[r][c] * m[s][d] - m[r][d] * m[s][c];
    };
    const double determinant =
        m[0][0] * minor(0, 0) + m[0][1] * minor(0, 1) + m[0][2] * minor(0, 2);
    Matrix inverse{};
    for (size_t row = 0; row < 3; row++)
        for (size_t column = 0; column < 3; column++)
            inverse[row][column] = minor(column, row) / determinant;
    return inverse;
}

using Three = std::array<float, 3>;

class Space
{
public:
    Three lab_of(const Three &rgb) const
    {
        const Three xyz = times(to_xyz_, {linear_(rgb[0]), linear_(rgb[1]), linear_(rgb[2])});
        const float x = root_(xyz[0]), y = root_(xyz[1]), z = root_(xyz[2]);
        return {1.16F * y - 0.16F, part_of(500 * (x - y)), part_of(200 * (y - z))};
    }

    Three rgb_of(const Three &lab) const
    {
        const float y = root_of(lab[0]);
        const float x = y + number_of(lab[1]) / 500, z = y - number_of(lab[2]) / 200;
        const Three light =
            times(from_xyz_, {light_of_root(x), light_of_root(y), light_of_root(z)});
        return {sample_(light[0]), sample_(light[1]), sample_(light[2])};
    }

    float grey_of(float lightness) const { return sample_(light_of_root(root_of(lightness))); }

private:
    static float part_of(float number) { return (number + largest_a_or_b) / (2 * largest_a_or_b); }
    static float number_of(float part) { return part * 2 * largest_a_or_b - largest_a_or_b; }
    static float root_of(float lightness) { return (lightness + 0.16F) / 1.16F; }

    static Three times(const Matrix &matrix, const Three &vector)
    {
        Three product{};
        for (size_t i = 0; i < 3; i++)
            product[i] = static_cast<float>(matrix[i][0] * vector[0] + matrix[i][1] * vector[1] +
                                            matrix[i][2] * vector[2]);
        return product;
    }

    const Matrix to_xyz_ = xyz_of_rgb(), from_xyz_ = inverse_of(to_xyz_);
    const Table linear_{linear}, sample_{sample_of_linear}, root_{root};
};

const Space &space()
{
    static const Space the_space;
    return the_space;
}

template <class Function>
void for_each_pixel(const FloatRow &row, size_t width, const Function &function)
{
    for (ptrdiff_t x = 0; x < static_cast<ptrdiff_t>(width); x++) {
        float *const first = row.channel[0] + x * row.step;
        float *const second = row.channel[1] + x * row.step;
        float *const third = row.channel[2] + x * row.step;
        const Three result = function(Three{*first, *second, *third});
        *first = result[0];
        *second = result[1];
        *third = result[2];
    }
}

} // namespace

void lab_of_rgb(const FloatRow &row, size_t width)
{
    const Space &lab = space();
    for_each_pixel(row, width, [&](const Three &rgb) { return lab.lab_of(rgb); });
}

void rgb_of_lab(const FloatRow &row, size_t width)
{
    const Space &lab = space();
    for_each_pixel(row, width, [&](const Three &three) { return lab.rgb_of(three); });
}

void read_lightness(const AVFrame *lab, const PictureNumbers &numbers, const Images &images,
                    int index)
{
    Images first = images;
    first.channels = 1;
    if (images.channels == 1)
        return read_picture(lab, numbers, first, index);
    read_picture(lab, {}, first, index);
    const NumberMap map = map_of(numbers);
    for (int y = 0; y < images.height; y++)
        for_each_pixel(image_row(images, index, y), static_cast<size_t>(images.width),
                       [&](const Three &lightness) {
                           const float grey = space().grey_of(lightness[0]);
                           Three rgb{};
                           for (size_t c = 0; c < 3; c++)
                               rgb[c] = grey * map.factor[c] + map.offset[c];
                           return rgb;
                       });
}

void make_grey_of_zeros(AVFrame *lab)
{
    constexpr float neutral = 0.5F;
    for (int component : {1, 2}) {
        const ComponentSamples samples(lab, component);
        for (int y = 0; y < lab->height; y++)
            std::replace(samples.at<float>(0, y), samples.at<float>(0, y) + lab->width, 0.0F,
                         neutral);
    }
}

} // namespace dnn_torch
