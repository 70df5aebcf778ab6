// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Records: their texts, and where they go.
#include "host/error.h"
#include "host/findings/record_text.h"
#include "host/findings/records.h"

extern "C" {
#include <libavformat/avio.h>
#include <libavutil/avutil.h>
}

#include <array>
#include <clocale>
#include <fcntl.h>
#include <fstream>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace dnn_torch;
using nlohmann::json;

namespace
{

Finding thing(std::string label, Box box = {1, 2, 11, 22.5F}, int number = 0)
{
    return {.detection = {.box = box, .confidence = 0.875F, .label = number},
            .label = std::move(label)};
}

FrameFacts frame(int64_t number, int64_t pts)
{
    return {.number = number, .pts = pts, .time_base = {1, 25}, .size = {640, 360}};
}
FrameFacts frame(int64_t number)
{
    return frame(number, number);
}

Findings things(std::vector<std::string> labels)
{
    Findings found;
    for (std::string &label : labels)
        found.things.push_back(thing(std::move(label)));
    return found;
}

Findings everything()
{
    Findings found = things({"cat"});
    Finding &cat = found.things[0];
    cat.track = 3;
    cat.detection.turned = TurnedBox{6, 12.25F, 10, 20.5F, 0.5F};
    cat.detection.key_points = {{1.126F, 2, 0.5F}};
    cat.classes = {{"tabby", 0.25F}};
    found.classes = {{"indoors", 1}};
    return found;
}

// ---- texts ----------------------------------------------------------------------

TEST(JsonLines, HaveAnObjectForEachFrame)
{
    auto text = make_jsonl_text();
    const std::string line = text->record(frame(4, 5), everything());
    EXPECT_EQ(line, R"({"frame":4,"pts":5,"time":0.2,"width":640,"height":360,"things":[)"
                    R"({"label":"cat","class":0,"confidence":0.875,"box":[1.0,2.0,10.0,20.5],)"
                    R"("track":3,"turned":[6.0,12.25,10.0,20.5],"angle":28.65,)"
                    R"("key_points":[[1.13,2.0,0.5]],)"
                    R"("classes":[{"label":"tabby","confidence":0.25}]}],)"
                    R"("classes":[{"label":"indoors","confidence":1.0}]})"
                    "\n");
    const json empty = json::parse(text->record(frame(5, AV_NOPTS_VALUE), {}));
    EXPECT_TRUE(empty["pts"].is_null());
    EXPECT_TRUE(empty["time"].is_null());
    EXPECT_TRUE(empty["things"].empty());
}

// A classifier knows boxes from side data, which has no numbers of classes.
TEST(Texts, LeaveOutNumbersThatAreNotKnown)
{
    Findings found = {.things = {thing("dog", {1, 2, 3, 4}, -1)}, .classes = {{"indoors", 0.5F}}};
    found.things[0].classes = {{"terrier", 0.25F}};
    const json line = json::parse(make_jsonl_text()->record(frame(0), found));
    EXPECT_TRUE(line["things"][0]["class"].is_null());
    EXPECT_NE(make_csv_text()->record(frame(0), found).find(",dog,,0.8750,"), std::string::npos);
    auto coco_text = make_coco_text();
    std::string text = coco_text->begin();
    text += coco_text->record(frame(0), found);
    const json coco = json::parse(text + coco_text->end());
    ASSERT_EQ(coco["annotations"].size(), 2U);
    EXPECT_EQ(coco["annotations"][0]["bbox"], json({0.0, 0.0, 640.0, 360.0}));
    EXPECT_EQ(coco["annotations"][0]["score"], 0.5);
    EXPECT_EQ(coco["annotations"][1]["classes"][0]["label"], "terrier");
    EXPECT_EQ(coco["categories"],
              json::parse(R"([{"id":0,"name":"indoors"},{"id":1,"name":"dog"}])"));
}

TEST(JsonLines, TakeAnyLabel)
{
    const std::string line =
        make_jsonl_text()->record(frame(0), things({"a\"\n\x01\xFF", "\xC3\xA4"}));
    EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
    EXPECT_EQ(json::parse(line)["things"][1]["label"], "\xC3\xA4");
}

TEST(Csv, QuotesFields)
{
    auto text = make_csv_text();
    const std::string head = text->begin();
    EXPECT_EQ(text->record(frame(0), {}), "");
    EXPECT_EQ(text->record(frame(2, 50), things({"a \"b\", c"})),
              "2,50,2.000000,640,360,\"a \"\"b\"\", c\",0,0.8750,1.00,2.00,10.00,20.50,,,,,,,,\n");
    EXPECT_EQ(text->record(frame(3, AV_NOPTS_VALUE), things({"x\ny"})),
              "3,,,640,360,\"x\ny\",0,0.8750,1.00,2.00,10.00,20.50,,,,,,,,\n");
    const std::string rows = text->record(frame(4), everything());
    std::istringstream lines(head + rows);
    for (std::string line; std::getline(lines, line);)
        EXPECT_EQ(std::count(line.begin(), line.end(), ','), 19) << line;
    EXPECT_NE(rows.find(",cat,0,0.8750,1.00,2.00,10.00,20.50,3,6.00,12.25,10.00,20.50,28.65,"
                        "1.13 2.00 0.5000,tabby 0.2500\n"),
              std::string::npos);
    EXPECT_NE(rows.find(",indoors 1.0000\n"), std::string::npos);
}

TEST(Csv, GivesSpreadsheetsNoFormula)
{
    auto text = make_csv_text();
    const auto row_of = [&](const char *label) { return text->record(frame(0), things({label})); };
    for (const char *label : {"=cmd|'/C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"})
        EXPECT_NE(row_of(label).find(std::string(",\"'") + label + "\","), std::string::npos)
            << label;
    EXPECT_NE(row_of("=\"a\"").find(",\"'=\"\"a\"\"\","), std::string::npos);
    for (const char *label : {"a;=1", "a\t=1"}) // other programs part fields there
        EXPECT_NE(row_of(label).find(std::string(",\"") + label + "\","), std::string::npos)
            << label;
    EXPECT_NE(row_of("a=1").find(",a=1,"), std::string::npos);
    Findings found = things({"x"});
    found.things[0].classes = {{"=1", 0.5F}, {"=2", 0.25F}};
    found.classes = {{"-1", 1.0F}};
    const std::string rows = text->record(frame(0), found);
    EXPECT_NE(rows.find(",\"'=1 0.5000;=2 0.2500\"\n"), std::string::npos) << rows;
    EXPECT_NE(rows.find(",\"'-1 1.0000\"\n"), std::string::npos) << rows;
}

TEST(Csv, DoesNotDependOnTheLocale)
{
    for (const char *name : {"de_DE.UTF-8", "fr_FR.UTF-8", "C"})
        if (setlocale(LC_NUMERIC, name))
            break;
    EXPECT_NE(make_csv_text()->record(frame(0), things({"x"})).find(",0.8750,"), std::string::npos);
    setlocale(LC_NUMERIC, "C");
}

std::string coco_of(const std::vector<std::pair<FrameFacts, Findings>> &frames)
{
    auto text = make_coco_text();
    std::string all = text->begin();
    for (const auto &[facts, found] : frames)
        all += text->record(facts, found);
    return all + text->end();
}

TEST(Coco, IsClosedWhateverCame)
{
    const json none = json::parse(coco_of({}));
    EXPECT_TRUE(none["annotations"].empty() && none["images"].empty());
    EXPECT_TRUE(none["categories"].empty());
    const json one = json::parse(coco_of({{frame(0), {}}}));
    EXPECT_TRUE(one["annotations"].empty());
    EXPECT_EQ(one["images"][0]["file_name"], "frame000000.png");
}

TEST(Coco, HasImagesAnnotationsAndCategories)
{
    Findings second = {.things = {thing("dog", {0, 0, 4, 5}, 16), thing("cat", {0, 0, 1, 1}, 17)},
                       .classes = {}};
    second.things[0].track = 9;
    second.things[0].detection.key_points = {{1, 2, 0.5F}, {3, 4, 0}};
    const json coco =
        json::parse(coco_of({{frame(0, 10), second}, {frame(1, 12), things({"cat"})}}));
    ASSERT_EQ(coco["annotations"].size(), 3U);
    const json &dog = coco["annotations"][0];
    EXPECT_EQ(dog["id"], 1);
    EXPECT_EQ(dog["image_id"], 0);
    EXPECT_EQ(dog["category_id"], 16);
    EXPECT_EQ(dog["bbox"], json({0.0, 0.0, 4.0, 5.0}));
    EXPECT_EQ(dog["area"], 20.0);
    EXPECT_EQ(dog["score"], 0.875);
    EXPECT_EQ(dog["track_id"], 9);
    EXPECT_EQ(dog["keypoints"], json({1.0, 2.0, 2, 3.0, 4.0, 0}));
    EXPECT_EQ(dog["num_keypoints"], 1);
    EXPECT_EQ(coco["annotations"][2]["category_id"], 17); // as the label had it first
    EXPECT_EQ(coco["categories"],
              json::parse(R"([{"id":16,"name":"dog"},{"id":17,"name":"cat"}])"));
    EXPECT_EQ(coco["images"][1]["pts"], 12);
    EXPECT_EQ(coco["images"][1]["time"], 0.48);
}

TEST(Coco, LabelsOfOneNumberAreTwoCategories)
{
    Findings found = {.things = {thing("old", {}, 4), thing("new", {}, 4)}, .classes = {}};
    EXPECT_EQ(json::parse(coco_of({{frame(0), found}}))["categories"],
              json::parse(R"([{"id":4,"name":"old"},{"id":5,"name":"new"}])"));
}

TEST(Coco, KnowsEachFrameThoughItKeepsRows)
{
    std::vector<std::pair<FrameFacts, Findings>> frames;
    std::vector<int64_t> times = {
        0, 2, 4, 7, 8, INT64_MIN + 1, INT64_MAX, AV_NOPTS_VALUE, AV_NOPTS_VALUE, 3};
    for (size_t i = 0; i < times.size(); i++) {
        frames.push_back({frame(static_cast<int64_t>(i), times[i]), {}});
        frames.back().first.size.width = i < 2 ? 640 : 320;
    }
    const json images = json::parse(coco_of(frames))["images"];
    ASSERT_EQ(images.size(), times.size());
    for (size_t i = 0; i < times.size(); i++) {
        EXPECT_EQ(images[i]["id"], i);
        EXPECT_EQ(images[i]["width"], i < 2 ? 640 : 320);
        EXPECT_EQ(images[i]["pts"].is_null(), times[i] == AV_NOPTS_VALUE);
        if (times[i] != AV_NOPTS_VALUE) {
            EXPECT_EQ(images[i]["pts"], times[i]);
        }
    }
}

TEST(Srt, JoinsFramesOfOneText)
{
    auto text = make_srt_text();
    EXPECT_EQ(text->record(frame(0), things({"dog", "cat", "cat"})), "");
    EXPECT_EQ(text->record(frame(1), things({"cat", "cat", "dog"})), "");
    EXPECT_EQ(text->record(frame(2, 25), {}), "1\n00:00:00,000 --> 00:00:01,000\ncat (2)\ndog\n\n");
    EXPECT_EQ(text->record(frame(3, 26), {}), "");
    EXPECT_EQ(text->record(frame(4, 25 * 3600), things({"late"})), "");
    EXPECT_EQ(text->record(frame(5, 25 * 3600 + 1), things({"late"})), "");
    EXPECT_EQ(text->end(), "2\n01:00:00,000 --> 01:00:00,080\nlate\n\n");
    EXPECT_EQ(text->end(), "");
}

TEST(Srt, SaysNothingOfFramesThatTheTimelineExcludes)
{
    auto text = make_srt_text();
    text->record(frame(0), things({"cat"}));
    text->record(frame(1), things({"cat"}));
    EXPECT_EQ(text->record(frame(50), things({"cat"})),
              "1\n00:00:00,000 --> 00:00:00,080\ncat\n\n");
    EXPECT_EQ(text->end(), "2\n00:00:02,000 --> 00:00:02,040\ncat\n\n");
}

TEST(Srt, HasNoEmptyLinesAndNoMoreThanCanBeRead)
{
    auto text = make_srt_text();
    std::vector<std::string> labels = {"a\n\nb\r"};
    for (int i = 10; i < 40; i++)
        labels.push_back("label " + std::to_string(i));
    text->record(frame(0, AV_NOPTS_VALUE), things(labels));
    const std::string all = text->end();
    EXPECT_EQ(all.find("\n\n"), all.size() - 2);
    EXPECT_NE(all.find("a  b \n"), std::string::npos);
    EXPECT_NE(all.find("\nand 11 more\n"), std::string::npos);
}

TEST(Srt, SurvivesTimesThatGoBack)
{
    auto text = make_srt_text();
    text->record(frame(0, 100), things({"a"}));
    EXPECT_EQ(text->record(frame(1, 50), things({"a"})), "1\n00:00:04,000 --> 00:00:04,000\na\n\n");
    EXPECT_EQ(text->record(frame(2, -50), {}), "2\n00:00:02,000 --> 00:00:02,000\na\n\n");
}

TEST(Formats, FollowTheEnding)
{
    EXPECT_EQ(format_for("a.CSV"), RecordFormat::csv);
    EXPECT_EQ(format_for("a.json"), RecordFormat::coco);
    EXPECT_EQ(format_for("a.srt"), RecordFormat::srt);
    for (const char *name : {"a.jsonl", "-", "tcp://localhost:1", "", "csv"})
        EXPECT_EQ(format_for(name), RecordFormat::jsonl) << name;
}

// ---- destinations ---------------------------------------------------------------

// An FFmpeg that somebody built may have no network.
bool has_network()
{
    return avio_find_protocol_name("tcp:") != nullptr;
}

class Records : public testing::Test
{
protected:
    ~Records() override { unlink(path.c_str()); }

