// The program hindsight-verify on files: what it says of good evidence, of altered and of hostile one, and how it ends.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/evidence/made_evidence.hpp"

namespace hindsight::test {
namespace {

struct Ended {
  int status = -1;
  std::string said;  ///< On both streams.
};

/// Runs it with at most this much memory (0: as much as it wants).
Ended run_verify(std::vector<std::string> words, std::size_t memory = 0) {
  words.insert(words.begin(), HINDSIGHT_VERIFY_BINARY);
  std::array<int, 2> pipe{};
  EXPECT_EQ(::pipe(pipe.data()), 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(pipe[1], STDOUT_FILENO);
    ::dup2(pipe[1], STDERR_FILENO);
    ::close(pipe[0]);
    ::close(pipe[1]);
    if (memory != 0) {
      const rlimit limit{memory, memory};
      ::setrlimit(RLIMIT_AS, &limit);
    }
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(pipe[1]);
  Ended out;
  std::array<char, 4096> buffer{};
  for (ssize_t n = 0; (n = ::read(pipe[0], buffer.data(), buffer.size())) > 0;) out.said.append(buffer.data(), static_cast<std::size_t>(n));
  ::close(pipe[0]);
  int status = 0;
  ::waitpid(pid, &status, 0);
  out.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return out;
}

class VerifyProgram : public ::testing::Test {
 protected:
  const evidence::SigningKey key_ = made_key();
  const MadeLog log_{&key_};
  const TemporaryFolder keys_;
  std::string key_file_;

  void SetUp() override {
    key_file_ = keys_.file("audit.pub.pem");
    write_file(key_file_, key_.public_key().pem());
  }
  [[nodiscard]] Ended on(const MadeFolder& folder, std::vector<std::string> more = {}) const {
    std::vector<std::string> words{folder.path().string(), "--public-key", key_file_};
    words.insert(words.end(), more.begin(), more.end());
    return run_verify(words);
  }
};

TEST_F(VerifyProgram, ProvesGoodEvidence) {
  const MadeFolder folder(log_.lines(5, 15, {7, 13}), log_.checkpoints);
  const auto text = on(folder);
  EXPECT_EQ(text.status, 0) << text.said;
  EXPECT_NE(text.said.find("proved: 2 included records are what they were when checkpoints of the log were signed with key " +
                           key_.public_key().id()),
            std::string::npos)
      << text.said;
  EXPECT_NE(text.said.find("not proved: 8 records are named by a hash only"), std::string::npos) << text.said;
  EXPECT_NE(text.said.find("sound: 2 records included, 8 by hash, 4 checkpoints, 3 of them reached\n"), std::string::npos) << text.said;
  const auto json = nlohmann::json::parse(on(folder, {"-o", "json"}).said);
  EXPECT_EQ(json["good"], true);
  EXPECT_EQ(json["proved"], 2);
  EXPECT_EQ(json["withheld"], 8);
  const auto loose =
      run_verify({"--records", folder.file("records.jsonl"), "--checkpoints", folder.file("checkpoints.jsonl"), "--public-key", key_file_});
  EXPECT_EQ(loose.status, 0) << loose.said;
}

TEST_F(VerifyProgram, TellsWhatIsNotProved) {
  const MadeFolder open_end(log_.lines(5, 13, {7, 12}), log_.checkpoints);
  const auto left = on(open_end);
  EXPECT_EQ(left.status, 1);
  EXPECT_NE(left.said.find("not proved: 1 included record is not covered by a checkpoint."), std::string::npos) << left.said;
  EXPECT_NE(left.said.find("NOT PROVED: "), std::string::npos) << left.said;

  const MadeLog plain(nullptr);
  const MadeFolder unsigned_(plain.lines(0, 5, {2}), plain.checkpoints);
  EXPECT_EQ(on(unsigned_).status, 1);
  const auto content = run_verify({unsigned_.path().string(), "--unsigned"});
  EXPECT_EQ(content.status, 0) << content.said;
  EXPECT_NE(content.said.find("sound, unsigned: "), std::string::npos) << content.said;
}

TEST_F(VerifyProgram, AnotherKeyProvesNothing) {
  const MadeFolder folder(log_.lines(0, 20, {7}), log_.checkpoints);
  const std::string other = keys_.file("other.pub.pem");
  write_file(other, made_key().public_key().pem());
  const auto ended = run_verify({folder.path().string(), "--public-key", other});
  EXPECT_EQ(ended.status, 1);
  EXPECT_NE(ended.said.find("NOT PROVED"), std::string::npos) << ended.said;
  EXPECT_EQ(run_verify({folder.path().string(), "--public-key", other, "--public-key", key_file_}).status, 0);
}

TEST_F(VerifyProgram, FindsWhatWasChanged) {
  auto lines = log_.lines(0, 20, {7});
  lines[7] = evidence::record_line(7, 7, log_.made[0].content());
  const MadeFolder folder(lines, log_.checkpoints);
  const auto ended = on(folder);
  EXPECT_EQ(ended.status, 1);
  EXPECT_NE(ended.said.find("wrong: records.jsonl:11: the records lead to "), std::string::npos) << ended.said;
  EXPECT_NE(ended.said.find("NOT SOUND"), std::string::npos) << ended.said;
  EXPECT_EQ(nlohmann::json::parse(on(folder, {"-o", "json"}).said)["good"], false);
  write_file(folder.file("notes.txt"), "another matter\n");
  EXPECT_NE(on(folder).said.find("wrong: file \"notes.txt\""), std::string::npos);
}

TEST_F(VerifyProgram, WrongUseIsToldWithWhatIsAllowed) {
  const MadeFolder folder(log_.lines(0, 20, {7}), log_.checkpoints);
  const std::vector<std::pair<std::vector<std::string>, std::string>> uses{
      {{}, "found no evidence; allowed: FOLDER, or --records with --checkpoints"},
      {{folder.path().string()}, "found no --public-key; allowed: at least one, or --unsigned"},
      {{folder.path().string(), "--public-key", folder.file("notes.txt")}, "found no public key in PEM"},
      {{folder.path().string(), "--public-key", keys_.file("none")}, "No such file"},
      {{keys_.path().string(), "--public-key", key_file_}, "manifest.json: no such file"},
      {{"/nowhere", "--public-key", key_file_}, "manifest.json: no such file"},
      {{folder.path().string(), "--no-such"}, "--no-such"}};
  for (const auto& [words, part] : uses) {
    const auto ended = run_verify(words);
    EXPECT_EQ(ended.status, 2) << ended.said;
    EXPECT_NE(ended.said.find(part), std::string::npos) << ended.said;
  }
  EXPECT_EQ(run_verify({"--help"}).status, 0);
}

/// What hostile evidence costs is bounded: memory, and what a terminal would obey.
TEST_F(VerifyProgram, HostileEvidenceEndsInAMessage) {
  const auto ends = [&](const std::string& records, const std::string& checkpoints, const std::string& part) {
    const MadeFolder folder({}, {});
    write_file(folder.file("records.jsonl"), records);
    write_file(folder.file("checkpoints.jsonl"), checkpoints);
    folder.pack({"records.jsonl", "checkpoints.jsonl"});
    const auto ended = on(folder);
    EXPECT_EQ(ended.status, 1) << ended.said;
    EXPECT_NE(ended.said.find(part), std::string::npos) << ended.said;
    EXPECT_EQ(ended.said.find('\x1b'), std::string::npos);
  };
  const std::string start = evidence::start_line(evidence::genesis());
  ends("", "", "No record is included");
  ends("\n", "", "records.jsonl:1: is no JSON");
  ends(std::string(100'000, '\0'), "", "records.jsonl:1: is no JSON");
  ends(start + std::string(3'000'000, '['), "", "records.jsonl:2: holds a list");
  ends(start + std::string((std::size_t{100} << 20) + 1, 'x'), "", "records.jsonl:2: the line has more than");
  ends(start + "{\"\x1b[2J\":[]}\n", "", "is no JSON");
  ends(start + "{\"\\u001b[2J\":[]}\n", "", "field \"\\x1b[2J\" holds a list");
  ends(start, "x\n", "checkpoints.jsonl:1: is no JSON");
  ends(start, evidence::checkpoint_line(log_.checkpoints[0]) + "{}\n", "checkpoints.jsonl:2: field \"records\" is missing");
}

/// An auditor has no broker, no database and no cluster.
TEST(VerifyProgramItself, NeedsNoLibraryOfALogOrACluster) {
  ASSERT_EQ(std::system("readelf --version > /dev/null 2>&1"), 0) << "readelf is needed, which ./dev installs";
  const std::string command = std::string("readelf -d '") + HINDSIGHT_VERIFY_BINARY + "' | grep NEEDED";
  FILE* pipe = ::popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string needed;
  std::array<char, 256> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) needed += buffer.data();
  ::pclose(pipe);
  EXPECT_NE(needed.find("libcrypto"), std::string::npos) << needed;
  for (const char* library : {"rdkafka", "sqlite", "caf_", "curl", "nghttp2", "zstd", "libssl", "mimalloc"})
    EXPECT_EQ(needed.find(library), std::string::npos) << needed;
}

TEST_F(VerifyProgram, MoreCheckpointsThanThereMayBeAreRefused) {
  const std::string line = evidence::checkpoint_line(MadeLog(nullptr).checkpoints[0]);
  std::string many;
  many.reserve(line.size() * (evidence::checkpoints_max + 1));
  for (std::size_t i = 0; i <= evidence::checkpoints_max; ++i) many += line;
  const TemporaryFolder folder;
  write_file(folder.file("records.jsonl"), joined(log_.lines(0, 5, {2})));
  write_file(folder.file("checkpoints.jsonl"), many);
  const auto ended =
      run_verify({"--records", folder.file("records.jsonl"), "--checkpoints", folder.file("checkpoints.jsonl"), "--unsigned"});
  EXPECT_EQ(ended.status, 1);
  EXPECT_NE(ended.said.find("checkpoints.jsonl:1000001: more than 1000000 checkpoints; allowed: up to that"), std::string::npos)
      << ended.said;
}

}  // namespace
}  // namespace hindsight::test
