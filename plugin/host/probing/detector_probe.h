// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds out which pictures a detector takes and what it makes of them, by running it on grey ones.
#pragma once

#include "host/detection/decoder.h"
#include "host/frames/placement.h"
#include "host/model/contract.h"
#include "host/model/model.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dnn_torch
{

// What is settled of a detector by options.
struct DetectSettings {
    std::string decoder = {};            // a decoder's name, or ""
    std::optional<Placing> placing = {}; // none: by the model
    std::optional<Size> size = {};       // of the model's picture
    bool own_size = false;               // the model's picture has the frame's own size
    float border = 114.0F / 255;         // a share of white, around letterboxed frames
    int classes = 0;                     // 0: not known
    std::vector<float> anchors = {};     // as DetectorFacts has them
    Size cells = {0, 0};                 // of YOLO's grid; zeros are not known
};

// How pictures of frames come to the model.
struct DetectorInput {
    Size size;
    Placing placing;
};

// Belongs to one thread at a time.
class DetectorProbe
{
public:
    DetectorProbe(std::shared_ptr<Model> model, const Contract &contract,
                  const DetectSettings &settings);

    // Finds out what the model takes.  Call it first.  Throws Error also if it is no detector.
    void examine();

    int channels() const { return channels_; }
    // Whether the model takes a list of pictures of any sizes.
    bool takes_lists() const { return takes_lists_; }

    // Returns the picture that the model gets of such frames.  Throws Error if it takes none.
    DetectorInput input_for(Size frame);

    // Returns what decodes the model's results for pictures of that size.  Throws Error.
    std::unique_ptr<const Decoder> decoder_for(Size picture);

    // "640x640, letterboxed"
    std::string in_words() const;

private:
    using Shapes = std::vector<DnnTorchTensor>;
    Shapes try_size(Size size, int channels);
    bool takes(Size size);
    bool keeps_frame_size() const;
    DetectorFacts facts_for(Size picture) const;
    void refuse_pictures(const Shapes &shapes, Size picture) const;
    int multiple() const;

    std::shared_ptr<Model> model_;
    const Contract &contract_;
    const DetectSettings &settings_;
    bool takes_lists_ = false;
    int channels_ = 3;
    Size size_ = {0, 0}; // that the model takes
};

} // namespace dnn_torch