    std::string content() const
    {
        std::stringstream text;
        text << std::ifstream(path).rdbuf();
        return text.str();
    }
    std::string fault(const std::string &name)
    {
        try {
            auto sink = open_records(name, RecordFormat::jsonl);
            for (int i = 0; i < 10; i++)
                sink->write(frame(i), everything());
        } catch (const Error &error) {
            EXPECT_EQ(std::string(error.what()).rfind("destination=" + name, 0), 0U);
            return error.what();
        }
        return "";
    }

    // Each test has another name: a process goes on with files that it wrote.
    const std::string path = testing::TempDir() + "dnn_torch_records_" + std::to_string(getpid()) +
                             testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(Records, AreThereAtOnce)
{
    std::ofstream(path) << "what stood there before";
    auto sink = open_records(path, RecordFormat::csv);
    sink->write(frame(0), things({"x"}));
    const std::string text = content();
    EXPECT_EQ(text.rfind("frame,pts,", 0), 0U);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
    sink->end();
    EXPECT_EQ(content(), text);
}

TEST_F(Records, AreCompleteThoughNobodyEndsThem)
{
    auto sink = open_records(path, RecordFormat::coco);
    sink->write(frame(0), things({"x"}));
    sink.reset();
    EXPECT_EQ(json::parse(content())["annotations"].size(), 1U);
}

class GoOn : public Records, public testing::WithParamInterface<bool>
{
};

TEST_P(GoOn, WhereTheGraphIsMadeAnew)
{
    for (const RecordFormat format : {RecordFormat::jsonl, RecordFormat::csv, RecordFormat::coco}) {
        const std::string name = testing::TempDir() + "dnn_torch_go_on_" +
                                 std::to_string(getpid()) + (GetParam() ? "_ended_" : "_") +
                                 std::to_string(static_cast<int>(format));
        for (int graph = 0; graph < 3; graph++) {
            auto sink = open_records(name, format);
            sink->write(frame(0), things({"x"}));
            sink->write(frame(1), {});
            if (GetParam())
                sink->end();
        }
        std::ifstream file(name);
        std::stringstream text;
        text << file.rdbuf();
        if (format == RecordFormat::coco) {
            const json coco = json::parse(text.str());
            EXPECT_EQ(coco["annotations"].size(), 3U);
            EXPECT_EQ(coco["images"].size(), 6U);
            EXPECT_EQ(coco["images"][5]["id"], 5);
        } else {
            const std::string all = text.str();
            EXPECT_EQ(std::count(all.begin(), all.end(), '\n'),
                      format == RecordFormat::csv ? 4 : 6);
        }
        unlink(name.c_str());
    }
}

INSTANTIATE_TEST_SUITE_P(EndedOrNot, GoOn, testing::Bool());

TEST_F(Records, BeginAnewIfTheFileWasTakenAway)
{
    open_records(path, RecordFormat::csv)->write(frame(0), things({"x"}));
    unlink(path.c_str());
    open_records(path, RecordFormat::csv)->write(frame(0), things({"x"}));
    EXPECT_EQ(content().rfind("frame,pts,", 0), 0U);
}

TEST_F(Records, HaveOneWriter)
{
    auto sink = open_records(path, RecordFormat::jsonl);
    EXPECT_NE(fault(path).find("another filter"), std::string::npos);
    sink.reset();
    EXPECT_EQ(fault(path), "");
}

TEST_F(Records, ThatCannotBeWrittenAreOneLine)
{
    EXPECT_NE(fault("/nowhere/at/all.jsonl").find("No such file"), std::string::npos);
    EXPECT_NE(fault("/").find("directory"), std::string::npos);
    EXPECT_NE(fault("/dev/full").find("No space left"), std::string::npos);
    EXPECT_NE(fault("nonsense://x").find("Protocol not found"), std::string::npos);
    if (has_network()) {
        EXPECT_NE(fault("tcp://127.0.0.1:1").find("refused"), std::string::npos);
    }
    EXPECT_NE(fault("pipe:999").find("Bad file descriptor"), std::string::npos);
}

// Reads what comes until the other side closes.
std::string read_all(int descriptor)
{
    std::string all;
    std::array<char, 4096> piece;
    for (ssize_t size; (size = read(descriptor, piece.data(), piece.size())) > 0;)
        all.append(piece.data(), static_cast<size_t>(size));
    return all;
}

TEST_F(Records, GoToAPipe)
{
    ASSERT_EQ(mkfifo(path.c_str(), S_IRUSR | S_IWUSR), 0);
    const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK);
    auto sink = open_records(path, RecordFormat::jsonl);
    sink->write(frame(0), things({"x"}));
    sink->end();
    fcntl(reader, F_SETFL, 0);
    EXPECT_EQ(json::parse(read_all(reader))["things"].size(), 1U);
    close(reader);
}

TEST_F(Records, APipeWhoseReaderHasGoneIsNoSignal)
{
    ASSERT_EQ(mkfifo(path.c_str(), S_IRUSR | S_IWUSR), 0);
    const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK);
    auto sink = open_records(path, RecordFormat::jsonl);
    close(reader);
    EXPECT_THROW(sink->write(frame(0), {}), Error);
}

