// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "messages.h"

#include "base/compose.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <initializer_list>

namespace engine_torch
{
namespace
{

bool has_any(std::string_view text, std::initializer_list<const char *> signs)
{
    return std::any_of(signs.begin(), signs.end(),
                       [&](const char *sign) { return text.find(sign) != text.npos; });
}

// oneDNN breaks a promise if it has no memory for a primitive that another thread waits for.
bool is_about_memory(std::string_view text)
{
    return has_any(text, {"can't allocate memory", "not enough memory", "std::bad_alloc",
                          "out of memory", "STATUS_ALLOC_FAILED", "OUT_OF_DEVICE_MEMORY",
                          "Broken promise"});
}

// Phrases of unpacked shapes, 3D convolutions, and checks.
bool is_about_rank(std::string_view text)
{
    if (has_any(text, {"Expected 5 elements in a list but found 4", "5D", "5-D",
                       "not enough values to unpack (expected 5"}))
        return true;
    const size_t begin = text.find("weight of size [");
    if (begin == text.npos)
        return false;
    const std::string_view sizes = text.substr(begin, text.find(']', begin) - begin);
    return std::count(sizes.begin(), sizes.end(), ',') == 4;
}

// Phrases of operators and of models.
bool is_about_channels(std::string_view text)
{
    return has_any(text, {"channel", "Channel", "dimension 1", "luma", "grey", "gray",
                          "running_mean should contain", "to have 1 "});
}

bool is_about_device_memory(std::string_view text)
{
    return has_any(text, {"CUDA", "HIP", "XPU", "CUBLAS", "CUDNN", "DEVICE_MEMORY"});
}

} // namespace

Fault fault_in(std::string_view text)
{
    if (is_about_memory(text))
        return is_about_device_memory(text) ? Fault::device_memory : Fault::memory;
    if (has_any(text, {"maximum supported version"}))
        return Fault::newer_file;
    if (has_any(text, {"Unknown builtin op"}))
        return Fault::no_operator;
    return is_about_rank(text)       ? Fault::rank
           : is_about_channels(text) ? Fault::channels
                                     : Fault::other;
}

bool refuses_channels_of(std::string_view text, const std::array<int64_t, 4> &shape)
{
    return text.find(dnn_torch::concat("expected input[", shape[0], ", ", shape[1], ", ", shape[2],
                                       ", ", shape[3], "] to have ")) != text.npos;
}

// The CPU's message says "tried to allocate 123 bytes", a GPU's "Tried to allocate 1.50 GiB".
std::string asked_for(std::string_view text)
{
    constexpr std::string_view before = "ried to allocate ";
    constexpr double megabyte = 1024.0 * 1024.0, gigabyte = 1024.0 * megabyte;
    const size_t at = text.find(before);
    if (at == std::string_view::npos)
        return "";
    text.remove_prefix(at + before.size());
    double amount = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), amount);
    text.remove_prefix(static_cast<size_t>(parsed.ptr - text.data()));
    amount *= text.substr(0, 4) == " GiB" ? gigabyte : text.substr(0, 4) == " MiB" ? megabyte : 1;
    if (amount < 1)
        return "";
    const bool is_large = amount >= gigabyte / 10;
    char words[64];
    std::snprintf(words, sizeof words, " (the model asked for %.1f %s at once)",
                  amount / (is_large ? gigabyte : megabyte), is_large ? "GiB" : "MiB");
    return words;
}

// LibTorch names the backend "QuantizedCPU" and guesses at reasons.
std::string without_guesses(const std::string &text)
{
    constexpr std::string_view before = "Could not run '";
    const size_t at = text.find(before);
    if (at == text.npos || text.find("' with arguments from the 'Quantized") == text.npos)
        return text;
    const size_t begin = at + before.size();
    return dnn_torch::concat(text.substr(begin, text.find('\'', begin) - begin),
                             " takes no quantised tensors; export the model before it is "
                             "quantised (precision=int8 is for that)");
}

} // namespace engine_torch
