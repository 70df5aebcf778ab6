// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A file that appears under its name when it is complete.
#pragma once

#include "base/descriptor.h"

#include <string>
#include <string_view>

namespace dnn_torch
{

// Until it is kept it has no name where the file system allows that, so that nothing of it stays
// behind, not even after SIGKILL.
class NewFile
{
public:
    // Follows a symbolic link.  Throws Error if the path cannot be written, or stands for something
    // that is no file.
    explicit NewFile(const std::string &path);
    ~NewFile();
    NewFile(const NewFile &) = delete;
    NewFile &operator=(const NewFile &) = delete;

    int descriptor() const { return file_.get(); }

    // Appends.  Throws Error.
    void write(std::string_view text);

    // Takes the place of a file that is there already.  Throws Error.
    void keep();

    [[noreturn]] void refuse(int error) const;

private:
    void name_draft();

    std::string path_, draft_; // a draft without a name has ""
    Descriptor file_;
};

} // namespace dnn_torch
