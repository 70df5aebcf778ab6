// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Doubles and halves rows of chroma, with the CPU's vectors.  Doubling and then halving returns
// the same bits: each step of one is undone by a step of the other (lifting).
//
// Results are the same on every CPU.  Rows are read and written in whole vectors: each has room up
// to a multiple of `row_room` bytes.  Outputs must not alias inputs, and no output sample exceeds
// `white`.  All functions may be called from several threads at once.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dnn_torch
{

constexpr size_t row_room = 64;

// Neighbouring rows, or neighbouring samples of a row, split into even and odd ones.
template <class T> struct Surroundings {
    const T *even_before, *odd_before, *even, *odd, *even_after;
};

// part_row(): the two samples a quarter before and after each of `here`, interpolated with its
// neighbours.  Their mean is `here`.
// mean_row(): the rounded mean of two samples.
// sited_row(): the low-pass of the 5/3 wavelet: to `even`, adds a quarter of how far both odd
// samples differ from the means of their neighbours.
// join_row(), split_row(): interleave and separate `count` pairs.
void part_row(const uint8_t *before, const uint8_t *here, const uint8_t *after, size_t count,
              int white, uint8_t *first, uint8_t *second);
void mean_row(const uint8_t *one, const uint8_t *other, size_t count, uint8_t *to);
void sited_row(const Surroundings<uint8_t> &from, size_t count, int white, uint8_t *to);
void join_row(const uint8_t *first, const uint8_t *second, size_t count, uint8_t *to);
void split_row(const uint8_t *from, size_t count, uint8_t *first, uint8_t *second);

void part_row(const uint16_t *before, const uint16_t *here, const uint16_t *after, size_t count,
              int white, uint16_t *first, uint16_t *second);
void mean_row(const uint16_t *one, const uint16_t *other, size_t count, uint16_t *to);
void sited_row(const Surroundings<uint16_t> &from, size_t count, int white, uint16_t *to);
void join_row(const uint16_t *first, const uint16_t *second, size_t count, uint16_t *to);
void split_row(const uint16_t *from, size_t count, uint16_t *first, uint16_t *second);

} // namespace dnn_torch
