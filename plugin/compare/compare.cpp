// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
// dnn-torch compare: runs models on a few frames of a clip, and writes a page that shows the
// results side by side.  ffmpeg does the work in processes of its own, so a model that hangs or
// crashes costs its column alone.
#include "base/compose.h"
#include "base/terminal.h"
#include "columns.h"
#include "model_tool/model_commands.h"
#include "model_tool/new_file.h"
#include "model_tool/progress.h"
#include "options.h"
#include "page.h"
#include "programs.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>

namespace dnn_torch
{
namespace
{

std::string on_one_line(std::string text)
{
    text = printable(text);
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
    return text;
}

bool is_model(const Column &column)
{
    return column.kind == ColumnKind::model;
}

// The launcher tells its path.
std::string launcher()
{
    std::string path = text_or_empty(getenv("DNN_TORCH_LAUNCHER"));
    if (path.empty())
        throw std::runtime_error("compare is started by dnn-torch; write dnn-torch compare");
    return path;
}

std::string base_name(const std::string &path)
{
    return std::filesystem::path(path).filename().string();
}

// Returns what people call a curve of high dynamic range, or "".
std::string high_dynamic_range(std::string_view transfer)
{
    if (transfer == "smpte2084")
        return "PQ";
    return transfer == "arib-std-b67" ? "HLG" : "";
}

void warn(const std::string &words)
{
    show_progress("");
    fprintf(stderr, "dnn-torch: %s\n", words.c_str());
}

void write_in_pieces(NewFile &file, std::string_view text)
{
    constexpr size_t piece = 1 << 20;
    for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
        throw_if_interrupted();
        file.write(text.substr(0, piece));
    }
    throw_if_interrupted();
    file.keep();
}

class Compare
{
public:
    explicit Compare(const CompareOptions &options)
        : options_(options), html_(options.html),
          png_(options.png.empty() ? nullptr : std::make_unique<NewFile>(options.png)),
          programs_(launcher(), options.ffmpeg)
    {
        result_.options = options;
    }

    // Returns the exit status.
    int run()
    {
        const Cut source = cut_source();
        const std::string light = high_dynamic_range(source.transfer);
        if (!light.empty())
            warn(concat("'", on_one_line(base_name(options_.clip)), "' is HDR (", light,
                        "): the page shows its values without tone mapping, paler than a player "
                        "does; models get the values as in the filter"));
        make_columns(source);
        if (!light.empty())
            result_.columns.front().facts.emplace_back(
                "colours", concat("HDR (", light, "), shown without tone mapping"));
        show_progress("writing the page ...");
        cut_pictures(programs_, source, result_);
        write_in_pieces(html_, page_of(result_));
        show_progress("");
        print_table();
        if (png_)
            write_sheet();
        return std::any_of(result_.columns.begin(), result_.columns.end(), worked) ? 0 : 1;
    }

private:
    static bool worked(const Column &column) { return is_model(column) && column.failure.empty(); }

    // A time that the user told gives the frame that is nearest before or after it.
    Cut cut_source() const
    {
        const std::vector<double> &told = options_.at_seconds;
        const std::string &clip = options_.clip;
        if (!told.empty())
            return cut_frames(programs_, folder_, clip, told, half_frame_seconds(programs_, clip),
                              "source");
        show_progress("choosing frames ...");
        const std::vector<double> times =
            choose_times(programs_, clip, options_.frames, options_.timeout_seconds);
        return cut_frames(programs_, folder_, clip, times, time_rounding, "source");
    }

    // Other frames would give scores that mean nothing.
    Cut cut_reference(const Cut &source) const
    {
        Cut reference = cut_frames(programs_, folder_, options_.reference, source.times,
                                   time_rounding, "reference");
        for (size_t i = 0; i < source.times.size(); i++)
            if (reference.times[i] > source.times[i] + 2 * time_rounding)
                throw UsageError(concat("the reference has no frame at ",
                                        seconds_in_words(source.times[i]), ", its next one is at ",
                                        seconds_in_words(reference.times[i]),
                                        "; it must have the clip's frames, at the same times"));
        return reference;
    }

    void make_columns(const Cut &source)
    {
        ColumnMaker maker(programs_, folder_, options_, source.times.size());
        std::vector<Column> &columns = result_.columns;
        columns.push_back(maker.show(ColumnKind::source, options_.clip, source));
        if (!options_.reference.empty())
            columns.push_back(
                maker.show(ColumnKind::reference, options_.reference, cut_reference(source)));
        const size_t first = columns.size();
        for (size_t i = 0; i < options_.models.size(); i++) {
            show_progress(
                concat(i + 1, " of ", options_.models.size(), ": ", options_.models[i], " ..."));
            columns.push_back(maker.run_model(options_.models[i], source));
        }
        if (options_.by_speed)
            std::stable_sort(columns.begin() + static_cast<long>(first), columns.end(), is_before);
        if (!options_.reference.empty())
            score(maker, columns);
    }

