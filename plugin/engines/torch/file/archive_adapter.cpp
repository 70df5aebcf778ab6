// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "archive_adapter.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <utility>
#include <vector>
#include <zlib.h>

namespace engine_torch
{
namespace
{

constexpr uint64_t in_extra = 0xffffffff; // the number is in the zip64 extra field
constexpr std::string_view folder = "archive/";

std::string number(uint64_t value, int size)
{
    std::string bytes;
    for (int i = 0; i < size; i++, value >>= 8)
        bytes += static_cast<char>(value & 0xff);
    return bytes;
}

struct Entry {
    std::string name;
    uint64_t crc, size, offset;
};

// The fields from "version needed" to the name's size, which both headers have.  The date is 1
// January 1980.
std::string common_part(const Entry &entry)
{
    return number(45, 2) + number(0, 4) + number(0, 2) + number(0x21, 2) + number(entry.crc, 4) +
           number(std::min(entry.size, in_extra), 4) + number(std::min(entry.size, in_extra), 4) +
           number(entry.name.size(), 2);
}

std::string local_header(const Entry &entry)
{
    std::string extra;
    if (entry.size >= in_extra)
        extra = number(1, 2) + number(16, 2) + number(entry.size, 8) + number(entry.size, 8);
    return "PK\3\4" + common_part(entry) + number(extra.size(), 2) + entry.name + extra;
}

std::string central_header(const Entry &entry)
{
    std::string large;
    if (entry.size >= in_extra)
        large = number(entry.size, 8) + number(entry.size, 8);
    if (entry.offset >= in_extra)
        large += number(entry.offset, 8);
    const std::string extra = large.empty() ? "" : number(1, 2) + number(large.size(), 2) + large;
    return "PK\1\2" + number(45, 2) + common_part(entry) + number(extra.size(), 2) + number(0, 6) +
           number(0, 4) + number(std::min(entry.offset, in_extra), 4) + entry.name + extra;
}

std::string ends(uint64_t count, uint64_t size, uint64_t offset)
{
    const std::string whole = "PK\6\6" + number(44, 8) + number(45, 2) + number(45, 2) +
                              number(0, 8) + number(count, 8) + number(count, 8) + number(size, 8) +
                              number(offset, 8);
    const std::string locator = "PK\6\7" + number(0, 4) + number(offset + size, 8) + number(1, 4);
    const uint64_t short_count = std::min<uint64_t>(count, 0xffff);
    return whole + locator + "PK\5\6" + number(0, 4) + number(short_count, 2) +
           number(short_count, 2) + number(std::min(size, in_extra), 4) +
           number(std::min(offset, in_extra), 4) + number(0, 2);
}

class Adapter final : public caffe2::serialize::ReadAdapterInterface
{
public:
    explicit Adapter(const Archive &archive)
    {
        std::vector<Entry> entries;
        for (const auto &[name, bytes] : archive.records()) {
            const auto crc =
                crc32_z(0, reinterpret_cast<const Bytef *>(bytes.data()), bytes.size());
            const Entry entry = {.name = std::string(folder) + name,
                                 .crc = crc,
                                 .size = bytes.size(),
                                 .offset = size_};
            add_own(local_header(entry));
            add(bytes);
            entries.push_back(entry);
        }
        const uint64_t directory = size_;
        for (const Entry &entry : entries)
            add_own(central_header(entry));
        add_own(ends(entries.size(), size_ - directory, directory));
    }

    size_t size() const override { return size_; }

    size_t read(uint64_t position, void *to, size_t wanted, const char * /*what*/) const override
    {
        if (position >= size_)
            return 0;
        const size_t count = std::min<size_t>(wanted, size_ - position);
        auto part = std::upper_bound(
            parts_.begin(), parts_.end(), position,
            [](uint64_t at, const Part &each) { return at < each.offset + each.bytes.size(); });
        for (size_t done = 0; done < count; part++) {
            const std::string_view rest = part->bytes.substr(position + done - part->offset);
            const size_t step = std::min(rest.size(), count - done);
            std::memcpy(static_cast<char *>(to) + done, rest.data(), step);
            done += step;
        }
        return count;
    }

private:
    struct Part {
        uint64_t offset;
        std::string_view bytes;
    };

    void add(std::string_view bytes)
    {
        if (bytes.empty())
            return;
        parts_.push_back({.offset = size_, .bytes = bytes});
        size_ += bytes.size();
    }

    void add_own(std::string bytes) { add(own_.emplace_back(std::move(bytes))); }

    std::deque<std::string> own_;
    std::vector<Part> parts_;
    uint64_t size_ = 0;
};

} // namespace

std::unique_ptr<caffe2::serialize::ReadAdapterInterface> adapt(const Archive &archive)
{
    return std::make_unique<Adapter>(archive);
}

} // namespace engine_torch
