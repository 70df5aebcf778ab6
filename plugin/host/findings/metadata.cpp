// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metadata.h"

#include "base/compose.h"
#include "record_text.h"
#include "side_data.h"
#include "text.h"

extern "C" {
#include <libavutil/dict.h>
}

#include <algorithm>
#include <charconv>
#include <cstring>
#include <new>
#include <string>
#include <utility>

namespace dnn_torch
{
namespace
{

constexpr std::string_view prefix = "lavfi.dnn_torch.";
constexpr std::string_view frame_classes = "lavfi.dnn_torch.class.";

// Appends without a search: a dictionary is a list, and a frame may have thousands of keys.
void append(AVDictionary **keys, const std::string &key, const std::string &value)
{
    if (av_dict_set(keys, key.c_str(), value.c_str(), AV_DICT_MULTIKEY) < 0)
        throw std::bad_alloc();
}

const AVDictionaryEntry *next_entry(const AVDictionary *keys, const AVDictionaryEntry *before)
{
    return av_dict_get(keys, "", before, AV_DICT_IGNORE_SUFFIX);
}

size_t count_in(const AVDictionary *keys)
{
    const AVDictionaryEntry *count = av_dict_get(keys, "lavfi.dnn_torch.count", nullptr, 0);
    return count ? whole_number<size_t>(count->value).value_or(0) : 0;
}

bool is_of_frame(std::string_view key)
{
    return key.starts_with(frame_classes);
}

bool is_label_of_frame(std::string_view key)
{
    return is_of_frame(key) && key.ends_with(".label");
}

// Returns how many classes earlier filters assigned to the whole frame.
size_t count_frame_classes(const AVDictionary *keys)
{
    size_t count = 0;
    const AVDictionaryEntry *entry = nullptr;
    while ((entry = next_entry(keys, entry)) != nullptr)
        count += is_label_of_frame(entry->key);
    return count;
}

float confidence_in(const AVDictionary *keys, const std::string &label_key)
{
    const std::string stem = label_key.substr(0, label_key.rfind('.'));
    const AVDictionaryEntry *entry = av_dict_get(keys, (stem + ".confidence").c_str(), nullptr, 0);
    float confidence = 0;
    if (entry)
        std::from_chars(entry->value, entry->value + std::strlen(entry->value), confidence);
    return confidence;
}

// 3 and "track", of "lavfi.dnn_torch.3.track".
struct BoxKey {
    size_t number;
    std::string_view field;
};

std::optional<BoxKey> box_key(std::string_view key)
{
    if (!key.starts_with(prefix))
        return std::nullopt;
    key.remove_prefix(prefix.size());
    const size_t dot = key.find('.');
    if (dot == key.npos)
        return std::nullopt;
    const std::optional<size_t> number = whole_number<size_t>(key.substr(0, dot));
    return number ? std::optional(BoxKey{*number, key.substr(dot + 1)}) : std::nullopt;
}

// Decides which of the existing keys are kept.
class KeyFilter
{
public:
    KeyFilter(const AVDictionary *keys, size_t boxes, const Findings &found,
              const MetadataParameters &parameters)
        : found_(found), parameters_(parameters),
          others_(parameters.keeps_others ? boxes : parameters.first)
    {
        // With another count, the keys describe other boxes.
        if (count_in(keys) != others_)
            others_ = 0;
    }

    bool keeps(std::string_view key) const
    {
        if (!key.starts_with(prefix))
            return true;
        if (const std::optional<BoxKey> known = box_key(key))
            return known->number < others_ && is_not_set(*known);
        return is_of_frame(key);
    }

private:
    bool is_not_set(const BoxKey &key) const
    {
        if (key.field == "turned" || key.field == "angle" || key.field == "key_points")
            return true;
        if (key.field != "track")
            return false;
        const bool is_own = key.number >= parameters_.first;
        const size_t place = key.number - parameters_.first;
        return !is_own || place >= found_.things.size() || found_.things[place].track == 0;
    }