    static void score(const ColumnMaker &maker, std::vector<Column> &columns)
    {
        show_progress("comparing with the reference ...");
        Column &reference = columns[1];
        for (Column &column : columns)
            if (column.kind != ColumnKind::reference)
                maker.score(column, reference);
        reference.facts.emplace_back("scores", "of luma, at this size; others are scaled to it");
    }

    // Failures come last.
    static bool is_before(const Column &one, const Column &other)
    {
        if (worked(one) != worked(other))
            return worked(one);
        return worked(one) && one.seconds.value_or(1e9) < other.seconds.value_or(1e9);
    }

    void write_sheet()
    {
        const std::string sheet = folder_.path("sheet.png");
        draw_sheet(programs_, folder_, result_, sheet);
        write_in_pieces(*png_, contents_of(sheet));
    }

    void print_table() const
    {
        size_t longest = 5;
        for (const Column &column : result_.columns)
            longest = std::max(longest, on_one_line(column.name()).size());
        const bool scored = !options_.reference.empty();
        printf("%-*s  %-11s%10s%10s%s\n", static_cast<int>(longest), "model", "size", "s/frame",
               "memory", scored ? "    PSNR    SSIM    VMAF" : "");
        for (const Column &column : result_.columns)
            if (is_model(column) || (scored && column.kind == ColumnKind::source))
                print_row(column, static_cast<int>(longest));
        printf("\n%s\n", on_one_line(options_.html).c_str());
    }

    void print_row(const Column &column, int longest) const
    {
        const std::string name = on_one_line(column.name());
        if (!column.failure.empty()) {
            printf("%-*s  %s\n", longest, name.c_str(), on_one_line(column.failure).c_str());
            return;
        }
        char seconds[32] = "-";
        if (column.seconds)
            snprintf(seconds, sizeof(seconds), "%.3f", *column.seconds);
        printf("%-*s  %-11s%10s%10s", longest, name.c_str(), fact(column, "size").c_str(), seconds,
               fact(column, "memory").c_str());
        if (!options_.reference.empty())
            printf("%8s%8s%8s", mean_psnr(column).c_str(), mean(column, &Scores::ssim, 4).c_str(),
                   mean(column, &Scores::vmaf, 2).c_str());
        printf("\n");
    }

    static std::string fact(const Column &column, std::string_view name)
    {
        for (const auto &[known, value] : column.facts)
            if (known == name)
                return value;
        return "-";
    }

    static std::string mean(const Column &column, std::optional<double> Scores::*member,
                            int decimals)
    {
        double sum = 0;
        for (const Scores &scores : column.scores) {
            if (!(scores.*member))
                return "-";
            sum += *(scores.*member);
        }
        return number_text(sum / static_cast<double>(column.scores.size()), decimals,
                           column.scores.empty());
    }

    // Of all frames together: an infinite PSNR of one does not hide the others.
    static std::string mean_psnr(const Column &column)
    {
        double squares = 0;
        for (const Scores &scores : column.scores)
            squares += pow(10, -scores.psnr.value_or(0) / 10);
        return number_text(-10 * log10(squares / static_cast<double>(column.scores.size())), 2,
                           column.scores.empty());
    }

    static std::string number_text(double number, int decimals, bool is_none)
    {
        char text[32];
        snprintf(text, sizeof(text), "%.*f", decimals, number);
        return is_none ? "-" : text;
    }

    const CompareOptions &options_;
    const Progress progress_{"reading the clip ..."}; // cleared before an error is printed
    NewFile html_;
    const std::unique_ptr<NewFile> png_; // null: none was requested
    const TemporaryFolder folder_;
    const Programs programs_;
    Comparison result_;
};

} // namespace

int compare(int count, char **words)
{
    const CompareOptions options = parse_compare(count, words);
    if (options.help)
        return fputs(help_of_compare().c_str(), stdout) < 0;
    int signal_number = 0;
    try {
        const SignalsAsExceptions signals;
        limit_memory();
        return Compare(options).run();
    } catch (const Interrupted &interrupted) {
        signal_number = interrupted.signal;
    }
    signal(signal_number, SIG_DFL);
    raise(signal_number);
    return 128 + signal_number;
}

} // namespace dnn_torch
