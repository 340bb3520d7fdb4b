// docs/metrics.md and docs/feature-gates.md say what the tables in the code say, and no metric is missing in the table: issue 21, sections
// 4 and 5 (generated references). HINDSIGHT_WRITE_DOCS=1 writes both pages anew.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/monitoring/pages.hpp"

namespace hindsight::monitoring {
namespace {

std::string text_of_file(const std::filesystem::path& file) {
  std::ifstream in(file);
  EXPECT_TRUE(in.good()) << file;
  return {std::istreambuf_iterator<char>(in), {}};
}

void expect_page(const std::string& file, const std::string& generated) {
  const std::string page = text_of_file(file);
  const std::string now = with_generated(page, generated);
  ASSERT_FALSE(now.empty()) << file << " has no lines " << begin_generated << "and " << end_generated;
  if (std::getenv("HINDSIGHT_WRITE_DOCS") != nullptr) {
    std::ofstream(file) << now;
    return;
  }
  const auto at = std::mismatch(page.begin(), page.end(), now.begin(), now.end());
  EXPECT_TRUE(page == now) << file << " is out of date from here on (HINDSIGHT_WRITE_DOCS=1 writes it anew): "
                           << std::string(at.second, now.end()).substr(0, 200);
}

TEST(Reference, MetricsPageSaysWhatTheTableSays) { expect_page("docs/metrics.md", metrics_page()); }

TEST(Reference, GatesPageSaysWhatTheTablesSay) { expect_page("docs/feature-gates.md", gates_page()); }

/// All text of the program, by file.
const std::map<std::string, std::string>& sources() {
  static const auto all = [] {
    std::map<std::string, std::string> out;
    for (const char* folder : {"actors", "admission", "cli", "connectors", "events", "operations", "page", "projections", "replay",
                               "routing", "runtime", "simulation", "vocabulary", "whatif"})
      for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
        if (const auto ext = entry.path().extension(); ext == ".cpp" || ext == ".hpp")
          out[entry.path().string()] = text_of_file(entry.path());
    return out;
  }();
  return all;
}

/// A name that is registered stands in the table, because it does not compile otherwise (MetricName). So nothing may get around that.
TEST(MetricTable, NothingElseWritesTheFormat) {
  std::set<std::string> writes;
  for (const auto& [file, text] : sources())
    if (text.find("# TYPE ") != std::string::npos || text.find("Name(\"") != std::string::npos) writes.insert(file);
  EXPECT_EQ(writes, std::set<std::string>{"runtime/metrics_text.cpp"});
}

/// What nobody registers would be a promise of the page only.
TEST(MetricTable, EveryRowIsRegisteredSomewhere) {
  std::set<std::string> named;  // every literal that could be the name of a metric
  for (const auto& [file, text] : sources()) {
    if (file == "projections/metric_table.hpp") continue;
    for (const std::string_view prefix : {"\"kueue_", "\"hindsight_"})
      for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at + 1))
        named.insert(text.substr(at + 1, text.find('"', at + 1) - at - 1));
  }
  for (const auto& m : projections::metric_table())
    EXPECT_TRUE(named.contains(std::string(m.name))) << m.name << " stands in the table, and nothing registers it";
}

// As Prometheus wants names to be: units and kinds of values are what a name ends with.
TEST(MetricTable, NamesSayUnitAndType) {
  using projections::MetricType;
  using projections::MetricUnit;
  for (const auto& m : projections::metric_table()) {
    SCOPED_TRACE(m.name);
    const bool of_kueue = m.origin == projections::MetricOrigin::kueue;
    EXPECT_EQ(m.name.ends_with("_total"), m.type == MetricType::counter);
    if (m.unit == MetricUnit::seconds) {
      EXPECT_TRUE(m.name.ends_with("_seconds"));
    }
    if (m.unit == MetricUnit::timestamp) {
      EXPECT_TRUE(m.name.ends_with("_timestamp_seconds"));
    }
    if (m.unit == MetricUnit::bytes) {
      EXPECT_TRUE(m.name.ends_with("_bytes"));
    }
    if (of_kueue) {
      EXPECT_TRUE(m.name.starts_with("kueue_"));
    }
    if (m.origin == projections::MetricOrigin::own) {
      EXPECT_TRUE(m.name.starts_with("hindsight_"));
    }
    EXPECT_FALSE(m.help.empty());
    EXPECT_FALSE(m.help.ends_with("."));
    EXPECT_EQ(m.help.find_first_of("|\n\\"), std::string_view::npos);
    std::vector<std::string> labels;
    std::string one;
    for (const char c : std::string(m.labels) + " ") {
      if (c != ' ') {
        one += c;
      } else if (!one.empty()) {
        labels.push_back(std::exchange(one, {}));
      }
    }
    EXPECT_TRUE(std::is_sorted(labels.begin(), labels.end()));
    if (m.name.starts_with("kueue_") && m.name != "kueue_build_info") {
      EXPECT_EQ(std::count(labels.begin(), labels.end(), "replica_role"), 1);
    }
  }
}

// base-api §8: what Kueue has and is not here stands on the page, so that nobody looks for it.
TEST(MetricTable, WhatIsNotHereStandsOnThePage) {
  const std::string page = text_of_file("docs/metrics.md");
  for (const char* name : {"multikueue_workloads_dispatched_total", "multikueue_workloads_admitted_total", "multikueue_cluster_status"})
    EXPECT_NE(page.find(name), std::string::npos) << name;
}

// BA-27: each gate is described; an unknown one is an error, which FeatureGatesTest shows.
TEST(GateTable, EveryGateIsDescribed) {
  std::set<std::string> texts;
  for (const auto& gate : operations::feature_gates()) {
    EXPECT_FALSE(gate.what.empty()) << gate.name;
    EXPECT_FALSE(gate.what.ends_with(".")) << gate.name;
    EXPECT_EQ(gate.what.find('|'), std::string_view::npos) << gate.name;
    EXPECT_TRUE(texts.insert(std::string(gate.what)).second) << gate.name << " says what another gate says";
    const auto standings = cli::migrate::gate_standings();
    EXPECT_EQ(std::count_if(standings.begin(), standings.end(), [&](const auto& s) { return s.name == gate.name; }), 1) << gate.name;
  }
}

}  // namespace
}  // namespace hindsight::monitoring
