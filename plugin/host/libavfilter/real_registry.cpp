// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "real_registry.h"

namespace dnn_torch
{
namespace
{

FilterRegistry real{};

} // namespace

const FilterRegistry &real_registry()
{
    return real;
}

void set_real_registry(const FilterRegistry &functions)
{
    real = functions;
}

} // namespace dnn_torch
