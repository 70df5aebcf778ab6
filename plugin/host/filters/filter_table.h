// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What our filters have in common as libavfilter sees them: tables of callbacks over a ModelFilter.
#pragma once

#include "host/libavfilter/parked_graphs.h"
#include "model_filter.h"
#include "options.h"

#include <lavfi_abi.h>

#include <cstddef>
#include <vector>

namespace dnn_torch
{

// The private data of each filter begin with it.
struct CommonData {
    const AVClass *av_class;
    FilterSettings settings;
    BackendSettings backend;
    ModelFilter *filter;    // made by open_filter(), deleted by close_filter()
    unsigned format_rounds; // how often libavfilter has asked for formats
};

CommonData &common_data(AVFilterContext *ctx);

// `options` live as long as the class.
AVClass make_class(const char *name, const OptionTable &options);

// What a filter is.  All that it points to lives for ever.
struct FilterFace {
    const char *name, *description;
    const AVClass *options;
    size_t private_size;
    const AVPixelFormat *formats; // all that an instance may take
    // Lists that instances take alone, once their model is known.
    std::vector<const AVPixelFormat *> narrower = {};
    int (*init)(AVFilterContext *) noexcept;
    void (*uninit)(AVFilterContext *) noexcept;
    int (*process_command)(AVFilterContext *, const char *command, const char *value, char *result,
                           int result_size, int flags) noexcept;
};

// The AVFilters of one name.  Formats are a property of the AVFilter, not of its instance.  So
// there is one for each list that instances may take.  Never changes; must live for ever.
class FilterTable
{
public:
    explicit FilterTable(const FilterFace &face);

    // Returns the one that programs see.
    const AVFilter *offered() const { return &lavfi_abi::public_part(offered_); }
    // Returns the one with the formats of that instance.  Its list tells libavfilter as well that
    // each frame keeps its format.
    const AVFilter *fitting(const ModelFilter &instance) const;

private:
    lavfi_abi::Filter offered_;
    lavfi_abi::Filter asking_; // libavfilter asks its instances for their formats
    std::vector<lavfi_abi::Filter> listing_;
};

// For init(): opens the instance's model, and makes the instance one of the AVFilter that fits.
// Returns an AVERROR if an option cannot be set; libavutil has logged why.  Throws Error.
int open_filter(AVFilterContext *ctx, TaskMaker task, const FilterTable &table);

// For uninit(), also if init() failed.
void close_filter(AVFilterContext *ctx) noexcept;

// Returns how graphs that are freed in mid-stream speak to an instance of any of our filters.
const ParkedFilter &parked_filter();

// Whether a command of that name changes an option of the filter.
bool is_changeable(const AVFilterContext *ctx, const char *option);

// For process_command(): what all our filters answer.  Throws Error.
int answer_command(AVFilterContext *ctx, const char *command, const char *value, char *result,
                   int result_size);

} // namespace dnn_torch
