// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds out which input pictures a classifier takes, by running it on grey ones.
#pragma once

#include "host/findings/scores.h"
#include "host/model/contract.h"
#include "host/model/model.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dnn_torch
{

// Belongs to one thread at a time.
class ClassifierProbe
{
public:
    // `size` is the size of the model's input, if it is known.
    ClassifierProbe(std::shared_ptr<Model> model, const Contract &contract,
                    std::optional<Size> size);

    // Probes the model.  Call it first.  Throws Error also if it is not a classifier.
    void examine();

    int channels() const { return channels_; }
    Size size() const { return size_; }
    const ScoreTensor &scores() const { return scores_; }

    // Returns how many pictures one run may have, at most `wanted`.
    size_t batch_for(size_t wanted);

    // Returns "RGB of 224x224".
    std::string in_words() const;

private:
    std::vector<DnnTorchTensor> shapes_for(int pictures, int channels, Size size);
    [[noreturn]] void refuse(std::span<const DnnTorchTensor> shapes, Size picture) const;
    bool is_detector(std::span<const DnnTorchTensor> shapes, Size picture) const;

    std::shared_ptr<Model> model_;
    const Contract &contract_;
    std::optional<Size> wanted_;
    int channels_ = 3;
    Size size_ = {0, 0};
    ScoreTensor scores_;
};

} // namespace dnn_torch