    const Findings &found_;
    const MetadataParameters &parameters_;
    size_t others_; // how many of the first boxes may keep keys
};

std::string box_text(const AVDetectionBBox &box)
{
    return concat(box.x, ",", box.y, ",", box.w, ",", box.h);
}

std::string confidence_text(double confidence)
{
    return fixed_text(confidence, 4);
}

std::string confidence_text(AVRational confidence)
{
    return confidence_text(confidence.den == 0 ? 0 : av_q2d(confidence));
}

std::string turned_text(const TurnedBox &turned)
{
    return concat(fixed_text(turned.middle_x, 2), ",", fixed_text(turned.middle_y, 2), ",",
                  fixed_text(turned.width, 2), ",", fixed_text(turned.height, 2));
}

void append_classes(AVDictionary **keys, const std::string &stem,
                    std::span<const LabelScore> classes, size_t first = 0)
{
    for (size_t i = 0; i < classes.size(); i++) {
        const std::string key = concat(stem, "class.", first + i);
        append(keys, key + ".label", classes[i].label);
        append(keys, key + ".confidence", confidence_text(classes[i].confidence));
    }
}

std::vector<LabelScore> classes_of(const AVDetectionBBox &box)
{
    std::vector<LabelScore> classes;
    for (uint32_t i = 0; i < box.classify_count; i++)
        classes.push_back(
            {box.classify_labels[i], static_cast<float>(av_q2d(box.classify_confidences[i]))});
    return classes;
}

void append_box(AVDictionary **keys, const std::string &stem, const AVDetectionBBox &box,
                const std::string &label)
{
    append(keys, stem + "label", label);
    append(keys, stem + "confidence", confidence_text(box.detect_confidence));
    append(keys, stem + "box", box_text(box));
}

void append_finding(AVDictionary **keys, const std::string &stem, const Finding &finding)
{
    if (finding.track != 0)
        append(keys, stem + "track", std::to_string(finding.track));
    if (const std::optional<TurnedBox> &turned = finding.detection.turned) {
        append(keys, stem + "turned", turned_text(*turned));
        append(keys, stem + "angle", fixed_text(turned->angle * degrees_in_radian, 2));
    }
    if (!finding.detection.key_points.empty())
        append(keys, stem + "key_points", key_points_text(finding.detection.key_points, ","));
    append_classes(keys, stem, finding.classes);
}

// Ignores the keys if their count differs: they describe other boxes.
void read_tracks(const AVFrame &frame, std::span<Finding> findings)
{
    if (count_in(frame.metadata) != findings.size())
        return;
    const AVDictionaryEntry *entry = nullptr;
    while ((entry = next_entry(frame.metadata, entry)) != nullptr) {
        const std::optional<BoxKey> key = box_key(entry->key);
        if (key && key->number < findings.size() && key->field == "track")
            findings[key->number].track = whole_number<int64_t>(entry->value).value_or(0);
    }
}

} // namespace

bool has_metadata(const AVFrame &frame)
{
    return av_dict_get(frame.metadata, "lavfi.dnn_torch.count", nullptr, 0) != nullptr;
}

std::vector<LabelScore> frame_classes_in(const AVFrame &frame)
{
    std::vector<LabelScore> classes;
    const AVDictionaryEntry *entry = nullptr;
    while ((entry = next_entry(frame.metadata, entry)) != nullptr)
        if (is_label_of_frame(entry->key))
            classes.push_back({entry->value, confidence_in(frame.metadata, entry->key)});
    return classes;
}

void write_metadata(AVFrame &frame, std::span<const AVDetectionBBox> boxes, const Findings &found,
                    const MetadataParameters &parameters)
{
    const KeyFilter filter(frame.metadata, boxes.size(), found, parameters);
    AVDictionary *keys = nullptr;
    const AVDictionaryEntry *entry = nullptr;
    while ((entry = next_entry(frame.metadata, entry)) != nullptr)
        if (filter.keeps(entry->key))
            append(&keys, entry->key, entry->value);
    append(&keys, concat(prefix, "count"), std::to_string(boxes.size()));
    for (size_t i = 0; i < std::min(boxes.size(), most_boxes_with_keys); i++) {
        const std::string stem = concat(prefix, i, ".");
        const size_t place = i - parameters.first;
        if (i < parameters.first || place >= found.things.size()) {
            append_box(&keys, stem, boxes[i], boxes[i].detect_label);
            append_classes(&keys, stem, classes_of(boxes[i]));
        } else {
            append_box(&keys, stem, boxes[i], found.things[place].label);
            append_finding(&keys, stem, found.things[place]);
        }
    }
    append_classes(&keys, std::string(prefix), found.classes, count_frame_classes(keys));
    std::swap(frame.metadata, keys);
    av_dict_free(&keys);
}

std::vector<Finding> things_in(const AVFrame &frame)
{
    const std::optional<KnownBoxes> known = read_boxes(frame);
    std::vector<Finding> things;
    if (known)
        things = findings_of(known->boxes);
    read_tracks(frame, things);
    return things;
}

} // namespace dnn_torch
