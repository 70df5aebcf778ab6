// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Fits frames to sizes that a model takes, and its results to the requested size.
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
// one run; -> made: joined and without the padding; -> target: scaled.
struct PictureFit {
    Size frame, seen, padded, made, target;
    std::optional<Size> only; // the one size that the model takes
    bool is_tiled = false;    // the model never runs on the whole picture
    std::string note = {};    // for the log; may be empty

    // Returns whether the model gets the frame unchanged, and returns the filter's output.
    bool is_plain() const { return frame == seen && seen == padded && made == target && !is_tiled; }
};

// The tiles of a picture.
struct TileGrid {
    Size tile = {0, 0};
    std::vector<TileSpan> across, down;
    bool is_blended = false;
    std::string note = {}, warning = {}; // for the log; may be empty

    size_t count() const { return across.size() * down.size(); }
};

// Finds the fit and the tiles by running the model.  Belongs to one thread at a time.
class PictureFitter
{
public:
    PictureFitter(std::shared_ptr<Model> model, const Contract &contract);

    // Throws Error if the model takes neither such frames nor any size to which they can be fitted.
    PictureFit fit(Size frame, ChannelCounts channels);

    // Cuts into tiles of about that size.  Throws Error if that cannot be done.
    TileGrid cut(const PictureFit &fit, Size wanted, ChannelCounts channels);

    // The same without tiles, for frames that are only padded or scaled.
    static TileGrid whole(const PictureFit &fit);

    // Returns the size of tiles with about that share of `tile`'s memory.
    static Size part_of(Size tile, double share);

    // Returns the model's measured or assumed reach.  `only` is the one size that it takes.
    // Throws Error if its pictures cannot be cut.
    const Locality &locality(std::optional<Size> only, ChannelCounts channels);

    TrialParameters trial_parameters(std::optional<Size> only, ChannelCounts channels) const;

    const SizeParameters &parameters() const { return parameters_; }

    // Returns the multiple that width and height must have, as far as is known.
    int multiple() const { return parameters_.multiple.value_or(found_multiple_); }
    // Returns the rule for sizes that trials found, as text; or "".
    const std::string &found_rule() const { return found_rule_; }
    // Returns the operator because of which locality() assumes and does not measure; or "".
    const std::string &nonlocal_operator() const { return nonlocal_operator_; }

    // Later trials use such numbers.
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
    Size target_of(const PictureFit &fit, Size by_default) const;
    std::optional<Size> declared_size() const;
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
    std::string found_rule_; // for sizes that the model takes, as text
    std::optional<Locality> locality_;
    ChannelCounts locality_channels_ = {0, 0}; // locality_ was measured with these two
    std::optional<Size> locality_only_;
    std::string nonlocal_operator_; // an operator that may read the whole picture, or ""
    std::string refusal_of_trial_;  // why the locality could not be measured, or ""
    std::vector<Size> seamless_;    // pairs of a picture and its tile that showed no seams
};

} // namespace dnn_torch
