// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "registry.h"

#include "base/standard_error.h"
#include "parked_graphs.h"
#include "parse_graph.h"
#include "real_registry.h"
#include "self_test.h"

#include <cstdio>
#include <cstring>
#include <initializer_list>

namespace dnn_torch
{
namespace
{

const AVFilter *const no_filters[] = {nullptr};
const AVFilter *const *filters = no_filters;

const AVFilter *find_in(const AVFilter *const *filter, const char *name)
{
    for (; name && *filter; filter++)
        if (!strcmp((*filter)->name, name))
            return *filter;
    return nullptr;
}

const AVFilter *get_by_name(const char *name) noexcept
{
    const AVFilter *built_in = real_registry().get_by_name(name);
    return built_in ? built_in : registered_filter(name);
}

// Returns whether it points into our list or to its end.
bool is_place_in_ours(const AVFilter *const *place)
{
    for (const AVFilter *const *filter = filters;; filter++) {
        if (place == filter)
            return true;
        if (!*filter)
            return false;
    }
}

// libavfilter's cursor is a small number; ours points into our own list.
const AVFilter *iterate(void **cursor) noexcept
{
    auto *ours = static_cast<const AVFilter *const *>(*cursor);
    bool in_ours = is_place_in_ours(ours);
    if (!in_ours) {
        if (const AVFilter *built_in = real_registry().iterate(cursor))
            return built_in;
        ours = filters;
    }
    const AVFilter *found = *ours;
    *cursor = const_cast<AVFilter **>(const_cast<AVFilter *const *>(found ? ours + 1 : ours));
    return found;
}

const AVClass *child_class(void **cursor) noexcept
{
    while (const AVFilter *filter = iterate(cursor))
        if (filter->priv_class)
            return filter->priv_class;
    return nullptr;
}

// A copy of libavfilter's class that iterates over our filters too.
const AVClass *get_class() noexcept
{
    static const AVClass with_ours = [] {
        AVClass made = *real_registry().get_class();
        made.child_class_iterate = child_class;
        return made;
    }();
    return &with_ours;
}

// MLT calls this.  The real function searches the built-in filters and aborts if the pads
// belong to none of them.
int pad_count(const AVFilterPad *pads) noexcept
{
    for (const AVFilter *const *filter = filters; pads && *filter; filter++)
        for (bool is_output : {false, true})
            if (pads == (is_output ? (*filter)->outputs : (*filter)->inputs))
                return static_cast<int>(avfilter_filter_pad_count(*filter, is_output));
    return real_registry().pad_count ? real_registry().pad_count(pads) : AVERROR(ENOSYS);
}

} // namespace

const AVFilter *const *usable_filters()
{
    static const bool usable = [] {
        const char *fault = gate_fault();
        if (fault && dnn_torch_has_standard_error())
            fprintf(stderr, "dnn_torch: the filters are not offered: %s\n", fault);
        return !fault;
    }();
    return usable ? filters : no_filters;
}

void register_filters(const AVFilter *const *list)
{
    filters = list;
}

const AVFilter *const *registered_filters()
{
    return filters;
}

const AVFilter *registered_filter(const char *name)
{
    return find_in(filters, name);
}

const AVFilter *find_filter(const char *name)
{
    const AVFilter *built_in = real_registry().get_by_name(name);
    return built_in ? built_in : find_in(usable_filters(), name);
}

const FilterRegistry *registry_wrappers()
{
    static const FilterRegistry wrappers = [] {
        FilterRegistry made{};
        made.get_by_name = get_by_name;
        made.iterate = iterate;
        made.get_class = get_class;
        made.pad_count = pad_count;
        add_parsers(made);
        add_parking(made);
        return made;
    }();
    return &wrappers;
}

} // namespace dnn_torch
