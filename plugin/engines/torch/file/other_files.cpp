// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "other_files.h"

#include "base/compose.h"
#include "engine_kit/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

namespace engine_torch
{
namespace
{

using dnn_torch::concat;

constexpr const char *how_to_export =
    "; export the model with torch.jit.trace or torch.jit.script and its save()";

constexpr const char *zip_start = "PK\3\4";

bool any_contains(const std::vector<ZipRecord> &records, std::string_view part)
{
    return std::any_of(records.begin(), records.end(), [part](const ZipRecord &record) {
        return record.name.find(part) != std::string::npos;
    });
}

// A failed download often leaves a page that says "log in" or "confirm the download".
bool is_web_page(std::string_view bytes)
{
    std::string start(bytes.substr(0, 256));
    start.erase(0, start.find_first_not_of(" \t\r\n\xEF\xBB\xBF"));
    std::transform(start.begin(), start.end(), start.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return start.starts_with("<!doctype html") || start.starts_with("<html");
}

// torch.save() wrote tar archives before 0.1.10.
bool is_oldest_checkpoint(std::string_view bytes)
{
    constexpr size_t mark_place = 257;
    return bytes.size() > mark_place && bytes.substr(mark_place).starts_with("ustar") &&
           bytes.find("storages") != std::string_view::npos;
}

struct OtherFormat {
    std::string_view start;
    const char *words;
};

constexpr std::array<OtherFormat, 9> other_formats = {{
    {.start = "version https://git-lfs",
     .words = "is a pointer of Git LFS and not the file that "
              "it points to; get that with git lfs pull"},
    {.start = "7z\xBC\xAF\x27\x1C", .words = "is an archive (7z); unpack it first"},
    {.start = "Rar!", .words = "is an archive (RAR); unpack it first"},
    {.start = "\x1F\x8B", .words = "is compressed (gzip); unpack it first"},
    {.start = "\x89HDF",
     .words = "is an HDF5 file, as Keras writes them; export the model in "
              "PyTorch"},
    {.start = "GGUF", .words = "is a GGUF file; use the model's PyTorch file"},
    {.start = "7767517", .words = "is an NCNN model; use the model's PyTorch file"},
    {.start = "Gk0\1", .words = "is the weights of an NCNN model; use the model's PyTorch file"},
    {.start = "ftrt",
     .words = "is a TensorRT engine, which runs on one kind of GPU; use the model's PyTorch file"},
}};

bool is_tensorflow(const FileBytes &file)
{
    constexpr size_t mark_place = 4;
    const std::string_view bytes = file.bytes();
    return file.name().ends_with(".pb") ||
           (bytes.size() > mark_place && bytes.substr(mark_place).starts_with("TFL3"));
}

bool is_openvino(std::string_view bytes)
{
    const std::string_view start = bytes.substr(0, 256);
    return start.starts_with("<") && start.find("<net ") != start.npos;
}

// What pickle.dump() writes in protocol 2 and later ones.
bool is_pickle(std::string_view bytes)
{
    constexpr char newest = 5;
    return bytes.size() > 2 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= newest &&
           bytes.back() == '.';
}

// Returns the name of a model that was packed into an archive, or "".
std::string_view packed_model(const std::vector<ZipRecord> &records)
{
    for (const ZipRecord &record : records)
        for (const char *end : {".pth", ".pt", ".safetensors", ".ckpt"})
            if (record.name.ends_with(end))
                return record.name;
    return {};
}

} // namespace

void refuse_other_files(const FileBytes &file)
{
    const std::string_view bytes = file.bytes();
    if (bytes.starts_with(zip_start))
        return;
    if (is_oldest_checkpoint(bytes))
        file.refuse("is a checkpoint from before PyTorch 0.1.10; load it in PyTorch and save its "
                    "weights again with torch.save()");
    if (is_web_page(bytes))
        file.refuse("is a web page and no model; download the file itself");
    for (const OtherFormat &format : other_formats)
        if (bytes.starts_with(format.start))
            file.refuse(format.words);
    if (is_tensorflow(file))
        file.refuse("is a TensorFlow model, which is not read; use the model's PyTorch file");
    if (is_openvino(bytes))
        file.refuse("is an OpenVINO model, which is not read; use the model's PyTorch file");
    if (is_pickle(bytes))
        file.refuse(
            concat("is a pickle of Python's own and no checkpoint of torch.save()", how_to_export));
    file.refuse(concat("is no TorchScript model and no checkpoint", how_to_export));
}

void refuse_other_archives(const FileBytes &file, const std::vector<ZipRecord> &records)
{
    if (any_contains(records, "/constants.pkl"))
        return;
    if (any_contains(records, "data/aotinductor/"))
        file.refuse(
            "is an AOTInductor package: compiled code for one kind of machine, which is not "
            "converted; save the program itself with torch.export.save()");
    if (any_contains(records, "/archive_format"))
        file.refuse("is a package of PyTorch without a torch.export program; save one with "
                    "torch.export.save()");
    if (any_contains(records, "model.weights.h5"))
        file.refuse("is a Keras model, which is not read; use the model's PyTorch file");
    if (const std::string_view name = packed_model(records); !name.empty())
        file.refuse(concat("is a zip archive with ", engine_kit::printable(name.substr(0, 80)),
                           " in it; unpack it first"));
    file.refuse(
        concat("is a zip archive but no TorchScript model and no checkpoint", how_to_export));
}

} // namespace engine_torch