TEST_F(Records, AReaderThatDoesNotReadIsNotWaitedForAtTheEnd)
{
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    auto sink = open_records("pipe:" + std::to_string(ends[1]), RecordFormat::srt);
    sink->write(frame(0), things({"x"}));
    const std::string filling(1 << 20, 'x');
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    while (write(ends[1], filling.data(), filling.size()) > 0)
        ;
    const time_t before = time(nullptr);
    sink.reset(); // would write the subtitle
    EXPECT_LT(time(nullptr) - before, 10);
    close(ends[0]);
    close(ends[1]);
}

TEST_F(Records, GoToAnAddress)
{
    if (!has_network())
        GTEST_SKIP() << "this FFmpeg has no network";
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr *>(&address), size), 0);
    ASSERT_EQ(listen(listener, 1), 0);
    ASSERT_EQ(getsockname(listener, reinterpret_cast<sockaddr *>(&address), &size), 0);
    auto sink = open_records("tcp://127.0.0.1:" + std::to_string(ntohs(address.sin_port)),
                             RecordFormat::jsonl);
    const int reader = accept(listener, nullptr, nullptr);
    sink->write(frame(0), things({"x"}));
    std::array<char, 4096> piece;
    EXPECT_GT(read(reader, piece.data(), piece.size()), 0); // before the end
    sink->write(frame(1), {});
    sink->end();
    EXPECT_EQ(json::parse(read_all(reader))["frame"], 1);
    close(reader);
    close(listener);
}

} // namespace
