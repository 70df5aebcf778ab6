// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tensor_use.h"

#include "host/detection/decoders.h"
#include "host/detection/suppression.h"
#include "host/detection/tracker.h"
#include "host/error.h"
#include "host/findings/scores.h"
#include "host/tasks/class_map_tensors.h"

#include <cmath>
#include <string>
#include <vector>

namespace fuzz
{
namespace
{

using dnn_torch::Detection;

constexpr dnn_torch::Size picture = {64, 64};

// A refusal in words is as good as a result.
template <class Work> void unless_refused(const Work &work)
{
    try {
        work();
    } catch (const dnn_torch::Error &error) {
        if (!*error.what())
            throw Fault("a refusal without words");
    }
}

bool is_share(float number)
{
    return number >= 0 && number <= 1;
}

void check(const Detection &found)
{
    for (const float edge : {found.box.left, found.box.top, found.box.right, found.box.bottom})
        if (!std::isfinite(edge))
            throw Fault("a box without an end");
    if (!(found.box.width() > 0 && found.box.height() > 0))
        throw Fault("a box of nothing");
    if (!is_share(found.confidence) || found.label < 0)
        throw Fault("a confidence or a label that there cannot be");
    for (const dnn_torch::KeyPoint &point : found.key_points)
        if (!std::isfinite(point.x) || !std::isfinite(point.y) || !is_share(point.confidence))
            throw Fault("a key point that there cannot be");
    if (!found.mask)
        return;
    const auto values =
        static_cast<size_t>(found.mask.size.width) * static_cast<size_t>(found.mask.size.height);
    if (found.mask.values->size() != values)
        throw Fault("a mask of another size");
    for (const float value : *found.mask.values)
        if (!is_share(value))
            throw Fault("a mask's value that there cannot be");
}

std::vector<Detection> detections(const dnn_torch::Decoder &decoder,
                                  std::span<const DnnTorchTensor> tensors)
{
    std::vector<Detection> found;
    decoder.decode(tensors, 0, {.confidence = 0.25F}, found);
    dnn_torch::suppress(found, {});
    decoder.add_key_points(tensors, 0, found);
    decoder.add_masks(tensors, 0, found);
    return found;
}

void detect(std::span<const DnnTorchTensor> shapes, std::span<const DnnTorchTensor> tensors,
            Digest &digest)
{
    const dnn_torch::DetectorFacts facts = {.input = picture};
    for (const std::string &name : dnn_torch::names_of_decoders())
        unless_refused([&] {
            const auto decoder = dnn_torch::find_decoder(shapes, facts, name);
            const std::vector<Detection> found = detections(*decoder, tensors);
            dnn_torch::Tracker tracker;
            tracker.update(found);
            if (tracker.update(found).size() != found.size())
                throw Fault("other numbers than boxes");
            for (const Detection &each : found) {
                check(each);
                digest.add(&each.box, sizeof each.box);
            }
        });
}

void classify(std::span<const DnnTorchTensor> shapes, std::span<const DnnTorchTensor> tensors,
              Digest &digest)
{
    const auto place = dnn_torch::find_scores(shapes, 1);
    if (!place)
        return;
    unless_refused([&] {
        const dnn_torch::Scores scores = dnn_torch::scores_of(tensors, *place, 1, 0);
        for (const auto &each : dnn_torch::likeliest(scores, {.top = 5})) {
            if (each.number < 0 || each.number >= place->classes || std::isnan(each.confidence))
                throw Fault("a class that there cannot be");
            digest.add(&each.number, sizeof each.number);
        }
    });
}

void draw_classes(std::span<const DnnTorchTensor> shapes, std::span<const DnnTorchTensor> tensors,
                  Digest &digest)
{
    unless_refused([&] {
        const dnn_torch::ClassMapTensor place = dnn_torch::find_class_maps(shapes, 1, "");
        const dnn_torch::ClassMaps maps = dnn_torch::class_maps_in(tensors, place, 1, 0);
        dnn_torch::ClassRows rows(maps,
                                  {.width = static_cast<double>(maps.size.width),
                                   .height = static_cast<double>(maps.size.height)},
                                  picture);
        std::vector<uint16_t> numbers(picture.width);
        std::vector<float> shares(picture.width);
        for (int y = 0; y < picture.height; y++) {
            rows.likeliest(y, numbers.data());
            rows.share(y, {false, true, true}, shares.data());
            for (size_t x = 0; x < numbers.size(); x++)
                if ((maps.scores && numbers[x] > maps.classes) || !is_share(shares[x]))
                    throw Fault("a class or a share that there cannot be");
            digest.add(numbers.data(), numbers.size() * sizeof numbers[0]);
        }
    });
}

} // namespace

void use_tensors(std::span<const DnnTorchTensor> shapes, std::span<const DnnTorchTensor> tensors,
                 Digest &digest)
{
    detect(shapes, tensors, digest);
    classify(shapes, tensors, digest);
    draw_classes(shapes, tensors, digest);
}

} // namespace fuzz
