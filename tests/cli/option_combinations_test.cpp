// No option is ignored in silence: what has no meaning beside another option, with a kind, a form of output or a log is refused, in one
// message. A new option fails the first test until somebody has looked at what it stands beside: it goes into `looked_at`, and what is
// refused with it into `refused`.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <sstream>

#include "tests/cli/commands_of.hpp"
#include "tests/cli/in_process.hpp"
#include "tests/cli/worlds.hpp"

namespace hindsight::cli {
namespace {

using test::expect_told;
using test::say;
using test::text_of_call;
using test::Words;

/// The options of each command that is about a log, as somebody has looked at them.
const std::map<std::string, std::string> looked_at{
    {"run",
     "--quickstart --keep --kubeconfig --context --log --log-config --config --feature-gates --role --domain --domains --group --member "
     "--session-timeout --standby --observe --switch-mode --snapshot-dir --keep-history --log-limit --durability --http --probe-address "
     "--metrics "
     "--metrics-address --metrics-service --metrics-cert-dir --max-in-flight --connect-timeout --lease-namespace --no-lease --webhooks "
     "--webhook-address --webhook-url --webhook-cert-dir --webhook-cert-lifetime --webhook-client-ca --webhook-client-name --visibility "
     "--visibility-address --visibility-service --visibility-cert-dir --log-level --checkpoint-key --ui --ui-host-name --ui-cert-dir "
     "--ui-states --ui-memory --ui-cache-dir"},
    {"ui", "--listen --host-name --cert-dir --states --memory --cache-dir --open --kubeconfig --context --log --log-config"},
    {"doctor",
     "--kubeconfig --context --namespace --as-controller --own-rights --log --log-config --log-limit --config --feature-gates --server "
     "--only --timeout --limit --print --output"},
    {"simulate",
     "files --output --log --config --feature-gates --write-time --writes-at-a-time --generate --trace --trace-format --trace-queue "
     "--trace-priorities --namespace"},
    {"get",
     "kind name --namespace --all-namespaces --selector --field-selector --clusterqueue --localqueue --status --for --since --sort-by "
     "--no-headers --watch --output-watch-events --output --log --log-config --domain --at --tz"},
    {"describe", "kind name --namespace --pod --output --log --log-config --domain --at --tz"},
    {"history", "workload --namespace --full --output --log --log-config --domain --at --tz"},
    {"why", "workload --namespace --output --log --log-config --domain --at --tz"},
    {"how", "decision who --namespace --heads --output --log --log-config --domain --tz"},
    {"top", "kind --since --sort-by --reasons --output --log --log-config --domain --at --tz"},
    {"plan defrag", "--topology --for --level --namespace --output --log --log-config --domain --at --tz"},
    {"diff", "before after --summary --output --log --log-config --domain --tz"},
    {"compare-kueue", "--from --until --tolerance --all --limit --output --log --log-config --domain --tz"},
    {"verify", "--from-snapshot --to --output --log --log-config --domain --tz"},
    {"audit", "--public-key --known --to --chain-only --checkpoint --key --output --log --log-config --domain --tz"},
    {"evidence", "--for --namespace --output --force --with-log --at --log --log-config --domain --tz"},
    {"what-if",
     "--from --until --tz --set --add-nodes --filename --drop --config --feature-gates --rules --progress --model-all --compare --beyond "
     "--result --rows --output --log --log-config --domain"},
    {"eta", "workload --namespace --futures --horizon --output --log --log-config --domain --at --tz"},
    {"export", "--from --until --tz --format --file --log --log-config --domain"},
    {"debug", "--execute --batch --log --log-config --domain --at --tz"},
    {"bisect", "condition --from --until --tz --output --log --log-config --domain"},
    {"blame", "value --limit --output --log --log-config --domain --at --tz"},
    {"replay", "--from-start --fields --output --log --log-config --domain --at --tz"},
    {"nodes", "--output --log --log-config --domain"},
    {"log cat", "--from --to --kind --object --limit --follow --output --log --log-config --domain --tz"},
    {"log stats", "--output --log --log-config --domain"},
    {"log check", "--output --log --log-config"},
    {"log init", "--output --log --log-config"},
    {"log copy", "FROM TO --output --log-config"},
    {"log trim", "--before --tz --dry-run --output --log --log-config"},
    {"log quarantine", "record --why --force --dry-run --output --log --log-config"},
    {"log checkpoints", "--drop --force --output --log --log-config"}};

std::set<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

TEST(OptionCombinations, EveryOptionHasBeenLookedAt) {
  std::ostringstream out, err;
  Session session{out, err};
  const auto app = make_application(session);
  const auto commands = test::commands_of(*app);
  for (const auto& [name, command] : commands) {
    if (command->get_option_no_throw("--log") == nullptr && name != "log copy") continue;
    const auto known = looked_at.find(name);
    const auto seen = known == looked_at.end() ? std::set<std::string>() : words_of(known->second);
    std::set<std::string> there{"--help", "--help-all"};
    for (const auto* option : command->get_options()) {
      const std::string one = option->get_name();
      if (!there.insert(one).second) continue;
      EXPECT_TRUE(seen.contains(one)) << name << " " << one << ": beside which others would it be ignored?";
    }
    for (const auto& one : seen) EXPECT_TRUE(there.contains(one)) << name << " has no " << one << " any more";
  }
  for (const auto& [name, options] : looked_at) EXPECT_TRUE(commands.contains(name)) << "there is no " << name << " any more";
}

class RefusedCombinations : public ::testing::Test {
 protected:
  test::TemporaryFolder folder_;
  std::string small_ = folder_.file("small.db");
  std::string manifests_ = test::write(folder_.file("small.yaml"), test::small_world_with_jobs);
};

TEST_F(RefusedCombinations, WhatWouldBeIgnoredIsRefused) {
  ASSERT_EQ(say({"simulate", manifests_, "--log", small_}).status, 0);
  const std::string kafka = "kafka:127.0.0.1:1";
  struct Case {
    Words words;
    std::string part;
  };
  const std::vector<Case> refused{
      // get
      {{"get", "wl", "-A", "-n", "a"}, "excludes"},
      {{"get", "wl", "-w", "--at", "3"}, "excludes"},
      {{"get", "wl", "--output-watch-events"}, "--output-watch-events requires --watch"},
      {{"get", "wl", "-w", "--output-watch-events", "-o", "name"}, "--output-watch-events: found with -o name"},
      {{"get", "cq", "--status", "pending"}, "--status: found with clusterqueues"},
      {{"get", "cq", "-q", "lq"}, "--localqueue: found with clusterqueues"},
      {{"get", "wl,cq", "-c", "cq"}, "--clusterqueue: found with clusterqueues"},
      {{"get", "wl", "--for", "job/a"}, "--for: found with workloads"},
      {{"get", "wl", "--since", "1"}, "--since: found with workloads"},
      {{"get", "wl", "-l", "a=b"}, "--selector: found with workloads"},
      {{"get", "events", "--since", "62"}, "position 62 is past the end"},
      // a name with a namespace of its own beside -n
      {{"get", "wl", "b/x", "-n", "a"}, "-n: found a, but b/x names namespace b"},
      {{"get", "wl/b/x", "-n", "a"}, "-n: found a, but wl/b/x names namespace b"},
      {{"get", "events", "--for", "job/b/x", "-n", "a"}, "-n: found a, but job/b/x names namespace b"},
      {{"describe", "job/b/x", "-n", "a"}, "-n: found a, but job/b/x names namespace b"},
      {{"describe", "lq", "b/x", "-n", "a"}, "-n: found a, but b/x names namespace b"},
      {{"history", "b/x", "-n", "a"}, "-n: found a, but b/x names namespace b"},
      {{"why", "-n", "a", "localqueue/b/x"}, "-n: found a, but localqueue/b/x names namespace b"},
      {{"how", "latest", "job/b/x", "-n", "a"}, "-n: found a, but job/b/x names namespace b"},
      {{"eta", "b/x", "-n", "a"}, "-n: found a, but b/x names namespace b"},
      {{"evidence", "--for", "b/x", "-n", "a", "-o", folder_.file("x.db")}, "-n: found a, but b/x names namespace b"},
      {{"plan", "defrag", "--topology", "t", "--for", "job/b/x", "-n", "a"}, "-n: found a, but job/b/x names namespace b"},
      // run --observe: what writes to a cluster, leads it, or needs a shared log
      {{"run", "--observe", "--webhooks"}, "--webhooks: not with --observe"},
      {{"run", "--observe", "--visibility"}, "--visibility: not with --observe"},
      {{"run", "--observe", "--no-lease"}, "--no-lease: not with --observe"},
      {{"run", "--observe", "--lease-namespace", "a"}, "--lease-namespace: not with --observe"},
      {{"run", "--observe", "--domains", "one"}, "--domains: not with --observe"},
      {{"run", "--observe", "--role", "connector", "--log", kafka}, "--role connector: not with --observe"},
      {{"run", "--observe", "--role", "node", "--log", kafka}, "--observe: not with --role node"},
      {{"run", "--observe", "--log", kafka}, "allowed: sqlite:FILE, a log of its own"},
      {{"run", "--observe", "--quickstart", manifests_}, "--observe: not with --quickstart"},
      // describe, top, plan, what-if
      {{"describe", "cq", "cq", "--pod", "cpu=1"}, "--pod: found with clusterqueues"},
      {{"top", "--reasons", "--since", "1"}, "excludes"},
      {{"top", "cohorts", "--reasons"}, "excludes"},
      {{"top", "--reasons", "--sort-by", "wait"}, "excludes"},
      {{"plan", "defrag", "--topology", "t", "--for", "job/a", "--level", "rack"}, "excludes"},
      {{"plan", "defrag", "--topology", "t", "-n", "a"}, "--namespace requires --for"},
      {{"what-if", "--from", "5", "--compare", "--set", "cq/cq:cpu=9"}, "--compare: found with a change"},
      {{"what-if", "--from", "5", "--compare", "--drop", "job/huge"}, "--compare: found with a change"},
      {{"what-if", "--from", "5", "--compare", "--model-all"}, "--compare: found with a change or --model-all"},
      {{"what-if", "--from", "5", "--compare", "-o", "json"}, "excludes"},
      {{"what-if", "--from", "5", "--compare", "--rows", "3"}, "excludes"},
      {{"what-if", "--from", "5", "--rows", "3", "-o", "json"}, "--rows: found with -o json"},
      {{"what-if", "--from", "50", "--until", "40"}, "--from: found 50"},
      {{"what-if", "--from", "5", "--drop", "job/nobody"}, "--drop: found \"job/nobody\""},
      // from and to
      {{"export", "--from", "50", "--until", "40"}, "--from: found 50"},
      {{"bisect", "event QuotaReserved", "--from", "50", "--until", "40"}, "--from: found 50"},
      {{"top", "--since", "50", "--at", "40"}, "--since: found \"50\""},
      {{"log", "cat", "--from", "50", "--to", "40"}, "--from: found 50"},
      {{"log", "cat", "--follow", "--to", "40"}, "excludes"},
      // logs
      {{"get", "wl", "--log-config", "f"}, "--log-config: is for logs on Kafka"},
      {{"log", "copy", small_, folder_.file("x.db"), "--log-config", "f"}, "--log-config: is for logs on Kafka"},
      {{"log", "trim", "--before", "5", "--log-config", "f"}, "--log-config: is for logs on Kafka"},
      {{"log", "quarantine", "5", "--log-config", "f"}, "--log-config: is for logs on Kafka"},
      {{"log", "checkpoints", "--drop", "5", "--log-config", "f"}, "--log-config: is for logs on Kafka"},
      {{"log", "checkpoints", "--force"}, "--force: found without --drop"},
      {{"nodes", "--log-config", "f"}, "--log-config: is for logs on Kafka"},
      {{"log", "init"}, "allowed: a log on Kafka"},
      {{"audit", "--checkpoint", "--to", "5"}, "--to: found with --checkpoint"},
      {{"audit", "--checkpoint", "--chain-only"}, "--chain-only: found with --checkpoint"},
      {{"audit", "--key", "k"}, "--key: found without --checkpoint"},
      // simulate
      {{"simulate", manifests_, "--trace-format", "swf"}, "found without --trace"},
      {{"simulate", manifests_, "--trace-queue", "user"}, "found without --trace"},
      {{"simulate", manifests_, "--trace-priorities"}, "found without --trace"},
      {{"simulate", manifests_, "--write-time", "soon"}, "--write-time: found \"soon\", allowed: a duration from 0s to 1m"},
      {{"simulate", manifests_, "--write-time", "-1s"}, "allowed: a duration from 0s to 1m"},
      {{"simulate", manifests_, "--write-time", "61s"}, "allowed: a duration from 0s to 1m"},
      {{"simulate", manifests_, "--writes-at-a-time", "2"}, "--writes-at-a-time: found without --write-time"},
      {{"simulate", manifests_, "--write-time", "5ms", "--writes-at-a-time", "0"}, "allowed: a whole number, 1 to 1000"},
      {{"simulate", manifests_, "-n", "a"}, "-n: found without --generate and --trace"},
      // ui
      {{"ui", "--listen", "127.0.0.1:0", "--kubeconfig", "f"}, "--kubeconfig: found with --listen 127.0.0.1:0"},
      {{"ui", "--listen", "127.0.0.1:0", "--cert-dir", "d"}, "--cert-dir: found with --listen 127.0.0.1:0"},
      {{"ui", "--listen", "127.0.0.1:0", "--states", "0"}, "allowed: a whole number, 1 to 64"},
      {{"ui", "--listen", "127.0.0.1:0", "--log-config", "f"}, "--log-config: is for logs on Kafka"},
      {{"ui", "--listen", "127.0.0.1:0", "--memory", "1"}, "allowed: a quantity of bytes as 200Mi, from 32Mi to 1Ti"},
      {{"ui", "--listen", "nowhere"}, "--listen: address: found \"nowhere\""},
      // doctor
      {{"doctor", "--print", "rbac", "--only", "log"}, "--only: found with --print; allowed: --print alone"},
      {{"doctor", "--print", "rbac", "--server", "http://h:1"}, "--server: found with --print"},
      {{"doctor", "--own-rights", "--as-controller", "a/b"}, "excludes"},
      {{"doctor", "--timeout", "0"}, "allowed: a whole number, 1 to 600"},
      // run
      {{"run", "--keep"}, "--keep requires --quickstart"},
      {{"run", "--group", "g"}, "--group: --role is all; allowed: node"},
      {{"run", "--member", "m"}, "--member: --role is all; allowed: node"},
      {{"run", "--session-timeout", "6"}, "--session-timeout: --role is all; allowed: node"},
      {{"run", "--standby"}, "--standby: --role is all; allowed: node"},
      {{"run", "--role", "connector", "--log", kafka, "--standby"}, "--standby: --role is connector; allowed: node"},
      {{"run", "--no-lease", "--lease-namespace", "n"}, "excludes"},
      {{"run", "--webhook-cert-lifetime", "24h"}, "--webhook-cert-lifetime requires --webhooks"},
      {{"run", "--webhooks", "--webhook-client-name", "n"}, "--webhook-client-name requires --webhook-client-ca"},
      {{"run", "--metrics-address", ":1"}, "--metrics-address requires --metrics"},
      {{"run", "--visibility-address", ":1"}, "--visibility-address requires --visibility"},
      {{"run", "--ui-states", "2"}, "--ui-states requires --ui"},
      {{"run", "--ui-memory", "1Gi"}, "--ui-memory requires --ui"},
      {{"run", "--ui-cache-dir", "d"}, "--ui-cache-dir requires --ui"},
      {{"run", "--role", "node", "--log", kafka, "--ui", "127.0.0.1:0"}, "--ui: not with --role node"},
      {{"run", "--snapshot-dir", "d"}, "--snapshot-dir: is for a log on Kafka"},
      {{"run", "--log", kafka, "--durability", "off"}, "--durability: is for files"},
      {{"run", "--log", kafka, "--log-limit", "1Gi"}, "--log-limit: is for the file of a control plane"},
      {{"run", "--domains", "trees"}, "--domains trees: --role is all"},
      {{"run", "--role", "connector", "--log", kafka, "--keep-history", "1h"}, "--keep-history: --role is connector"}};
  for (const auto& one : refused) {
    Words words = one.words;
    const bool of_run = words[0] == "run" || words[0] == "simulate";
    if (!of_run && words[1] != "copy") words.insert(words.end(), {"--log", small_});
    if (words[0] == "run") words.insert(words.end(), {"--log-level", "off"});
    const auto said = say(words);
    const bool out_of_range = one.part.find("past the end") != std::string::npos || one.part.find("nobody") != std::string::npos;
    EXPECT_EQ(said.status, out_of_range ? 1 : 2) << text_of_call(words) << "\n" << said.err;
    expect_told(said, words, {one.part});
    EXPECT_EQ(test::errors_in(said.err), 1U) << said.err;
  }
  EXPECT_FALSE(std::filesystem::exists(folder_.file("x.db"))) << "what was refused leaves nothing behind";
}

/// A node decides and is on no cluster: whatever is about one is refused, each option of `run` but those that it reads.
TEST_F(RefusedCombinations, ANodeRefusesWhatIsAboutACluster) {
  const std::map<std::string, Words> about_a_cluster{
      {"--kubeconfig", {"f"}},      {"--context", {"c"}},     {"--config", {"f"}},        {"--feature-gates", {"A=true"}},
      {"--domain", {"d"}},          {"--domains", {"one"}},   {"--max-in-flight", {"3"}}, {"--connect-timeout", {"1"}},
      {"--lease-namespace", {"n"}}, {"--no-lease", {}},       {"--webhooks", {}},         {"--visibility", {}},
      {"--durability", {"fsync"}},  {"--log-limit", {"1Gi"}}, {"--ui", {"127.0.0.1:0"}},  {"--observe", {}},
      {"--switch-mode", {}}};
  for (const auto& [option, value] : about_a_cluster) {
    Words words{"run", "--role", "node", "--log", "kafka:127.0.0.1:1", "--log-level", "off", option};
    words.insert(words.end(), value.begin(), value.end());
    const auto said = say(words);
    EXPECT_EQ(said.status, 2) << text_of_call(words);
    expect_told(said, words, {option + ": not with --role node", "allowed with it: "});
  }
  // The others it reads, or they need one of these: nothing is left that it could ignore.
  std::set<std::string> read{"--log",
                             "--log-config",
                             "--log-level",
                             "--http",
                             "--probe-address",
                             "--metrics",
                             "--metrics-address",
                             "--metrics-service",
                             "--metrics-cert-dir",
                             "--snapshot-dir",
                             "--keep-history",
                             "--group",
                             "--member",
                             "--session-timeout",
                             "--standby",
                             "--checkpoint-key",
                             "--role"};
  std::ostringstream out, err;
  Session session{out, err};
  const auto app = make_application(session);
  for (const auto* option : app->get_subcommand("run")->get_options()) {
    const std::string name = option->get_name();
    if (name.starts_with("--help") || read.contains(name) || about_a_cluster.contains(name) || name == "--quickstart" || name == "--keep")
      continue;
    EXPECT_FALSE(option->get_needs().empty()) << name << ": what becomes of it with --role node?";
  }
}

/// A combination that has a meaning is not refused.
TEST_F(RefusedCombinations, WhatHasAMeaningIsTaken) {
  ASSERT_EQ(say({"simulate", manifests_, "--log", small_}).status, 0);
  for (const Words& words :
       std::vector<Words>{{"get", "wl", "-A", "--sort-by", ".metadata.name", "--no-headers", "-o", "wide", "--at", "40"},
                          {"get", "events", "--for", "job/holder", "--since", "1", "--at", "50"},
                          {"top", "localqueues", "--sort-by", "wait", "--since", "1", "--at", "50", "-o", "json"},
                          {"what-if", "--from", "5", "--compare", "--until", "40"},
                          {"what-if", "--from", "5", "--rows", "0", "--set", "cq/cq:cpu=+1"},
                          {"diff", "1", "40", "--summary", "-o", "yaml"},
                          {"log", "cat", "--from", "20", "--to", "30", "--limit", "3", "-o", "json"},
                          {"blame", "cq/cq", "--limit", "2", "--at", "40", "-o", "json"},
                          {"history", "job/holder", "--full", "--at", "40"},
                          {"replay", "--from-start", "--fields", "--at", "20", "-o", "json"},
                          {"export", "--from", "5", "--until", "40", "--format", "jsonl"}}) {
    const auto said = say(test::on(small_, words));
    EXPECT_EQ(said.status, 0) << text_of_call(words) << "\n" << said.err;
  }
}

}  // namespace
}  // namespace hindsight::cli
