// `hindsight audit` and `hindsight log key` as they are used: keys are made, checkpoints stored and signed, logs changed behind its back,
// and what it says of them in text and in JSON.

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "events/checksum.hpp"
#include "events/sqlite_log.hpp"
#include "tests/cli/worlds.hpp"
#include "tests/events/raw_sqlite.hpp"

namespace hindsight::test {
namespace {

class AuditCommand : public Logs {
 protected:
  TemporaryFolder own_;
  std::string log_ = own_.file("log.db"), key_ = own_.file("audit.pem"), public_key_ = own_.file("audit.pub.pem");

  void SetUp() override {
    std::filesystem::copy_file(quick, log_);
    write(public_key_, text_of({"log", "key", key_}));
  }
  [[nodiscard]] Json signed_checkpoint() const { return json_of(on(log_, {"audit", "--checkpoint", "--key", key_}))["stored"]; }
  /// Another time beside a record, with its checksum right.
  void replace_record(events::Position offset) const {
    events::RecordBatch batch;
    std::vector<std::byte> body;
    std::int64_t sum = 0;
    {
      const auto log = events::SqliteLog::open(log_, {.read_only = true}).value();
      ASSERT_TRUE(log->read(offset, {.records = 1}, batch));
      auto record = batch[0];
      body.assign(record.bytes.begin(), record.bytes.end());
      record.time.micros += 1;
      record.bytes = body;
      sum = static_cast<std::int64_t>(events::checksum(record));
    }
    sql(log_, "UPDATE records SET time_us = time_us + 1, checksum = " + std::to_string(sum) + " WHERE offset = " + std::to_string(offset));
  }
};

TEST_F(AuditCommand, OfALogWithoutCheckpointsSaysThatNothingCanBeCompared) {
  const auto text = text_of(on(log_, {"audit"}));
  EXPECT_NE(text.find("not proved: There is no checkpoint to compare with"), std::string::npos) << text;
  EXPECT_NE(text.find("decisions follow from what was known when they were made, in 1 domain."), std::string::npos) << text;
  EXPECT_NE(text.find("epoch 1 of domain default: from "), std::string::npos) << text;
  EXPECT_NE(text.find("\nsound: "), std::string::npos) << text;
  const Json json = json_of(on(log_, {"audit"}));
  EXPECT_EQ(json["sound"], true);
  EXPECT_EQ(json["chain"]["from"], "beginning");
  EXPECT_EQ(json["chain"]["records"], json["last"]);
  EXPECT_EQ(json["signedUpTo"], Json());
  EXPECT_EQ(json["decisions"][0]["clean"], true);
  EXPECT_EQ(json["checkpoints"]["compared"], 0);
}

TEST_F(AuditCommand, ASignedCheckpointProvesTheLogAndFindsAChange) {
  const Json stored = signed_checkpoint();
  const Json sound = json_of(on(log_, {"audit", "--public-key", public_key_}));
  EXPECT_EQ(sound["signedUpTo"]["records"], stored["records"]);
  EXPECT_EQ(sound["signedUpTo"]["key"], stored["key"]);
  EXPECT_EQ(sound["chain"]["hash"], stored["hash"]);
  replace_record(50);
  EXPECT_EQ(hindsight(on(log_, {"log", "check"})).out.find("damaged"), std::string::npos);
  const Outcome changed = hindsight(on(log_, {"audit", "--public-key", public_key_, "--chain-only"}));
  EXPECT_EQ(changed.status, 1);
  EXPECT_NE(changed.out.find("wrong, from record 1 on: records 1 to "), std::string::npos) << changed.out;
  EXPECT_NE(changed.out.find("which key " + stored["key"].get<std::string>() + " has signed"), std::string::npos) << changed.out;
  EXPECT_NE(changed.out.find("NOT SOUND"), std::string::npos);
  // And no checkpoint is stored that would make it look well.
  const Outcome refused = hindsight(on(log_, {"audit", "--checkpoint", "--key", key_, "-o", "json"}));
  EXPECT_EQ(refused.status, 1);
  EXPECT_FALSE(Json::parse(refused.out).contains("stored"));
}

TEST_F(AuditCommand, AHeadThatWasNotedFindsALogThatWasCutShort) {
  const Json before = json_of(on(log_, {"audit", "--chain-only"}));
  const std::string noted = std::to_string(before["chain"]["records"].get<int>()) + ":" + before["chain"]["hash"].get<std::string>();
  EXPECT_NE(text_of(on(log_, {"audit", "--chain-only"})).find("\nhead " + noted + "\n"), std::string::npos);
  const Json same = json_of(on(log_, {"audit", "--chain-only", "--known", noted}));
  EXPECT_EQ(same["knownUpTo"], before["chain"]["records"]);
  sql(log_, "DELETE FROM records WHERE offset > 90; UPDATE domains SET last_offset = 90, last_sequence = 90;");
  const Outcome shorter = hindsight(on(log_, {"audit", "--chain-only", "--known", noted}));
  EXPECT_EQ(shorter.status, 1);
  EXPECT_NE(shorter.out.find("cannot be compared: the chain was computed up to record 90"), std::string::npos) << shorter.out;
  EXPECT_EQ(hindsight(on(log_, {"audit", "--chain-only"})).status, 0);  // without it nobody can tell
}

TEST_F(AuditCommand, CopiesAndTrimsKeepTheChain) {
  const Json stored = signed_checkpoint();
  const std::string copy = own_.file("copy.db");
  EXPECT_NE(text_of({"log", "copy", log_, copy}).find("1 checkpoints copied"), std::string::npos);
  EXPECT_EQ(json_of(on(copy, {"audit", "--public-key", public_key_}))["signedUpTo"]["records"], stored["records"]);
  text_of(on(copy, {"log", "trim", "--before", "60"}));
  const Json trimmed = json_of(on(copy, {"audit", "--public-key", public_key_}));
  EXPECT_EQ(trimmed["first"], 60);
  EXPECT_EQ(trimmed["chain"]["from"], "cut");
  EXPECT_EQ(trimmed["chain"]["behind"], 59);
  EXPECT_EQ(trimmed["chain"]["hash"], stored["hash"]);
  EXPECT_EQ(trimmed["signedUpTo"]["records"], stored["records"]);
}

TEST_F(AuditCommand, KeysAreMadeOnceAndForTheirOwnerOnly) {
  struct stat status {};
  ASSERT_EQ(::stat(key_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  EXPECT_TRUE(contents(public_key_).starts_with("-----BEGIN PUBLIC KEY-----\n"));
  const std::string before = contents(key_);
  expect_error(hindsight({"log", "key", key_}), 1, {"key " + key_ + ": it is there already; allowed: a new file"});
  EXPECT_EQ(contents(key_), before);
  expect_error(hindsight({"log", "key", own_.file("none/audit.pem")}), 2, {"No such file or directory"});
  const Json made = json_of({"log", "key", own_.file("other.pem")});
  EXPECT_EQ(made["key"].get<std::string>().size(), 32U);
}

TEST_F(AuditCommand, ACheckpointThatCannotBeReadIsNamedAndRemoved) {
  const Json stored = signed_checkpoint();
  const std::string position = std::to_string(stored["position"].get<events::Position>());
  EXPECT_NE(text_of(on(log_, {"log", "checkpoints"})).find(position + ": "), std::string::npos);
  const Json listed = json_of(on(log_, {"log", "checkpoints"}));
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0]["hash"], stored["hash"]);
  EXPECT_EQ(listed[0]["key"], stored["key"]);
  expect_error(hindsight(on(log_, {"log", "checkpoints", "--drop", position})), 1, {"can be read, and proves", "allowed: with --force"});
  expect_error(hindsight(on(log_, {"log", "checkpoints", "--drop", "7"})), 1, {"there is no checkpoint at position 7"});
  expect_error(hindsight(on(log_, {"log", "checkpoints", "--force"})), 2, {"--force: found without --drop"});

  sql(log_, "UPDATE checkpoints SET hash = x'00'");
  const Outcome bad = hindsight(on(log_, {"log", "checkpoints"}));
  EXPECT_EQ(bad.status, 1);
  EXPECT_NE(bad.out.find("'hindsight log checkpoints --drop " + position + "' removes it"), std::string::npos) << bad.out;
  expect_error(hindsight(on(log_, {"audit"})), 1, {"hindsight log checkpoints --drop " + position});
  expect_error(hindsight(on(log_, {"log", "checkpoints", "--drop", "7"})), 2, {"the checkpoint that cannot be read is at " + position});
  EXPECT_NE(text_of(on(log_, {"log", "checkpoints", "--drop", position})).find("is removed; 0 checkpoints that cannot be read are left"),
            std::string::npos);
  EXPECT_EQ(json_of(on(log_, {"log", "checkpoints"})), Json::array());
  EXPECT_EQ(hindsight(on(log_, {"audit"})).status, 0);
}

/// What docs/audit.md says that one can do with openssl.
TEST_F(AuditCommand, OpensslAgrees) {
  ASSERT_EQ(std::system("openssl version > /dev/null 2>&1"), 0) << "openssl is needed, which ./dev installs";
  const Json stored = signed_checkpoint();
  const std::string script =
      "cd " + own_.path().string() + " && " +
      "test $(openssl pkey -pubin -in audit.pub.pem -outform DER | sha256sum | cut -c1-32) = " + stored["key"].get<std::string>() +
      " && openssl pkey -in audit.pem -pubout | cmp - audit.pub.pem" +
      " && printf 'hindsight checkpoint 1\\nbegin %s\\nrecords %s\\nhash %s\\ntime %s\\nrelease %s\\n' " + stored["begin"].dump() + " " +
      stored["records"].dump() + " " + stored["hash"].get<std::string>() + " " + stored["time"].dump() + " " +
      stored["release"].get<std::string>() + " > text && echo " + stored["signature"].get<std::string>() +
      " | base64 -d > signature && openssl pkeyutl -verify -pubin -inkey audit.pub.pem -rawin -in text -sigfile signature > /dev/null" +
      " && openssl genpkey -algorithm ed25519 -out theirs.pem && openssl pkey -in theirs.pem -pubout -out theirs.pub.pem";
  EXPECT_EQ(std::system(script.c_str()), 0) << script;
  json_of(on(log_, {"audit", "--checkpoint", "--key", own_.file("theirs.pem")}));
  EXPECT_EQ(json_of(on(log_, {"audit", "--public-key", own_.file("theirs.pub.pem")}))["checkpoints"]["signedByNamedKeys"], 1);
}

TEST_F(AuditCommand, WrongUseIsToldWithWhatIsAllowed) {
  const std::string text = write(own_.file("text"), "no key");
  expect_error(hindsight(on(log_, {"audit", "--public-key", text})), 2,
               {"--public-key: key " + text, "allowed: an Ed25519 public key in PEM"});
  expect_error(hindsight(on(log_, {"audit", "--public-key", key_})), 2, {"found a private key"});
  expect_error(hindsight(on(log_, {"audit", "--public-key", own_.file("absent")})), 2, {"absent", "No such file"});
  expect_error(hindsight(on(log_, {"audit", "--checkpoint", "--key", public_key_})), 2,
               {"--key: key " + public_key_, "found no private key"});
  expect_error(hindsight(on(log_, {"audit", "--key", key_})), 2, {"--key: found without --checkpoint"});
  expect_error(hindsight(on(log_, {"audit", "--checkpoint", "--to", "5"})), 2, {"--to: found with --checkpoint"});
  expect_error(hindsight(on(log_, {"audit", "--chain-only", "--domain", "default"})), 2, {"--domain: found with --chain-only"});
  for (const char* bad : {"5", "5:12", "x:0000000000000000000000000000000000000000000000000000000000000000", ":", "-1:00"})
    expect_error(hindsight(on(log_, {"audit", "--known", bad})), 2, {"allowed: RECORDS:HASH"});
  expect_error(hindsight(on(log_, {"audit", "--domain", "nobody"})), 1, {"nobody"});
  expect_error(hindsight({"run", "--checkpoint-key", text, "--log", own_.file("new.db")}), 2, {"--checkpoint-key: key " + text});
  expect_error(hindsight({"run", "--checkpoint-key", key_, "--role", "connector", "--log", "kafka:127.0.0.1:1"}), 2,
               {"--checkpoint-key: --role is connector"});
  expect_error(hindsight({"run", "--quickstart", "examples/quickstart", "--checkpoint-key", key_}), 2,
               {"--checkpoint-key: not with --quickstart"});
}

}  // namespace
}  // namespace hindsight::test
