// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Runs the probe on the loaded libavfilter, and on libraries that differ from it,
// each of which the probe must refuse.
#include <lavfi_abi/probe.h>

#include <cstdio>

namespace
{
using lavfi_abi::Library;

const Library stock{av_filter_iterate, avfilter_filter_pad_count, avfilter_pad_get_name,
                    avfilter_pad_get_type, avfilter_version()};

int test_number = 0;
bool all_passed = true;

template <class Layout = lavfi_abi::Filter>
void expect(bool refused, const Library &library, const char *what)
{
    const char *found = lavfi_abi::disagreement<Layout>(library);
    bool passed = refused == (found != nullptr);
    all_passed = all_passed && passed;
    printf("%sok %d - %s%s%s\n", passed ? "" : "not ", ++test_number, what,
           found ? ", refused for " : "", found ? found : "");
}

/// A filter whose private fields begin at `first`, with `extra` additional pointers
/// between the numbers and the callbacks. For example, 5.1 has init_dict among them,
/// and 8.0 moved the numbers.
template <size_t first, int extra> struct Moved {
    char before[first];
    uint8_t nb_inputs, nb_outputs, formats_state;
    void *more[extra + 1];
    int (*init)(AVFilterContext *ctx);
    void (*uninit)(AVFilterContext *ctx);
    union {
        const AVPixelFormat *pixels_list;
    } formats;
    int priv_size;
    int (*preinit)(AVFilterContext *ctx);
    int (*process_command)(AVFilterContext *ctx, const char *, const char *, char *, int, int);
    int (*activate)(AVFilterContext *ctx);
};
constexpr size_t numbers = LAVFI_ABI_FILTER_NB_INPUTS;

const AVFilter *iterate_nothing(void **)
{
    return nullptr;
}

unsigned one_pad_more(const AVFilter *filter, int is_output)
{
    return avfilter_filter_pad_count(filter, is_output) + 1;
}

const char *other_name(const AVFilterPad *, int)
{
    return "other";
}

AVMediaType audio(const AVFilterPad *, int)
{
    return AVMEDIA_TYPE_AUDIO;
}
} // namespace

int main()
{
    printf("1..9\n");
    expect(false, stock, "the loaded libavfilter");
    expect(true, {iterate_nothing, stock.pad_count, stock.pad_name, stock.pad_type, stock.version},
           "no filters");
    expect(true, {stock.iterate, one_pad_more, stock.pad_name, stock.pad_type, stock.version},
           "other pad counts");
    expect(true, {stock.iterate, stock.pad_count, other_name, stock.pad_type, stock.version},
           "other pad names");
    expect(true, {stock.iterate, stock.pad_count, stock.pad_name, audio, stock.version},
           "other media types");
    expect<Moved<numbers - 4, 0>>(true, stock, "numbers 4 bytes before");
    expect<Moved<numbers + 4, 0>>(true, stock, "numbers 4 bytes behind");
    expect<Moved<numbers, 0>>(true, stock, "other callbacks");
    expect<Moved<numbers, 1>>(true, stock, "one callback more");
    return all_passed ? 0 : 1;
}
