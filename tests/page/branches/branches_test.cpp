// What-if branches: without edits nothing differs, with edits what must; wrong and hostile requests; bounds, cancelling, and files that go.

#include "page/branches/branches.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "replay/past.hpp"
#include "tests/events/temporary_folder.hpp"
#include "tests/projections/simulated.hpp"
#include "vocabulary/printable.hpp"

namespace hindsight::page::testing {
namespace {

using projections::basics;
using projections::job_text;
using projections::Json;
using projections::Played;
using projections::queue_text;

/// Far longer than anything here takes; a test that hangs fails.
constexpr std::chrono::seconds patience{120};

const std::string two_jobs_in_turn = basics + queue_text({.name = "cq", .cpu = "1"}) + job_text({.name = "first", .runs = 100}) +
                                     job_text({.name = "second", .arrives = 10, .runs = 100});

Json body(events::Position from, Json edits = Json::array(), const std::string& name = "a branch") {
  return {{"name", name}, {"from", from}, {"edits", std::move(edits)}};
}

bool has_ended(const Json& branch) { return branch["state"] != "waiting" && branch["state"] != "running"; }

class BranchesOfALog : public ::testing::Test {
 protected:
  BranchesOptions options() {
    BranchesOptions out;
    out.folder = folder.file("branches");
    return out;
  }
  std::unique_ptr<Branches> open(BranchesOptions with) {
    auto out = Branches::open(run.log, std::move(with));
    if (!out) throw std::runtime_error(out.error().message);
    return std::move(*out);
  }
  std::unique_ptr<Branches> open() { return open(options()); }

  static Json wait_for(const Branches& branches, const std::string& id, const std::function<bool(const Json&)>& what = has_ended) {
    const auto until = std::chrono::steady_clock::now() + patience;
    for (;;) {
      const auto branch = branches.get(id);
      if (!branch) throw std::runtime_error(branch.error().message);
      if (what(*branch)) return *branch;
      if (std::chrono::steady_clock::now() > until) throw std::runtime_error("the branch does not come to that: " + branch->dump());
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  static Json played(Branches& branches, const Json& request) {
    const auto begun = branches.create("default", request.dump());
    if (!begun) throw std::runtime_error(begun.error().message);
    return wait_for(branches, (*begun)["id"].get<std::string>());
  }
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> out;
    if (!std::filesystem::exists(folder.file("branches"))) return out;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.file("branches")))
      if (entry.path().extension() != "" && entry.is_regular_file()) out.push_back(entry.path().string());
    return out;
  }

