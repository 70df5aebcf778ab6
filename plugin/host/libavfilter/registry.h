// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The filters of this module, and libavfilter's registry functions extended by these filters.
#pragma once

#include "dnn_torch/filter_module.h"

extern "C" {
#include <libavfilter/avfilter.h>
}

namespace dnn_torch
{

// Sets the filters of this module: a list that ends with NULL and lives as long as the
// module.  Must be called before anything below.
void register_filters(const AVFilter *const *filters);

// Returns that list.
const AVFilter *const *registered_filters();

// Returns the same list after the gate's self-test.  If the test fails, prints one line
// and returns an empty list.
const AVFilter *const *usable_filters();

// Returns the filter of that name, or NULL.  `name` may be NULL.
const AVFilter *registered_filter(const char *name);

// Returns the filter for a parser: a built-in one, else a usable one of ours, else NULL.
const AVFilter *find_filter(const char *name);

// Returns the wrappers, which live as long as the module.
const FilterRegistry *registry_wrappers();

} // namespace dnn_torch
