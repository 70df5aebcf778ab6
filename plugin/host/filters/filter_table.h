// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What our filters share towards libavfilter: tables of callbacks for a ModelFilter.
#pragma once

#include "host/libavfilter/parked_graphs.h"
#include "model_filter.h"
#include "options.h"

#include <lavfi_abi.h>

#include <cstddef>
#include <vector>

namespace dnn_torch
{

// The private data of each filter begins with it.
struct CommonData {
    const AVClass *av_class;
    FilterSettings settings;
    BackendSettings backend;
    ModelFilter *filter;    // created by open_filter(), deleted by close_filter()
    unsigned format_rounds; // how often libavfilter has asked for formats
};

CommonData &common_data(AVFilterContext *ctx);

// `options` must live as long as the class.
AVClass make_class(const char *name, const OptionTable &options);

// Describes a filter.  All that it points to must live for ever.
struct FilterFace {
    const char *name, *description;
    const AVClass *options;
    size_t private_size;
    const AVPixelFormat *formats; // all that an instance may take
    // The lists to which instances are narrowed once their model is known.
    std::vector<const AVPixelFormat *> narrower = {};
    int (*init)(AVFilterContext *) noexcept;
    void (*uninit)(AVFilterContext *) noexcept;
    int (*process_command)(AVFilterContext *, const char *command, const char *value, char *result,
                           int result_size, int flags) noexcept;
};

// The AVFilters of one name.  Formats are a property of the AVFilter, not of its instance, so
// there is one for each list of formats.  Never changes; must live for ever.
class FilterTable
{
public:
    explicit FilterTable(const FilterFace &face);

    // Returns the AVFilter that programs see.
    const AVFilter *offered() const { return &lavfi_abi::public_part(offered_); }
    // Returns the AVFilter with the formats of that instance.  A list also tells libavfilter that
    // each frame keeps its format.
    const AVFilter *fitting(const ModelFilter &instance) const;

private:
    lavfi_abi::Filter offered_;
    lavfi_abi::Filter asking_; // has query_formats() instead of a list
    std::vector<lavfi_abi::Filter> listing_;
};

// For init(): opens the instance's model, and assigns the instance the AVFilter with its formats.
// Returns an AVERROR if an option cannot be set; libavutil has logged why.  Throws Error.
int open_filter(AVFilterContext *ctx, TaskMaker task, const FilterTable &table);

// For uninit(), also if init() failed.
void close_filter(AVFilterContext *ctx) noexcept;

// Returns the functions by which graphs that are freed in mid-stream talk to our filters.
const ParkedFilter &parked_filter();

// Whether a command of that name changes an option of the filter.
bool is_changeable(const AVFilterContext *ctx, const char *option);

// For process_command(): handles the commands that all our filters have.  Throws Error.
int answer_command(AVFilterContext *ctx, const char *command, const char *value, char *result,
                   int result_size);

} // namespace dnn_torch
