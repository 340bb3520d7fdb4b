// Files of evidence: manifests, and lines of any length.

#include "evidence/files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/evidence/made_evidence.hpp"

namespace hindsight::evidence {
namespace {

std::string why_manifest(std::string_view text) {
  const auto manifest = read_manifest(text);
  return manifest ? "taken" : manifest.error().message;
}

std::string wrapped(const std::string& files) { return R"({"format":"hindsight-evidence","version":1,"files":{)" + files + "}}"; }

const std::string zeros(64, '0');

TEST(EvidenceManifest, NamesFilesWithSizeAndHash) {
  const auto manifest = read_manifest(wrapped(R"("a.txt":{"bytes":3,"sha256":")" + zeros + "\"}"));
  ASSERT_TRUE(manifest) << manifest.error().message;
  EXPECT_EQ(manifest->at("a.txt"), (FileEntry{3, Digest{}}));
}

TEST(EvidenceManifest, WhatIsNoneIsRefusedWithWhatIsAllowed) {
  const std::string entry = R"({"bytes":3,"sha256":")" + zeros + "\"}";
  const std::vector<std::pair<std::string, std::string>> bad{
      {"", "no JSON object"},
      {"[]", "no JSON object"},
      {"{}", "field \"format\" is missing or another; allowed: \"hindsight-evidence\""},
      {R"({"format":"hindsight-evidence"})", "field \"version\" is missing or no number; allowed: 1"},
      {R"({"format":"hindsight-evidence","version":0})", "field \"version\""},
      {R"({"format":"hindsight-evidence","version":2,"files":{}})", "its version is 2, written by a newer release"},
      {R"({"format":"hindsight-evidence","version":1})", "field \"files\" is missing"},
      {wrapped("\"../a\":" + entry), "files[\"../a\"]: is no name of a file"},
      {wrapped("\"/etc/passwd\":" + entry), "is no name of a file"},
      {wrapped("\"..\":" + entry), "is no name of a file"},
      {wrapped("\"\":" + entry), "is no name of a file"},
      {wrapped("\"a\\u001b[2J\":" + entry), "is no name of a file"},
      {wrapped("\"" + std::string(256, 'a') + "\":" + entry), "is no name of a file"},
      {wrapped("\"a\":7"), "allowed: an object with the number \"bytes\" and the text \"sha256\""},
      {wrapped(R"("a":{"bytes":-3,"sha256":"")" + std::string("}")), "allowed: an object with the number"},
      {wrapped(R"("a":{"bytes":3,"sha256":"12"})"), "sha256: is no hash"},
      {R"({"format":"hindsight-evidence","version":1,"files":{},"x":[[[[[[[[[1]]]]]]]]]})", "nested deeper than 8"},
      {std::string(200'000, '['), "nested deeper than 8"},
      {wrapped("") + std::string(manifest_bytes_max, ' '), "more than 1048576 bytes"}};
  for (const auto& [text, part] : bad)
    EXPECT_NE(why_manifest(text).find(part), std::string::npos) << text.substr(0, 100) << ": " << why_manifest(text);
  EXPECT_EQ(why_manifest(wrapped("\"" + std::string(255, 'a') + "\":" + entry)), "taken");
}

TEST(EvidenceFiles, AreComparedWithTheirManifest) {
  const auto key = test::made_key();
  const test::MadeLog log(&key);
  const test::MadeFolder folder(log.lines(0, 20, {3}), log.checkpoints);
  std::vector<std::string> beside;
  EXPECT_EQ(compare_with_manifest(folder.path(), beside).value(), std::vector<std::string>{});
  EXPECT_TRUE(beside.empty());

  test::write_file(folder.file("more.txt"), "x");
  test::write_file(folder.file("notes.txt"), "what it is About\n");
  auto wrong = compare_with_manifest(folder.path(), beside).value();
  ASSERT_EQ(wrong.size(), 1U);
  EXPECT_NE(wrong[0].find("file \"notes.txt\" is not the one that the manifest names"), std::string::npos) << wrong[0];
  EXPECT_EQ(beside, std::vector<std::string>{"more.txt"});

  test::write_file(folder.file("notes.txt"), "longer than it was\n");
  wrong = compare_with_manifest(folder.path(), beside).value();
  EXPECT_NE(wrong[0].find("has 19 bytes, the manifest says 17"), std::string::npos) << wrong[0];

  std::filesystem::remove(folder.file("notes.txt"));
  wrong = compare_with_manifest(folder.path(), beside).value();
  EXPECT_NE(wrong[0].find("no such file"), std::string::npos) << wrong[0];

  folder.pack({"records.jsonl"});
  wrong = compare_with_manifest(folder.path(), beside).value();
  EXPECT_NE(wrong[0].find("does not name checkpoints.jsonl"), std::string::npos) << wrong[0];

  std::filesystem::remove(folder.file("manifest.json"));
  const auto none = compare_with_manifest(folder.path(), beside);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::not_found);
}

/// A link could lead to a device without an end, and a pipe to a writer that never comes.
TEST(EvidenceFiles, OnlyRegularFilesAreOpened) {
  const test::TemporaryFolder folder;
  std::filesystem::create_symlink("/dev/zero", folder.file("link"));
  ASSERT_EQ(::mkfifo(folder.file("pipe").c_str(), 0600), 0);
  for (const char* name : {"link", "pipe"}) {
    const auto found = measure(folder.file(name));
    ASSERT_FALSE(found) << name;
    EXPECT_EQ(found.error().kind, ErrorKind::invalid);
    EXPECT_NE(found.error().message.find("is no regular file; allowed: a file, and no link"), std::string::npos) << found.error().message;
    EXPECT_FALSE(LineReader::open(folder.file(name))) << name;
  }
}

TEST(EvidenceFiles, LinesOfAnyLengthUpToTheBound) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("lines");
  const auto lines = [&](const std::string& text) {
    test::write_file(path, text);
    auto reader = LineReader::open(path).value();
    std::vector<std::size_t> out;
    std::string line;
    while (reader.next(line).value()) out.push_back(line.size());
    return out;
  };
  using Sizes = std::vector<std::size_t>;
  EXPECT_EQ(lines(""), Sizes{});
  EXPECT_EQ(lines("\n"), Sizes{0});
  EXPECT_EQ(lines("a\n\nbc"), (Sizes{1, 0, 2}));
  EXPECT_EQ(lines(std::string(65'536, 'x') + "\n" + std::string(65'535, 'y') + "\n"), (Sizes{65'536, 65'535}));

  test::write_file(path, "a\n" + std::string(line_bytes_max, 'x') + "\n" + std::string(line_bytes_max + 1, 'x') + "\n");
  auto reader = LineReader::open(path).value();
  std::string line;
  EXPECT_TRUE(reader.next(line).value());
  EXPECT_TRUE(reader.next(line).value());
  EXPECT_EQ(line.size(), line_bytes_max);
  const auto third = reader.next(line);
  ASSERT_FALSE(third);
  EXPECT_NE(third.error().message.find("lines:3: the line has more than 104857600 bytes"), std::string::npos) << third.error().message;
}

}  // namespace
}  // namespace hindsight::evidence
