// What proves the records of a file: hindsight-verify accepts it, with the key of who signed, and nothing of it after a byte was changed.

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "events/chain.hpp"
#include "evidence/keys.hpp"
#include "evidence/lines.hpp"
#include "tests/casefile/unpacked.hpp"
#include "tests/replay/log_world.hpp"

namespace hindsight::casefile::testing {
namespace {

using hindsight::testing::LogWorld;

/// Runs hindsight-verify; its exit code and what it says.
std::pair<int, std::string> verified(const std::string& words) {
  const std::string command = std::string(HINDSIGHT_VERIFY) + " " + words + " 2>&1 </dev/null";
  std::string said;
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return {-1, "no pipe"};
  std::array<char, 4096> part{};
  for (std::size_t n = 0; (n = std::fread(part.data(), 1, part.size(), pipe)) > 0;) said.append(part.data(), n);
  const int status = ::pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, said};
}

/// A log in which "mine" waits while others come and go, with a checkpoint behind every few records.
class EvidenceProof : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = events::SqliteLog::open(folder_.file("log.db"), {.durability = events::Durability::off});
    ASSERT_TRUE(opened) << opened.error().message;
    log_ = std::move(*opened);
    auto key = evidence::SigningKey::make();
    ASSERT_TRUE(key) << key.error().message;
    key_.emplace(std::move(*key));
    std::ofstream(public_key_) << key_->public_key().pem();
    world_.emplace(*log_);
    world_->set_up({{.name = "cq", .quotas = {{.nominal = 4'000}}}, {.name = "other", .quotas = {{.nominal = 4'000}}}});
    world_->submit({.name = "holds", .cpu = 3'000});
    world_->settle();
    checkpoint(true);
    world_->submit({.name = "mine", .cpu = 2'000});
    world_->settle();
    for (int i = 0; i < 40; ++i) {
      world_->tick(Duration::seconds(1));
      world_->submit({.name = "passes-" + std::to_string(i), .queue = "lq-other", .cpu = 100});
      world_->settle();
    }
    world_->finish("holds");
    world_->settle();
    world_->confirm();
    world_->settle();
    world_->flush();
  }

  void checkpoint(bool with_key) {
    world_->flush();
    const auto start = events::chain_start(*log_);
    ASSERT_TRUE(start) << start.error().message;
    events::ChainWalk walk(*log_, *start);
    ASSERT_TRUE(walk.to(log_->last().value()));
    const auto stored = events::store_checkpoint(*log_, walk, world_->now, "1.0", with_key ? &*key_ : nullptr);
    ASSERT_TRUE(stored) << stored.error().message;
  }

  /// Makes evidence about "mine" and unpacks it into a folder.
  Unpacked make(const std::string& into) {
    const std::string file = folder_.file(into + ".tar.gz");
    const Said said = say({"evidence", "--for", "mine", "-o", file, "--log", "sqlite:" + folder_.file("log.db")});
    EXPECT_EQ(said.status, 0) << said.err;
    told_ = said.out;
    Unpacked out(file);
    out.write(folder_.file(into));
    return out;
  }

  test::TemporaryFolder folder_;
  const std::string public_key_ = folder_.file("public.pem");
  std::unique_ptr<events::SqliteLog> log_;
  std::optional<evidence::SigningKey> key_;
  std::optional<LogWorld> world_;
  std::string told_;
};

TEST_F(EvidenceProof, IsAcceptedAndNoLongerOnceAByteWasChanged) {
  checkpoint(true);
  const auto file = make("good");
  EXPECT_EQ(told_.find("by none"), std::string::npos) << told_;
  EXPECT_NE(told_.find("are proved by a signed checkpoint"), std::string::npos) << told_;
  const auto [status, said] = verified(folder_.file("good") + " --public-key " + public_key_);
  EXPECT_EQ(status, 0) << said;

  // One byte of a record that is included.
  std::string records = file.files.at("records.jsonl");
  const auto content = records.find("\"content\":\"");
  ASSERT_NE(content, std::string::npos);
  char& byte = records[content + 40];
  byte = byte == 'A' ? 'B' : 'A';
  ASSERT_NE(records, file.files.at("records.jsonl"));
  file.write(folder_.file("changed"));
  std::ofstream(folder_.file("changed") + "/records.jsonl", std::ios::binary | std::ios::trunc) << records;
  EXPECT_EQ(verified(folder_.file("changed") + " --public-key " + public_key_).first, 1);
  // Not because of the manifest alone: by the chain.
  const auto [by_chain, words] = verified("--records " + folder_.file("changed") + "/records.jsonl --checkpoints " +
                                          folder_.file("changed") + "/checkpoints.jsonl --public-key " + public_key_);
  EXPECT_EQ(by_chain, 1) << words;

  // What is said of it is no part of the chain; the manifest tells of that.
  file.write(folder_.file("retold"));
  std::ofstream(folder_.file("retold") + "/why.txt", std::ios::app) << "It was my fault\n";
  EXPECT_EQ(verified(folder_.file("retold") + " --public-key " + public_key_).first, 1);

  // Somebody else's key.
  const auto stranger = evidence::SigningKey::make();
  ASSERT_TRUE(stranger);
  std::ofstream(folder_.file("stranger.pem")) << stranger->public_key().pem();
  EXPECT_EQ(verified(folder_.file("good") + " --public-key " + folder_.file("stranger.pem")).first, 1);
}

// Those of others between the first record and the checkpoint behind the last stand there by their hashes.
TEST_F(EvidenceProof, HoldsTheRecordsOfOthersByTheirHashesOnly) {
  checkpoint(true);
  const auto file = make("evidence");
  std::size_t included = 0, withheld = 0;
  for (const auto& line : file.lines("records.jsonl")) {
    const auto read = evidence::read_line(line);
    ASSERT_TRUE(read) << read.error().message;
    if (const auto* record = std::get_if<evidence::RecordLine>(&*read)) {
      ++included;
      EXPECT_EQ(record->bytes.find("passes-"), std::string::npos) << "record " << record->offset << " is of somebody else";
    }
    if (std::holds_alternative<evidence::WithheldLine>(*read)) ++withheld;
  }
  const auto manifest = file.json("manifest.json");
  EXPECT_EQ(manifest["recordsIncluded"], included);
  EXPECT_GT(withheld, 80U) << "forty others came, and each was a record and a decision";
  EXPECT_EQ(file.files.at("index.html").find("passes-"), std::string::npos);
}

TEST_F(EvidenceProof, SaysWhatNoCheckpointProves) {
  const auto file = make("early");
  EXPECT_NE(told_.find(" by none ('hindsight audit --checkpoint' makes one)"), std::string::npos) << told_;
  EXPECT_NE(file.files.at("README.md").find("is not proved by this file"), std::string::npos);
  EXPECT_EQ(verified(folder_.file("early") + " --public-key " + public_key_).first, 1) << "what is not proved is not accepted";
  // Checkpoints without a signature show accidents.
  checkpoint(false);
  const auto later = make("later");
  EXPECT_NE(told_.find(" by one without a signature"), std::string::npos) << told_;
  EXPECT_NE(later.files.at("README.md").find("without a signature"), std::string::npos);
  EXPECT_EQ(verified(folder_.file("later") + " --public-key " + public_key_).first, 1);
  const auto [status, said] = verified(folder_.file("later") + " --unsigned");
  EXPECT_EQ(status, 0) << said;
}

// The commands that README.md gives are those that do it.
TEST_F(EvidenceProof, TellsHowToCheckIt) {
  checkpoint(true);
  const auto file = make("evidence");
  EXPECT_EQ(file.folder, "evidence-default-mine");
  const std::string command = "hindsight-verify evidence-default-mine --public-key KEY.pem";
  EXPECT_NE(file.files.at("README.md").find("    " + command + "\n"), std::string::npos) << file.files.at("README.md");
  EXPECT_NE(file.files.at("index.html").find(command), std::string::npos);
  const std::string why =
      "hindsight why workload/default/mine --at " + std::to_string(file.json("why.json")["position"].get<int>()) + " --log ";
  EXPECT_NE(file.files.at("README.md").find("    " + why + "LOG\n"), std::string::npos) << file.files.at("README.md");
  EXPECT_EQ(say({"why", "workload/default/mine", "--at", std::to_string(file.json("why.json")["position"].get<int>()), "--log",
                 "sqlite:" + folder_.file("log.db")})
                .out,
            file.files.at("why.txt"));
}

}  // namespace
}  // namespace hindsight::casefile::testing
