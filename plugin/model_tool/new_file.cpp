// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "new_file.h"

#include "host/error.h"

extern "C" {
#include <libavutil/error.h>
}

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace dnn_torch
{
namespace
{

constexpr mode_t permissions = 0666;

// Returns the target of a symbolic link, even if it does not exist.
std::string followed(std::filesystem::path path)
{
    constexpr int most_links = 40;
    std::error_code error;
    for (int count = 0; count < most_links && std::filesystem::is_symlink(path, error); count++)
        path = path.parent_path() / std::filesystem::read_symlink(path, error);
    return path;
}

std::string folder_of(const std::string &path)
{
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

std::string link_of(const Descriptor &file)
{
    return "/proc/self/fd/" + std::to_string(file.get());
}

Descriptor open_unnamed(const std::string &folder)
{
    Descriptor file(open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, permissions));
    // Without /proc the file could not get a name later.
    return file.is_open() && access(link_of(file).c_str(), F_OK) == 0 ? std::move(file)
                                                                      : Descriptor();
}

// ---- drafts that have a name ----------------------------------------------------------

// Signals that end the program remove them.  The handler may run between any two instructions.
constexpr size_t most_drafts = 4;
std::atomic<const char *> drafts[most_drafts];
static_assert(std::atomic<const char *>::is_always_lock_free);

void remove_drafts(int number)
{
    for (const std::atomic<const char *> &draft : drafts)
        if (const char *path = draft)
            unlink(path);
    signal(number, SIG_DFL);
    raise(number);
}

// Signals that are ignored stay so.
void remove_drafts_at_signals()
{
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
        if (signal(number, remove_drafts) == SIG_IGN)
            signal(number, SIG_IGN);
}

void exchange_draft(const char *from, const char *to)
{
    for (std::atomic<const char *> &draft : drafts)
        if (const char *expected = from; draft.compare_exchange_strong(expected, to))
            return;
}

} // namespace

NewFile::NewFile(const std::string &path, Existing existing)
    : path_(followed(path)), existing_(existing)
{
    struct stat about;
    const bool is_there = stat(path_.c_str(), &about) == 0;
    if (is_there && !S_ISREG(about.st_mode))
        refuse(S_ISDIR(about.st_mode) ? EISDIR : EINVAL);
    if (is_there && existing_ == Existing::kept)
        refuse(EEXIST);
    file_ = open_unnamed(folder_of(path_));
    if (file_.is_open())
        return;
    draft_ = path_ + ".XXXXXX";
    file_ = Descriptor(mkostemp(draft_.data(), O_CLOEXEC));
    if (!file_.is_open())
        refuse(errno);
    const mode_t mask = umask(0);
    umask(mask);
    fchmod(file_.get(), permissions & ~mask);
    remember_draft();
}

NewFile::~NewFile()
{
    if (!draft_.empty())
        unlink(draft_.c_str());
    forget_draft();
}

void NewFile::remember_draft() const
{
    remove_drafts_at_signals();
    exchange_draft(nullptr, draft_.c_str());
}

void NewFile::forget_draft()
{
    exchange_draft(draft_.c_str(), nullptr);
    draft_.clear();
}

void NewFile::refuse(int error) const
{
    const char *const hint = error == EEXIST ? "; give another name, or --force to replace it" : "";
    throw Error(AVERROR(error), "'" + path_ + "' cannot be written: " +
                                    std::generic_category().message(error) + hint);
}

void NewFile::write(std::string_view text)
{
    while (!text.empty()) {
        const ssize_t written = ::write(file_.get(), text.data(), text.size());
        if (written < 0 && errno != EINTR)
            refuse(errno);
        text.remove_prefix(written < 0 ? 0 : static_cast<size_t>(written));
    }
}

// linkat() cannot replace a file, so the draft gets another name first.
void NewFile::name_draft()
{
    constexpr int most_names = 1000;
    const std::string unnamed = link_of(file_);
    for (int number = 0; number < most_names; number++) {
        const std::string name = path_ + "." + std::to_string(getpid() + number);
        if (linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
            draft_ = name;
            return remember_draft();
        }
        if (errno != EEXIST)
            break;
    }
    refuse(errno);
}

// File systems without RENAME_NOREPLACE get a check for an existing file instead, although another
// process might create one in between.
bool NewFile::rename_draft()
{
    const unsigned flags = existing_ == Existing::kept ? RENAME_NOREPLACE : 0;
    if (renameat2(AT_FDCWD, draft_.c_str(), AT_FDCWD, path_.c_str(), flags) == 0)
        return true;
    const bool is_unsupported = flags && (errno == EINVAL || errno == ENOSYS);
    return is_unsupported && access(path_.c_str(), F_OK) != 0 &&
           rename(draft_.c_str(), path_.c_str()) == 0;
}

void NewFile::keep()
{
    if (fsync(file_.get()) != 0)
        refuse(errno);
    if (draft_.empty())
        name_draft();
    if (!rename_draft())
        refuse(errno);
    forget_draft();
}

} // namespace dnn_torch
