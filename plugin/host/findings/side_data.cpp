// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "side_data.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>

namespace dnn_torch
{
namespace
{

constexpr AVFrameSideDataType kind = AV_FRAME_DATA_DETECTION_BBOXES;
constexpr int parts = 10000; // the denominator of confidences

template <size_t room> void put_text(char (&field)[room], std::string_view text)
{
    std::string_view fits = truncated(text, room - 1);
    fits = fits.substr(0, fits.find('\0'));
    std::memcpy(field, fits.data(), fits.size());
    std::memset(field + fits.size(), 0, room - fits.size());
}

template <size_t room> std::string text_in(const char (&field)[room])
{
    return {field, strnlen(field, room)};
}

AVRational rational_of(float confidence)
{
    const float known = confidence > 0 ? std::min(confidence, 1.0F) : 0; // NaN is 0, too
    return {static_cast<int>(std::lround(known * parts)), parts};
}

float number_of(AVRational confidence)
{
    return confidence.den == 0 ? 0 : static_cast<float>(av_q2d(confidence));
}

// Returns the nearest whole pixel in 0..`limit`; 0 for NaN.
int pixel(float position, int limit)
{
    if (!(position > 0))
        return 0;
    return static_cast<int>(std::lround(std::min(position, static_cast<float>(limit))));
}

// The table that a header describes.
struct BoxTable {
    size_t count, offset, stride;
};

// Returns nullopt if the boxes do not fit into `bytes`.
std::optional<BoxTable> table_of(const AVDetectionBBoxHeader &header, size_t bytes)
{
    const BoxTable table = {header.nb_bboxes, header.bboxes_offset, header.bbox_size};
    if (table.count == 0)
        return table;
    // Later versions of libavutil may append fields to either struct.
    if (table.offset < sizeof(header) || table.offset > bytes ||
        table.stride < sizeof(AVDetectionBBox) ||
        (bytes - table.offset) / table.stride < table.count)
        return std::nullopt;
    return table;
}

AVDetectionBBox copy_of(const uint8_t *bytes)
{
    AVDetectionBBox box;
    std::memcpy(&box, bytes, sizeof(box));
    box.detect_label[sizeof(box.detect_label) - 1] = 0;
    box.classify_count = std::min<uint32_t>(box.classify_count, AV_NUM_DETECTION_BBOX_CLASSIFY);
    for (auto &label : box.classify_labels)
        label[sizeof(label) - 1] = 0;
    return box;
}

Finding finding_of(const AVDetectionBBox &box)
{
    auto edge = [](int position, int extent) {
        return static_cast<float>(int64_t{position} + extent);
    };
    Finding finding = {.detection = {.box = {static_cast<float>(box.x), static_cast<float>(box.y),
                                             edge(box.x, box.w), edge(box.y, box.h)},
                                     .confidence = number_of(box.detect_confidence),
                                     .label = -1}, // side data has only names
                       .label = text_in(box.detect_label)};
    for (uint32_t i = 0; i < box.classify_count; i++)
        finding.classes.push_back(
            {text_in(box.classify_labels[i]), number_of(box.classify_confidences[i])});
    finding.earlier_classes = finding.classes.size();
    return finding;
}

} // namespace

bool has_box_data(const AVFrame &frame)
{
    return av_frame_get_side_data(&frame, kind) != nullptr;
}

std::optional<KnownBoxes> read_boxes(const AVFrame &frame)
{
    const AVFrameSideData *data = av_frame_get_side_data(&frame, kind);
    AVDetectionBBoxHeader header;
    if (!data || data->size < sizeof(header))
        return std::nullopt;
    std::memcpy(&header, data->data, sizeof(header));
    const std::optional<BoxTable> table = table_of(header, data->size);
    if (!table)
        return std::nullopt;
    KnownBoxes known = {.source = text_in(header.source), .boxes = {}};
    known.boxes.reserve(table->count);
    for (size_t i = 0; i < table->count; i++)
        known.boxes.push_back(copy_of(data->data + table->offset + i * table->stride));
    return known;
}

std::vector<Finding> findings_of(std::span<const AVDetectionBBox> boxes)
{
    std::vector<Finding> findings(boxes.size());
    std::transform(boxes.begin(), boxes.end(), findings.begin(), finding_of);
    return findings;
}

AVDetectionBBox box_of(const Finding &finding, std::string_view label, Size frame)
{
    const Box &exact = finding.detection.box;
    AVDetectionBBox box = {};
    box.x = std::min(pixel(exact.left, frame.width), frame.width - 1);
    box.y = std::min(pixel(exact.top, frame.height), frame.height - 1);
    box.w = std::max(pixel(exact.right, frame.width) - box.x, 1);
    box.h = std::max(pixel(exact.bottom, frame.height) - box.y, 1);
    put_text(box.detect_label, label);
    box.detect_confidence = rational_of(finding.detection.confidence);
    put_classes(box, finding.classes);
    return box;
}

void put_classes(AVDetectionBBox &box, std::span<const LabelScore> classes)
{
    const size_t count = std::min<size_t>(classes.size(), AV_NUM_DETECTION_BBOX_CLASSIFY);
    for (size_t i = 0; i < count; i++) {
        put_text(box.classify_labels[i], classes[i].label);
        box.classify_confidences[i] = rational_of(classes[i].confidence);
    }
    box.classify_count = static_cast<uint32_t>(count);
}

void write_boxes(AVFrame &frame, std::string_view source, std::span<const AVDetectionBBox> boxes)
{
    av_frame_remove_side_data(&frame, kind);
    AVDetectionBBoxHeader *header =
        av_detection_bbox_create_side_data(&frame, static_cast<uint32_t>(boxes.size()));
    if (!header)
        throw std::bad_alloc();
    put_text(header->source, source);
    for (size_t i = 0; i < boxes.size(); i++)
        *av_get_detection_bbox(header, static_cast<unsigned>(i)) = boxes[i];
}

std::string_view truncated(std::string_view text, size_t bytes)
{
    if (text.size() <= bytes)
        return text;
    auto is_continuation = [&](size_t place) { // a byte within a character
        return (static_cast<unsigned char>(text[place]) & 0xC0) == 0x80;
    };
    // A character has at most 4 bytes; more continuation bytes in a row are not UTF-8.
    size_t end = bytes;
    while (end > 0 && bytes - end < 3 && is_continuation(end))
        end--;
    return text.substr(0, is_continuation(end) ? bytes : end);
}

} // namespace dnn_torch
