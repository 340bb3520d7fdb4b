// The parts of which files are made: archives, files that come into being whole, curves, texts.

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "casefile/archive.hpp"
#include "casefile/curves.hpp"
#include "casefile/escape.hpp"
#include "casefile/output_file.hpp"
#include "casefile/svg.hpp"
#include "tests/casefile/unpacked.hpp"

namespace hindsight::casefile::testing {
namespace {

TEST(EvidenceArchive, HoldsWhatWasPutInAndNothingOfWhenOrByWhom) {
  const test::TemporaryFolder folder;
  std::ofstream(folder.file("large"), std::ios::binary) << std::string(3'000'000, 'z');
  std::vector<std::string> bytes;
  for (const char* name : {"a.tar.gz", "b.tar.gz"}) {
    const events::Descriptor file(::open(folder.file(name).c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
    auto archive = Archive::open(file.get(), "top", Time::from_seconds(1'767'225'600));
    ASSERT_TRUE(archive) << archive.error().message;
    ASSERT_TRUE(archive->add("README.md", "read me"));
    ASSERT_TRUE(archive->add("empty", ""));
    ASSERT_TRUE(archive->add_file("large", folder.file("large")));
    ASSERT_TRUE(archive->finish());
    bytes.push_back(bytes_of(folder.file(name)));
    std::filesystem::last_write_time(folder.file("large"), std::filesystem::file_time_type::clock::now() - std::chrono::hours(5));
  }
  EXPECT_EQ(bytes[0], bytes[1]);
  EXPECT_EQ(bytes[0].substr(0, 4), std::string("\x1f\x8b\x08\x00", 4)) << "no name in the header";
  EXPECT_EQ(bytes[0].substr(4, 4), std::string(4, '\0')) << "no time in the header";
  const Unpacked back(folder.file("a.tar.gz"));
  EXPECT_EQ(back.folder, "top");
  EXPECT_EQ(back.order, (std::vector<std::string>{"README.md", "empty", "large"}));
  EXPECT_EQ(back.files.at("README.md"), "read me");
  EXPECT_EQ(back.files.at("empty"), "");
  EXPECT_EQ(back.files.at("large"), std::string(3'000'000, 'z'));
}

TEST(EvidenceArchive, TellsOfAnOutputThatTakesNoMore) {
  const events::Descriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(full);
  auto archive = Archive::open(full.get(), "top", Time::from_seconds(1));
  ASSERT_TRUE(archive) << archive.error().message;
  Result<void> done = archive->add("a", std::string(100'000, 'a'));
  if (done) done = archive->finish();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::io);
  EXPECT_NE(done.error().message.find("could not be written"), std::string::npos) << done.error().message;
}

TEST(EvidenceOutputFile, IsThereWholeOrNotAtAll) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("out");
  const auto names = [&] {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) out.push_back(entry.path().filename().string());
    return out;
  };
  {
    auto file = OutputFile::create(path, false);
    ASSERT_TRUE(file) << file.error().message;
    ASSERT_EQ(::write(file->descriptor(), "half", 4), 4);
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  EXPECT_TRUE(names().empty()) << "what was given up leaves nothing";
  {
    auto file = OutputFile::create(path, false);
    ASSERT_TRUE(file);
    ASSERT_EQ(::write(file->descriptor(), "whole", 5), 5);
    ASSERT_TRUE(file->finish());
  }
  EXPECT_EQ(bytes_of(path), "whole");
  EXPECT_EQ(names(), std::vector<std::string>{"out"});
  // Somebody else makes it meanwhile.
  std::filesystem::remove(path);
  auto late = OutputFile::create(path, false);
  ASSERT_TRUE(late);
  std::ofstream(path) << "theirs";
  const auto refused = late->finish();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::conflict);
  EXPECT_EQ(bytes_of(path), "theirs");
}

TEST(EvidenceOutputFile, LeavesNothingWhereItsProcessIsToldToEnd) {
  const test::TemporaryFolder folder;
  auto file = OutputFile::create(folder.file("out"), false);
  ASSERT_TRUE(file);
  auto beside = TemporaryFolder::create();
  ASSERT_TRUE(beside) << beside.error().message;
  std::ofstream(beside->file("large")) << "half";
  remove_unfinished();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  EXPECT_FALSE(std::filesystem::exists(beside->file("large")));
}

/// What a process leaves that was killed is removed by the next one, and nothing that is in use, or is anybody else's.
TEST(EvidenceOutputFile, RemovesWhatAKilledProcessHasLeft) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("out.tar.gz");
  const auto put = [&](const std::string& name) {
    std::ofstream(folder.file(name)) << "half";
    return folder.file(name);
  };
  const auto left = put("out.tar.gz.unfinished-aB3dE6"), used = put("out.tar.gz.unfinished-inUse1");
  const auto backup = put("out.tar.gz.backup"), other = put("other.tar.gz.unfinished-aB3dE6"),
             longer = put("out.tar.gz.unfinished-aB3dE67");
  std::filesystem::create_directory(folder.file("out.tar.gz.unfinished-folder"));
  std::filesystem::create_symlink(backup, folder.file("out.tar.gz.unfinished-aLink1"));
  const events::Descriptor user(::open(used.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::flock(user.get(), LOCK_EX | LOCK_NB), 0);
  {
    const auto file = OutputFile::create(path, false);
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_FALSE(std::filesystem::exists(left));
    const auto second = OutputFile::create(path, false);
    ASSERT_TRUE(second) << "beside one that is being written";
    EXPECT_EQ(std::ranges::distance(std::filesystem::directory_iterator(folder.path())), 8);
  }
  for (const auto& stays : {used, backup, other, longer, folder.file("out.tar.gz.unfinished-folder")})
    EXPECT_TRUE(std::filesystem::exists(stays)) << stays;
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("out.tar.gz.unfinished-aLink1")));
}

TEST(EvidenceSteps, KeepWhatChangesAndOfTooManyTheExtremes) {
  Steps steps;
  steps.put(Time::from_seconds(1), 5);
  steps.put(Time::from_seconds(2), 5);
  steps.put(Time::from_seconds(3), 7);
  steps.put(Time::from_seconds(3), 5);
  EXPECT_EQ(steps.all(), (std::vector<Steps::Step>{{Time::from_seconds(1), 5}})) << "of one moment the last value counts";
  EXPECT_FALSE(steps.thinned());
  Steps many;
  for (int i = 0; i < 100'000; ++i) many.put(Time::from_seconds(i), i == 77'777 ? 1'000 : i % 2);
  EXPECT_TRUE(many.thinned());
  EXPECT_LE(many.all().size(), Steps::most);
  const auto& all = many.all();
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.from < b.from; }));
  EXPECT_EQ(std::count_if(all.begin(), all.end(), [](const auto& s) { return s.value == 1'000; }), 1) << "a peak is never lost";
  EXPECT_EQ(all.front().from, Time::from_seconds(0));
  EXPECT_EQ(all.back().from, Time::from_seconds(99'999));
}

TEST(EvidencePictures, AreWellFormedWhateverTheValues) {
  Plot plot{"title <&>", "cpu", {}};
  Curve& curve = plot.curves.emplace_back(Curve{Curve::Kind::queue, "name \"x\"", {}});
  for (const Amount value : {Amount{0}, unlimited, Amount{-1}, unlimited - 1, Amount{3}, amount_min})
    curve.steps.put(Time::from_seconds(static_cast<std::int64_t>(curve.steps.all().size())), value);
  projections::Life life;
  life.spans.resize(5'000);
  for (std::size_t i = 0; i < life.spans.size(); ++i) {
    auto& span = life.spans[i];
    span.kind = i % 2 == 0 ? projections::LifeSpan::Kind::quota : projections::LifeSpan::Kind::running;
    span.words = "for <quota> & more";
    span.from = Time{static_cast<std::int64_t>(i) * 1'000};
    span.to = Time{static_cast<std::int64_t>(i + 1) * 1'000 - (i == 4'000 ? 500 : 0)};
  }
  for (const auto& frame :
       {Frame{Time::from_seconds(0), Time::from_seconds(5), &life}, Frame{Time::from_seconds(3), Time::from_seconds(3), nullptr},
        Frame{Time{0}, Time{std::numeric_limits<std::int64_t>::max()}, &life}}) {
    const std::string picture = plot_picture(plot, frame), strip = life_picture(frame);
    EXPECT_EQ(markup_fault(picture), "");
    EXPECT_EQ(markup_fault(strip), "");
    EXPECT_LT(strip.size(), 500'000U) << "more stretches than columns are not drawn";
    EXPECT_EQ(picture, plot_picture(plot, frame));
  }
}

TEST(EvidenceTexts, AreEscapedForWhatTheyStandIn) {
  EXPECT_EQ(html("a<b>&\"'\n\x1b"), "a&lt;b&gt;&amp;&quot;&#39;\\n\\x1b");
  EXPECT_EQ(html_lines("a\nb<"), "a\nb&lt;");
  EXPECT_EQ(html_cut("gr\xc3\xbc\xc3\x9f", 3), "gr … (4 bytes more)") << "no character is cut in two";
  EXPECT_EQ(markdown_code("a `b` c"), "`a 'b' c`");
  EXPECT_EQ(shell_word("job/team-a/train"), "job/team-a/train");
  // Whatever it is, a shell takes it for this one word.
  for (const std::string text : {"a b", "$(reboot)", "it's; rm -rf", "\"", "", "*", "-n"}) {
    FILE* pipe = ::popen(("printf %s " + shell_word(text)).c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    std::array<char, 100> said{};
    const auto n = std::fread(said.data(), 1, said.size(), pipe);
    ::pclose(pipe);
    EXPECT_EQ(std::string(said.data(), n), text);
  }
}

}  // namespace
}  // namespace hindsight::casefile::testing
