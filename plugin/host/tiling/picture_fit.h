// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// How frames are brought to sizes that a model takes, and its results to the size that is wanted.
#pragma once

#include "host/frames/tiling.h"
#include "host/model/contract.h"
#include "host/model/model.h"
#include "host/probing/locality.h"
#include "host/probing/model_probe.h"
#include "host/size.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dnn_torch
{

// frame -> seen: scaled, for a model of one size; -> padded: to the right and below; -> tiles, or
// one run; -> made: put together, without the padding; -> target: scaled.
struct PictureFit {
    Size frame, seen, padded, made, target;
    std::optional<Size> only; // the one size that the model takes
    bool is_tiled = false;    // the model is not run on the whole
    std::string note = {};    // for the log; may be empty

    // Whether the model gets the frame as it is, and gives what goes out.
    bool is_plain() const { return frame == seen && seen == padded && made == target && !is_tiled; }
};

// The tiles of a picture.
struct TileGrid {
    Size tile = {0, 0};
    std::vector<TileSpan> across, down;
    bool is_blended = false;
    std::string note = {}, warning = {}; // for the log, the warning as a warning; may be empty

    size_t count() const { return across.size() * down.size(); }
};

// Tries the model.  Belongs to one thread at a time.
class PictureFitter
{
public:
    PictureFitter(std::shared_ptr<Model> model, const Contract &contract);

    // Throws Error if the model takes no such frames, nor anything that they could be made to.
    PictureFit fit(Size frame, ChannelCounts channels);

    // Cuts into tiles of about that size.  Throws Error if that cannot be done.
    TileGrid cut(const PictureFit &fit, Size wanted, ChannelCounts channels);

    // The same without tiles, for frames that are only padded or scaled.
    static TileGrid whole(const PictureFit &fit);

    // Returns the size of tiles that take so much less memory than the whole, or than `tile`.
    static Size part_of(Size tile, double share);

    // How far the model looks, or what is assumed of it.  `only` is the one size that it takes.
    // Throws Error if its pictures cannot be cut.
    const Locality &locality(std::optional<Size> only, ChannelCounts channels);

    // What to try the model with.
    TrialParameters trial_parameters(std::optional<Size> only, ChannelCounts channels) const;

    const SizeParameters &parameters() const { return parameters_; }

    // Of which width and height must be, as far as is known.
    int multiple() const { return parameters_.multiple.value_or(found_multiple_); }
    // What was found by trying, in words; or "".
    const std::string &found_rule() const { return found_rule_; }
    // The operator for which locality() has not measured; or "".
    const std::string &nonlocal_operator() const { return nonlocal_operator_; }

    // Tries the model with such numbers from now on.
    void use(const PictureNumbers &numbers) { numbers_ = numbers; }

private:
    Size try_size(Size size, ChannelCounts channels);
    struct Ratios {
        Ratio across, down;
    };
    // Throws Error if the model has no simple ones.
    Ratios find_ratios(std::optional<Size> only, ChannelCounts channels);
    Size try_representative(Size padded, ChannelCounts channels);
    Size made_of(const PictureFit &fit, Size padded, ChannelCounts channels);
    Size representative(Size padded) const;
    void fit_to_rule(PictureFit &fit, ChannelCounts channels);
    void fit_by_search(PictureFit &fit, ChannelCounts channels, const Error &refused);
    void fit_to_only(PictureFit &fit, Size only, Size made, ChannelCounts channels);
    void fit_in_tiles(PictureFit &fit, ChannelCounts channels);
    std::string note_of_padding(const PictureFit &fit) const;
    std::optional<int> multiple_of_rounding(Size padded, Size made, ChannelCounts channels);
    Size keep_size(PictureFit &fit, Size made, ChannelCounts channels);
    bool find_rounding(ChannelCounts channels);
    bool find_rounding_of(Size padded, Size made, ChannelCounts channels);
    Size target_of(const PictureFit &fit, Size usual) const;
    std::optional<Size> told_size() const;
    void widen(Locality &locality) const;
    void align(Locality &locality) const;
    Locality measure(std::optional<Size> only, ChannelCounts channels);
    Locality assumed(std::optional<Size> only, ChannelCounts channels);
    bool shows_seams(const PictureFit &fit, const TileAxis &across, const TileAxis &down,
                     ChannelCounts channels);
    std::string warning_of_locality() const;

    std::shared_ptr<Model> model_;
    SizeParameters parameters_;
    ModelFacts facts_;
    PictureNumbers numbers_;
    int found_multiple_ = 1;
    std::string found_rule_; // that pictures were found to follow, in words
    std::optional<Locality> locality_;
    ChannelCounts locality_channels_ = {0, 0}; // what it was measured with, and the next one
    std::optional<Size> locality_only_;
    std::string nonlocal_operator_; // that may look at all of a picture; found with the locality
    std::vector<Size> seamless_;    // pictures and their tiles, by turns, that showed no seams
};

} // namespace dnn_torch
