// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The columns of a comparison: what a clip shows, and what models make of it.
#pragma once

#include "base/json.h"
#include "frames.h"
#include "options.h"
#include "programs.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dnn_torch
{

struct PictureSize {
    int width = 0, height = 0;
    bool operator==(const PictureSize &) const = default;
};

// Of luma.  PSNR is infinite if the pictures are equal.
struct Scores {
    std::optional<double> psnr, ssim, vmaf;
};

enum class ColumnKind { source, reference, model };

struct Column {
    ColumnKind kind;
    std::string file;              // the clip or the model
    std::string failure;           // "": all pictures are there
    std::string prefix;            // of the pictures' files
    std::optional<double> seconds; // for a frame
    std::vector<std::pair<std::string, std::string>> facts;
    std::vector<PictureSize> pictures; // as many as there are
    std::vector<Scores> scores;        // one for each picture, or none

    std::string name() const; // without folders
    std::string picture(size_t frame) const;
};

class ColumnMaker
{
public:
    ColumnMaker(const Programs &programs, const TemporaryFolder &folder,
                const CompareOptions &options, size_t frames)
        : programs_(programs), folder_(folder), options_(options), frames_(frames)
    {
    }

    // The frames as they are.  Throws std::runtime_error.
    Column show(ColumnKind kind, const std::string &clip, const Cut &cut);
    // A model that fails makes a column that says why.
    Column run_model(const std::string &model, const Cut &cut);
    // Fills in the scores.  Results of another size are scaled to the reference's.
    void score(Column &column, const Column &reference) const;

private:
    // A column's pictures and the reference's, as ffmpeg's inputs, and as [a] and [b].
    struct Pair {
        std::vector<std::string> inputs;
        std::string graph;
    };
    static Pair pair_of(const Column &column, const Column &reference);

    Outcome draw(Column &column, const Cut &cut, const std::string &graph, double limit_seconds);
    std::string filter_for(const std::string &model, const std::string &statistics) const;
    void measure_time(Column &column, const Cut &cut);
    json::Value inspect(const std::string &model) const;
    std::string failure_of(const Column &column, const Outcome &outcome,
                           const json::Value &facts) const;
    static void add_facts(Column &column, const json::Value &facts);
    void add_statistics(Column &column, const std::string &file) const;
    void score_vmaf(Column &column, const Pair &pair) const;
    bool has_vmaf() const;

    const Programs &programs_;
    const TemporaryFolder &folder_;
    const CompareOptions &options_;
    size_t frames_;
    int columns_ = 0;
    mutable std::optional<bool> has_vmaf_;
};

// Returns the size of a PNG, or nullopt if the file is none.
std::optional<PictureSize> size_of_png(const std::string &file);

// Returns "" if the file cannot be read.
std::string contents_of(const std::string &file);

} // namespace dnn_torch
