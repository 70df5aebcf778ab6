// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds out which input pictures a detector takes and what it returns, by running it on grey ones.
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

// The user's options about a detector.
struct DetectSettings {
    std::string decoder = {};             // a decoder's name, or ""
    std::optional<Placing> placing = {};  // nullopt: depends on the model
    std::optional<Size> size = {};        // of the model's input
    bool own_size = false;                // the model's input has the frame's size
    float border = 114.0F / 255;          // around letterboxed frames; 1 is white
    int classes = 0;                      // 0: not known
    std::vector<float> anchors = {};      // as DetectorFacts has them
    Size cells = {0, 0};                  // of YOLO's grid; zeros are not known
    std::vector<std::string> hidden = {}; // classes that are hidden
};

// How frames become the model's input.
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

    // Probes the model.  Call it first.  Throws Error also if it is not a detector.
    void examine();

    int channels() const { return channels_; }
    // Returns whether the model takes a list of pictures of any sizes.
    bool takes_lists() const { return takes_lists_; }

    // Returns the model's input for frames of that size.  Throws Error.
    DetectorInput input_for(Size frame);

    // Returns the decoder of the model's results for inputs of that size.  Throws Error.
    std::unique_ptr<const Decoder> decoder_for(Size picture);

    // Returns "RGB of 640x640".
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
    Size size_ = {0, 0}; // of the model's input
};

} // namespace dnn_torch