  Played run{two_jobs_in_turn};
  test::TemporaryFolder folder;
};

TEST_F(BranchesOfALog, WithoutEditsEverybodyFaresAsOnRecord) {
  const auto branches = open();
  replay::Past was(run.log, "default");
  ASSERT_TRUE(was.go_to(run.end()));
  for (const events::Position from : {events::Position{1}, run.at(5), run.at(50)}) {
    Json request = body(from);
    request["until"] = run.end();
    const Json branch = played(*branches, request);
    ASSERT_EQ(branch["state"], "done") << branch;
    EXPECT_TRUE(branch["result"]["differences"].empty());
    EXPECT_EQ(branch["result"]["decisions"]["ofThoseMadeAgain"], branch["result"]["decisions"]["recordedThatTheWorldAnswers"]);
    EXPECT_EQ(branch["result"]["modelled"], 0);
    EXPECT_EQ(branch["latest"]["position"], run.end());
    EXPECT_EQ(branch["from"]["position"], from);
    EXPECT_EQ(branch["progress"]["position"], branch["progress"]["of"]);
    const auto id = branch["id"].get<std::string>();
    {
      const auto log = branches->log_of(id);
      ASSERT_TRUE(log) << log.error().message;
      replay::Past then(**log, branches->domain_of(id).value());
      ASSERT_TRUE(then.go_to(branch["latest"]["position"].get<events::Position>()));
      EXPECT_EQ(then.driver().state_hash(), was.driver().state_hash());
    }
    EXPECT_TRUE(branches->remove(id));
  }
}

TEST_F(BranchesOfALog, WithMoreQuotaTheOneThatWaitedStartsEarlier) {
  const auto branches = open();
  const Json edits = Json::array({{{"kind", "quota"}, {"clusterQueue", "cq"}, {"resource", "cpu"}, {"amount", "+1"}}});
  const Json branch = played(*branches, body(run.at(5), edits));
  ASSERT_EQ(branch["state"], "done") << branch;
  ASSERT_EQ(branch["result"]["differences"].size(), 1U);
  const Json& difference = branch["result"]["differences"][0];
  EXPECT_NE(difference["workload"].get<std::string>().find("second"), std::string::npos);
  EXPECT_LT(difference["shiftSeconds"].get<double>(), -80);
  EXPECT_EQ(branch["edits"], edits) << "they are told as they were given";
  EXPECT_EQ(branch["name"], "a branch");
  EXPECT_EQ(branches->list().size(), 1U);
  EXPECT_FALSE(branches->list()[0].contains("result")) << "a list stays small";
}

TEST_F(BranchesOfALog, WhoeverIsDroppedNeverCame) {
  const auto branches = open();
  const Json edits = Json::array({{{"kind", "drop"}, {"object", {{"kind", "Job"}, {"namespace", "default"}, {"name", "second"}}}}});
  const Json branch = played(*branches, body(run.at(5), edits));
  ASSERT_EQ(branch["state"], "done") << branch;
  ASSERT_EQ(branch["result"]["differences"].size(), 1U);
  EXPECT_FALSE(branch["result"]["differences"][0].contains("wouldBe"));
}

TEST_F(BranchesOfALog, OtherGatesLeaveTheRestOfTheConfiguration) {
  const auto branches = open();
  const Json gates = Json::array({{{"kind", "featureGates"}, {"text", "PartialAdmission=false"}}});
  const Json branch = played(*branches, body(run.at(5), gates));
  ASSERT_EQ(branch["state"], "done") << branch;
  EXPECT_TRUE(branch["result"]["differences"].empty()) << "nobody here asks for less";
}

// What is asked for may be well-formed and find nothing; the message names the edit.
TEST_F(BranchesOfALog, EditsThatFindNothingFailWithTheirName) {
  const auto branches = open();
  const auto message = [&](const Json& edit) {
    const Json fine{{"kind", "quota"}, {"clusterQueue", "cq"}, {"resource", "cpu"}, {"amount", "2"}};
    const Json branch = played(*branches, body(run.at(5), Json::array({fine, edit})));
    EXPECT_EQ(branch["state"], "failed") << branch;
    EXPECT_FALSE(branch.contains("result"));
    EXPECT_FALSE(branches->log_of(branch["id"].get<std::string>()));
    EXPECT_TRUE(branches->remove(branch["id"].get<std::string>()));
    return branch.value("message", "");
  };
  EXPECT_TRUE(
      message({{"kind", "quota"}, {"clusterQueue", "qc"}, {"resource", "cpu"}, {"amount", "2"}}).starts_with("edits[1].clusterQueue: "));
  EXPECT_TRUE(
      message({{"kind", "quota"}, {"clusterQueue", "cq"}, {"resource", "gpu"}, {"amount", "2"}}).starts_with("edits[1].clusterQueue: "));
  EXPECT_TRUE(message({{"kind", "nodes"}, {"count", 2}, {"like", "node-1"}}).starts_with("edits[1].like: "));
  EXPECT_TRUE(message({{"kind", "drop"}, {"object", {{"kind", "Job"}, {"namespace", "default"}, {"name", "third"}}}})
                  .starts_with("edits[1].object: "));
  EXPECT_TRUE(message({{"kind", "featureGates"}, {"text", "NoSuchGate=true"}}).starts_with("edits[1].text: "));
  EXPECT_TRUE(message({{"kind", "manifest"}, {"yaml", "kind: Job"}}).starts_with("edits[1].yaml: ")) << "nobody reads manifests here";
  EXPECT_TRUE(files().empty()) << "what failed leaves no file";
}

TEST_F(BranchesOfALog, WrongRequestsSayWhereAndWhatIsAllowed) {
  const auto branches = open();
  const auto refused = [&](const std::string& text) {
    const auto begun = branches->create("default", text);
    EXPECT_FALSE(begun) << text;
    if (begun) return std::string();
    EXPECT_EQ(static_cast<int>(begun.error().kind), static_cast<int>(ErrorKind::invalid)) << begun.error().message;
    EXPECT_TRUE(is_printable(begun.error().message)) << begun.error().message;
    EXPECT_LT(begun.error().message.size(), 1'000U);
    return begun.error().message;
  };
  const auto refused_edit = [&](const Json& edit) { return refused(body(1, Json::array({edit})).dump()); };
  const Json quota{{"kind", "quota"}, {"clusterQueue", "cq"}, {"resource", "cpu"}, {"amount", "2"}};
  const auto with = [&](const char* field, const Json& value) {
    Json out = quota;
    out[field] = value;
    return out;
  };
  EXPECT_TRUE(refused_edit(with("amount", "2 cores")).starts_with("edits[0].amount: found"));
  EXPECT_TRUE(refused_edit(with("amount", "+-2")).starts_with("edits[0].amount: found"));
  EXPECT_TRUE(refused_edit(with("amount", 2)).starts_with("edits[0].amount: found 2; allowed"));
  EXPECT_TRUE(refused_edit(with("amount", "99999999999999999999999999")).starts_with("edits[0].amount: found"));
  EXPECT_TRUE(refused_edit(with("clusterQueue", "cq:cpu=1")).starts_with("edits[0].clusterQueue: found"));
  EXPECT_TRUE(refused_edit(with("resource", "cpu=1,x")).starts_with("edits[0].resource: found"));
  EXPECT_TRUE(refused_edit(with("flavor", "a/b")).starts_with("edits[0].flavor: found"));
  EXPECT_TRUE(refused_edit(with("more", 1)).starts_with("edits[0].more: found 1; allowed: kind, "));
  EXPECT_TRUE(refused_edit({{"kind", "rename"}}).starts_with("edits[0].kind: found \"rename\"; allowed: quota, manifest"));
  EXPECT_TRUE(refused_edit(7).starts_with("edits[0]: found 7"));
  EXPECT_TRUE(refused_edit({{"kind", "nodes"}, {"count", 10'001}, {"like", "n"}}).starts_with("edits[0].count: "));
  EXPECT_TRUE(refused_edit({{"kind", "nodes"}, {"count", -1}, {"like", "n"}}).starts_with("edits[0].count: "));
  EXPECT_TRUE(refused_edit({{"kind", "drop"}, {"object", {{"kind", "ClusterQueue"}, {"namespace", "d"}, {"name", "cq"}}}})
                  .starts_with("edits[0].object.kind: "));
  EXPECT_TRUE(refused_edit({{"kind", "drop"}, {"object", "job/default/second"}}).starts_with("edits[0].object: "));
  EXPECT_TRUE(refused_edit({{"kind", "manifest"}, {"yaml", ""}}).starts_with("edits[0].yaml: found 0 bytes"));
  EXPECT_TRUE(refused("{").find("no JSON") != std::string::npos);
  EXPECT_TRUE(refused("[]").starts_with("the request: found"));
  EXPECT_TRUE(refused(body(1, Json::array(), "").dump()).starts_with("name: "));
  EXPECT_TRUE(refused(body(run.end() + 1).dump()).starts_with("from: found record "));
  Json backwards = body(10);
  backwards["until"] = 9;
  EXPECT_TRUE(refused(backwards.dump()).starts_with("until: "));
  Json without = body(1);
  without.erase("edits");
  EXPECT_TRUE(refused(without.dump()).starts_with("edits: found nothing"));
  EXPECT_TRUE(branches->list().empty());
}

TEST_F(BranchesOfALog, HostileRequestsAreRefusedAndStopNobody) {
  const auto branches = open();
  const std::string escape = "\x1b[2J", right_to_left = "\xe2\x80\xae";
  std::vector<std::string> hostile{
      body(1, Json::array(), escape + "name").dump(),
      body(1, Json::array(), right_to_left + "name").dump(),
      body(1, Json::array(), std::string(101, 'x')).dump(),
      "{\"name\":\"a\",\"from\":1,\"edits\":[],\"" + std::string(5'000, 'k') + "\":1}",
      "{\"name\":\"\xff\xfe\",\"from\":1,\"edits\":[]}",
      std::string(BranchRequest::body_bytes_max + 1, ' '),
      std::string(1'000'000, '['),
      "{\"name\":" + std::string(900'000, '{'),
      "",
      std::string("\0\0", 2),
      "{\"name\":\"a\",\"from\":1e300,\"edits\":[]}",
      "{\"name\":\"a\",\"from\":18446744073709551615,\"edits\":[]}",
      body(1, Json::array({{{"kind", escape}}})).dump(),
      body(1, Json::array({{{"kind", "quota"}, {"clusterQueue", escape}, {"resource", "cpu"}, {"amount", "1"}}})).dump(),
      body(1, Json::array({{{"kind", "featureGates"}, {"text", "A=true\n" + escape}}})).dump()};
  Json many = Json::array();
  for (int i = 0; i < 101; ++i) many.push_back({{"kind", "featureGates"}, {"text", "A=true"}});
  hostile.push_back(body(1, many).dump());
  Json large = Json::array();
  for (int i = 0; i < 3; ++i) large.push_back({{"kind", "manifest"}, {"yaml", std::string(500'000, '#')}});
  hostile.push_back(body(1, large).dump());
  for (const auto& text : hostile) {
    const auto begun = branches->create("default", text);
    EXPECT_FALSE(begun) << text.substr(0, 100);
    if (begun) continue;
    EXPECT_TRUE(is_printable(begun.error().message)) << begun.error().message;
    EXPECT_LT(begun.error().message.size(), 1'000U);
  }
  EXPECT_TRUE(branches->list().empty());
  EXPECT_EQ(played(*branches, body(run.at(5)))["state"], "done") << "others get theirs";
  EXPECT_FALSE(branches->get("../../etc/passwd"));
  EXPECT_FALSE(branches->remove(escape + std::string(10'000, 'x')));
}

TEST_F(BranchesOfALog, ThereAreNoMoreThanMayBe) {
  auto few = options();
  few.kept_max = 2;
  const auto branches = open(few);
  const Json first = played(*branches, body(run.at(5)));
  ASSERT_EQ(played(*branches, body(run.at(6)))["state"], "done");
  const auto third = branches->create("default", body(1).dump());
  ASSERT_FALSE(third);
  EXPECT_EQ(static_cast<int>(third.error().kind), static_cast<int>(ErrorKind::conflict));
  EXPECT_NE(third.error().message.find("at most 2"), std::string::npos);
  ASSERT_TRUE(branches->remove(first["id"].get<std::string>()));
  EXPECT_EQ(played(*branches, body(run.at(7)))["state"], "done");
}

/// A play that stands still in the middle, until it is let go.
class HeldUp {
 public:
  ReadManifests reader() {
    return [this](const std::string&, Time, whatif::Responses&) -> Result<std::vector<std::vector<std::byte>>> {
      if (!arrived_at_.exchange(true)) arrived_.set_value();
      go_.get_future().wait();
      return std::vector<std::vector<std::byte>>{};
    };
  }
  void wait_until_it_is_there() { ASSERT_EQ(arrived_.get_future().wait_for(patience), std::future_status::ready); }
  void let_go() { go_.set_value(); }

 private:
  std::atomic<bool> arrived_at_ = false;
  std::promise<void> arrived_, go_;
};

const Json a_manifest = Json::array({{{"kind", "manifest"}, {"yaml", "kind: Job"}}});

TEST_F(BranchesOfALog, OneIsPlayedAtATimeAndAnyCanBeCancelled) {
  HeldUp held;
  auto with = options();
  with.read_manifests = held.reader();
  const auto branches = open(with);
  const auto id_of = [](const Result<Json>& branch) { return branch.value()["id"].get<std::string>(); };
  const std::string playing = id_of(branches->create("default", body(run.at(5), a_manifest).dump()));
  held.wait_until_it_is_there();
  const std::string waiting = id_of(branches->create("default", body(run.at(6)).dump()));
  const std::string other = id_of(branches->create("default", body(run.at(7)).dump()));
  EXPECT_EQ(branches->get(playing).value()["state"], "running");
  EXPECT_EQ(branches->get(waiting).value()["state"], "waiting");
  EXPECT_FALSE(branches->log_of(waiting)) << "it has none yet";

  EXPECT_EQ(branches->cancel(waiting).value()["state"], "cancelled");
  EXPECT_EQ(branches->cancel(playing).value()["state"], "cancelled");
  held.let_go();
  EXPECT_EQ(wait_for(*branches, other)["state"], "done") << "its turn comes";
  EXPECT_EQ(branches->get(playing).value()["state"], "cancelled") << "it stays so";
  EXPECT_FALSE(branches->get(playing).value().contains("result"));
  EXPECT_EQ(branches->cancel(other).value()["state"], "done") << "what is done is done";
  EXPECT_TRUE(branches->remove(playing));
  EXPECT_FALSE(branches->get(playing));
  EXPECT_FALSE(branches->cancel(playing));
}

TEST_F(BranchesOfALog, ARunningOneCanBeThrownAwayAndSoCanAll) {
  HeldUp held;
  auto with = options();
  with.read_manifests = held.reader();
  auto branches = open(with);
  const auto begun = branches->create("default", body(run.at(5), a_manifest).dump());
  ASSERT_TRUE(begun);
  held.wait_until_it_is_there();
  EXPECT_TRUE(branches->remove((*begun)["id"].get<std::string>()));
  EXPECT_TRUE(branches->list().empty());
  ASSERT_TRUE(branches->create("default", body(run.at(6)).dump()));
  held.let_go();
  branches.reset();  // while something is played, or about to be
  EXPECT_TRUE(files().empty());
}

TEST_F(BranchesOfALog, FilesGoWithTheLastWhoLooks) {
  auto branches = open();
  const auto id = played(*branches, body(run.at(5)))["id"].get<std::string>();
  EXPECT_FALSE(files().empty());
  auto log = branches->log_of(id);
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_TRUE(branches->remove(id));
  EXPECT_EQ((*log)->last().value() > 0, true) << "who looks at it still has it";
  *log = nullptr;
  EXPECT_TRUE(files().empty());
  EXPECT_EQ(played(*branches, body(run.at(6)))["state"], "done");
  branches.reset();
  EXPECT_TRUE(std::filesystem::is_empty(folder.file("branches")));
}

TEST_F(BranchesOfALog, WhatAnotherProcessLeftIsRemovedAndWhatItUsesIsNot) {
  const auto other = open();  // of another process, as far as the folder is concerned
  ASSERT_EQ(played(*other, body(run.at(5)))["state"], "done");
  const auto kept = files();
  ASSERT_FALSE(kept.empty());
  const std::string left = folder.file("branches/branches-abcdef");
  std::filesystem::create_directory(left);
  { std::ofstream(left + "/0123.db") << "what is left"; }
  const std::string foreign = folder.file("branches/somebody-elses");
  std::filesystem::create_directory(foreign);
  const auto branches = open();
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_TRUE(std::filesystem::exists(foreign));
  EXPECT_EQ(files(), kept);
}

TEST_F(BranchesOfALog, TimeAndRoomHaveAnEnd) {
  auto short_of_time = options();
  short_of_time.time_max = std::chrono::seconds(-1);
  const Json late = played(*open(short_of_time), body(run.at(5)));
  EXPECT_EQ(late["state"], "failed");
  EXPECT_NE(late["message"].get<std::string>().find("longer than"), std::string::npos) << late;

  auto short_of_room = options();
  short_of_room.bytes_max = 1;
  const Json full = played(*open(short_of_room), body(run.at(5)));
  EXPECT_EQ(full["state"], "failed");
  EXPECT_FALSE(full["message"].get<std::string>().empty());
  EXPECT_TRUE(files().empty());
}

TEST_F(BranchesOfALog, EveryChangeOfStateIsTold) {
  std::mutex mutex;
  std::vector<std::string> states;
  auto with = options();
  with.on_change = [&](const Json& branch) {
    const std::lock_guard lock(mutex);
    const auto state = branch["state"].get<std::string>();
    EXPECT_FALSE(branch.contains("result"));
    if (states.empty() || states.back() != state) states.push_back(state);
  };
  {
    const auto branches = open(with);
    ASSERT_EQ(played(*branches, body(run.at(5)))["state"], "done");
  }  // by then all is told
  const std::lock_guard lock(mutex);
  ASSERT_FALSE(states.empty());
  EXPECT_EQ(states.back(), "done");
}

}  // namespace
}  // namespace hindsight::page::testing
