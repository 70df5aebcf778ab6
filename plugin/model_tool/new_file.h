// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A file that gets its name when it is complete.
#pragma once

#include "base/descriptor.h"

#include <string>
#include <string_view>

namespace dnn_torch
{

// Whether an existing file is replaced or kept.
enum class Existing { replaced, kept };

// Until keep() the file has no name if the file system allows that, so that nothing is left over,
// not even after SIGKILL.  Otherwise signals that end the program remove it.
class NewFile
{
public:
    // Follows a symbolic link.  Throws Error if the path cannot be written, is not a regular file,
    // or is a file that must be kept.
    explicit NewFile(const std::string &path, Existing existing = Existing::replaced);
    ~NewFile();
    NewFile(const NewFile &) = delete;
    NewFile &operator=(const NewFile &) = delete;

    int descriptor() const { return file_.get(); }

    // Appends.  Throws Error.
    void write(std::string_view text);

    // Gives the file its name.  Throws Error, also if a file that must be kept appeared meanwhile.
    void keep();

    [[noreturn]] void refuse(int error) const;

private:
    void name_draft();
    void remember_draft() const;
    void forget_draft();
    bool rename_draft(); // false: errno says why not

    std::string path_, draft_; // "": the draft has no name
    Existing existing_;
    Descriptor file_;
};

} // namespace dnn_torch
