// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A file that appears under its name when it is complete.
#pragma once

#include "base/descriptor.h"

#include <string>
#include <string_view>

namespace dnn_torch
{

// What becomes of a file that is there already.
enum class Existing { replaced, kept };

// Until it is kept it has no name where the file system allows that, so that nothing of it stays
// behind, not even after SIGKILL.
class NewFile
{
public:
    // Follows a symbolic link.  Throws Error if the path cannot be written, stands for something
    // that is no file, or for one that is to be kept.
    explicit NewFile(const std::string &path, Existing existing = Existing::replaced);
    ~NewFile();
    NewFile(const NewFile &) = delete;
    NewFile &operator=(const NewFile &) = delete;

    int descriptor() const { return file_.get(); }

    // Appends.  Throws Error.
    void write(std::string_view text);

    // Throws Error, also if a file that is to be kept has come meanwhile.
    void keep();

    [[noreturn]] void refuse(int error) const;

private:
    void name_draft();
    bool rename_draft(); // false: errno says why not

    std::string path_, draft_; // a draft without a name has ""
    Existing existing_;
    Descriptor file_;
};

} // namespace dnn_torch
