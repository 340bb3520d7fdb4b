// What /metrics tells of the domains of a process: names, labels and values, with one domain and with many.

#include "runtime/node_metrics.hpp"

#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>

namespace hindsight::runtime {
namespace {

/// Samples by their text up to the value; "# TYPE name" by name.
std::map<std::string, std::string> lines_of(const std::string& text) {
  std::map<std::string, std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("# HELP ")) continue;
    const auto at = line.rfind(' ');
    const bool fresh = out.emplace(line.substr(0, at), line.substr(at + 1)).second;
    EXPECT_TRUE(fresh) << "twice: " << line;
  }
  return out;
}

actors::NodeStatus busy() {
  actors::NodeStatus s;
  s.position = 4711;
  s.epoch = 3;
  s.decisions = 12;
  s.in_flight_records = 2;
  s.restarts = 1;
  s.caught_up = true;
  s.behind = Duration::millis(1'500);
  s.attempts.success.add(0.0002);
  s.attempts.success.add(20);
  s.attempts.inadmissible.add(0.0001);
  return s;
}

TEST(NodeMetrics, OneDomainHasNoLabels) {
  MetricsText out;
  add_node_metrics(out, {{{}, busy(), NodeSnapshots::Standing{4000, 2}}}, {.epoch = true, .replica_role = "leader"});
  auto lines = lines_of(out.text());
  EXPECT_EQ(lines["hindsight_log_position"], "4711");
  EXPECT_EQ(lines["# TYPE hindsight_log_position"], "gauge");
  EXPECT_EQ(lines["hindsight_epoch"], "3");
  EXPECT_EQ(lines["hindsight_decisions_total"], "12");
  EXPECT_EQ(lines["# TYPE hindsight_decisions_total"], "counter");
  EXPECT_EQ(lines["hindsight_inbox"], "2");
  EXPECT_EQ(lines["hindsight_domain_restarts_total"], "1");
  EXPECT_EQ(lines["hindsight_deciding"], "1");
  EXPECT_EQ(lines["hindsight_log_behind_seconds"], "1.500");
  EXPECT_EQ(lines["hindsight_snapshot_position"], "4000");
  EXPECT_EQ(lines["hindsight_snapshot_failures_total"], "2");
  EXPECT_NE(out.text().find("# HELP hindsight_log_position Position in the log"), std::string::npos);
}

// BA-185: admission_attempt_duration_seconds, by result
TEST(NodeMetrics, CyclesAreAHistogram) {
  MetricsText out;
  add_node_metrics(out, {{{}, busy(), NodeSnapshots::Standing{}}}, {.epoch = true, .replica_role = "leader"});
  auto lines = lines_of(out.text());
  const std::string name = "kueue_admission_attempt_duration_seconds";
  const auto bucket = [&](const char* result, const char* le) {
    return lines[name + "_bucket{replica_role=\"leader\",result=\"" + result + "\",le=\"" + le + "\"}"];
  };
  EXPECT_EQ(lines["# TYPE " + name], "histogram");
  EXPECT_EQ(bucket("success", "0.0001"), "0");
  EXPECT_EQ(bucket("success", "0.00025"), "1");
  EXPECT_EQ(bucket("success", "10"), "1");
  EXPECT_EQ(bucket("success", "+Inf"), "2");
  EXPECT_EQ(bucket("inadmissible", "0.0001"), "1") << "a bound belongs to what is below it";
  EXPECT_EQ(lines[name + "_sum{replica_role=\"leader\",result=\"success\"}"], "20.0002");
  EXPECT_EQ(lines[name + "_count{replica_role=\"leader\",result=\"success\"}"], "2");
}

TEST(NodeMetrics, ManyDomainsAreToldApart) {
  actors::NodeStatus waits = busy();
  waits.waits_for_log = "the log cannot be reached";
  MetricsText out;
  add_node_metrics(out,
                   {{labels_of_domain(0, "one"), busy(), NodeSnapshots::Standing{}},
                    {labels_of_domain(7, "a \"name\"\\\n"), waits, NodeSnapshots::Standing{}}},
                   {.epoch = true, .replica_role = "leader"});
  auto lines = lines_of(out.text());
  EXPECT_EQ(lines[R"(hindsight_deciding{partition="0",domain="one"})"], "1");
  EXPECT_EQ(lines[R"(hindsight_deciding{partition="7",domain="a \"name\"\\\n"})"], "0") << "its log takes no records";
  EXPECT_EQ(lines[R"(kueue_admission_attempt_duration_seconds_count{replica_role="leader",result="success"})"], "4") << "of both together";
}

/// Else nobody would see that no decider is left: connectors follow every domain.
TEST(NodeMetrics, AConnectorDoesNotDecide) {
  MetricsText out;
  add_node_metrics(out, {{labels_of_domain(0, "one"), busy(), std::nullopt}}, {.epoch = true, .replica_role = "leader"});
  for (const char* name :
       {"hindsight_deciding", "hindsight_decisions_total", "hindsight_snapshot", "kueue_admission_attempt_duration_seconds"})
    EXPECT_EQ(out.text().find(name), std::string::npos) << name;
  EXPECT_NE(out.text().find("hindsight_log_behind_seconds{"), std::string::npos);
}

TEST(NodeMetrics, AFleetIsTold) {
  MetricsText out;
  add_fleet_metrics(out, {.wanted = 5, .open = 4, .followed = 3, .ready = 2});
  auto lines = lines_of(out.text());
  EXPECT_EQ(lines["hindsight_partitions_wanted"], "5");
  EXPECT_EQ(lines["hindsight_partitions_open"], "4");
  EXPECT_EQ(lines["hindsight_standby_domains"], "3");
  EXPECT_EQ(lines["hindsight_standby_domains_ready"], "2");
}

TEST(NodeMetrics, WithoutDomainsThereAreNoSamples) {
  MetricsText out;
  add_node_metrics(out, {}, {.epoch = true, .replica_role = "leader"});
  EXPECT_EQ(out.text(), "");
}

}  // namespace
}  // namespace hindsight::runtime
