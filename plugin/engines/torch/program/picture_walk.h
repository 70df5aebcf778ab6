// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Follows through a graph which values are computed from samples of a picture, which ones from its
// width and height, and which dimensions of a tensor are these two.
#pragma once

#include "graph_walk.h"
#include "picture_axes.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace engine_torch
{

// Without its namespace and a trailing "_".
std::string operator_name(const torch::jit::Node &node);

bool is_tensor_value(const torch::jit::Value &value);
bool is_list(const torch::jit::Value &value);

class PictureWalk : protected GraphWalk
{
protected:
    // What a value was computed from.
    enum Origin : unsigned {
        samples = 1U,        // samples of the picture
        extents = 2U,        // its width or height, or a dimension that may be one of them
        statistics = 4U,     // statistics over dimensions that may be spatial
        compared = 8U,       // a comparison, of which only the outcome is left
        discontinuous = 16U, // a step: small changes of samples may not show, in any trial
        places = 32U,        // coordinates of the whole picture
        measures = 64U,      // a tensor whose values follow from the width or the height
        spatial = 128U,      // certainly the width or the height, or both
        counted = 256U,      // a list whose length follows from the width or the height
    };

    static constexpr unsigned of_extents = extents | spatial;

    using GraphWalk::GraphWalk;
    ~PictureWalk() = default;

    bool is_of_samples(const torch::jit::Value *value) const
    {
        return (marks_of(value) & samples) != 0;
    }
    const PictureAxes &axes_of(const torch::jit::Value *value) const;
    void merge_axes(const torch::jit::Value *value, const PictureAxes &axes);
    bool is_none(const torch::jit::Value *value) const;
    std::optional<std::vector<int64_t>> numbers(const torch::jit::Value *value) const;
    // Whether a sample of the result only depends on the inputs' samples at the same place.
    bool stays_in_place(const torch::jit::Node &node, const std::string &name) const;
    // Whether places are given along a dimension that is not spatial.
    bool is_along_other_axis(const torch::jit::Node &node) const;
    bool others_are_of_samples(const torch::jit::Node &node) const;
    bool rest_is_of_samples(const torch::jit::Node &node) const;
    // Returns null if the operator has no such argument.
    const torch::jit::Value *axis_argument(const torch::jit::Node &node) const;
    static const torch::jit::Value *index_of(const torch::jit::Node &node);
    // A mask selects places of the picture and moves nothing.
    bool writes_through_mask(const torch::jit::Node &node, const std::string &name) const;
    // Handles operators that read extents, strides and lengths but no samples.
    bool reads_only_extents(const torch::jit::Node &node, const std::string &name);
    // Whether a single number, or a text, follows from the extents.
    bool takes_extent(const torch::jit::Node &node) const;
    // The same for all arguments that are no tensors.
    bool takes_extents(const torch::jit::Node &node) const;
    static bool computes_each(const std::string &name);
    // Elements that are put into a list do not say how long it becomes.
    bool makes_counted_list(const torch::jit::Node &node, const std::string &name) const;
    PictureAxes axes_after(const torch::jit::Node &node, const std::string &name) const;

private:
    // Operators along one or more dimensions, which may be width or height.
    bool keeps_places(const torch::jit::Node &node, const std::string &name,
                      const PictureAxes &axes) const;
    bool joins_along_other_axis(const torch::jit::Node &node) const;
    // Whether height still comes before width.
    bool keeps_order(const torch::jit::Node &node, const std::string &name,
                     const PictureAxes &axes) const;
    bool is_along_other_axes(const torch::jit::Node &node, const std::string &name,
                             const PictureAxes &axes) const;
    bool is_mask_list(const torch::jit::Value &list) const;
    void read_size(const torch::jit::Node &node, const std::string &name);
    void read_length(const torch::jit::Value &of, const torch::jit::Value &length);
    // What the extent of a dimension follows from.  The batch and the channels do not depend on the
    // picture's size.
    unsigned extent_of(const torch::jit::Value *of, int64_t dimension) const;
    unsigned extent_in_shape(const torch::jit::Value *shape, int64_t dimension) const;
    unsigned extent_of_flat(const torch::jit::Node &node, int64_t dimension) const;
    bool reads_extent(const torch::jit::Node &node);
    bool reads_extents(const torch::jit::Node &node);
    bool cuts_picture(const torch::jit::Node &node) const;
    // A lookup in a table of scalars, rows or channels yields one entry for each place.
    PictureAxes after_look_up(const torch::jit::Node &node, const std::string &name) const;
    PictureAxes after_statistic(const torch::jit::Node &node, const std::string &name,
                                const PictureAxes &axes) const;
    // Operands are broadcast to the largest rank.
    PictureAxes common_axes(const torch::jit::Node &node) const;

    std::map<const torch::jit::Value *, PictureAxes> axes_;
};

} // namespace engine_torch
