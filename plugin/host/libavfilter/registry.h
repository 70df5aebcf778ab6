// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The filters of this module, and libavfilter's registry functions extended by them.
#pragma once

#include "dnn_torch/filter_module.h"

extern "C" {
#include <libavfilter/avfilter.h>
}

namespace dnn_torch
{

// Says what the filters of this module are: a list that ends with NULL and lives as
// long as the module.  Called once, before anything below.
void register_filters(const AVFilter *const *filters);

// That list.
const AVFilter *const *registered_filters();

// The same after the gate's self-test; none, and one line that says so, where it fails.
const AVFilter *const *usable_filters();

// The one of that name, or NULL; `name` may be NULL.
const AVFilter *registered_filter(const char *name);

// What a parser takes for that name: a built-in filter, then one that is usable; or NULL.
const AVFilter *find_filter(const char *name);

// The wrappers; they live as long as the module.
const FilterRegistry *registry_wrappers();

} // namespace dnn_torch
