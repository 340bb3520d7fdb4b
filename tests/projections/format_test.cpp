// How values, tables and documents are written.

#include "projections/format.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "projections/table.hpp"
#include "projections/text_tree.hpp"

namespace hindsight::projections {
namespace {

TEST(HumanDuration, IsWrittenAsKubectlDoes) {
  const std::pair<std::int64_t, const char*> cases[] = {
      {0, "0s"},         {119, "119s"},         {120, "2m"},         {330, "5m30s"},
      {600, "10m"},      {10799, "179m"},       {10800, "3h"},       {3 * 3600 + 1800, "3h30m"},
      {8 * 3600, "8h"},  {47 * 3600, "47h"},    {48 * 3600, "2d"},   {52 * 3600, "2d4h"},
      {8 * 86400, "8d"}, {400 * 86400, "400d"}, {730 * 86400, "2y"}, {800 * 86400, "2y70d"}};
  for (const auto& [seconds, text] : cases) EXPECT_EQ(human_duration(Duration::seconds(seconds)), text) << seconds;
  EXPECT_EQ(human_duration(Duration::seconds(-5)), "0s");
  EXPECT_EQ(age(Time::never(), Time::from_seconds(5)), "<unknown>");
}

TEST(Format, AmountsAndWeights) {
  EXPECT_EQ(amount_text(1500, Symbol("cpu")), "1500m");
  EXPECT_EQ(amount_text(unlimited, Symbol("cpu")), "unlimited");
  EXPECT_EQ(weight_text(1'000'000'000), "1");
  EXPECT_EQ(weight_text(250'000'000), "0.25");
  EXPECT_EQ(weight_text(2'500'000'000), "2.5");
  EXPECT_EQ(weight_text(0), "0");
  EXPECT_EQ(counted(1, "workload"), "1 workload");
  EXPECT_EQ(counted(3, "workload"), "3 workloads");
}

TEST(Table, ColumnsAlignAndLinesHaveNoBlanksAtTheirEnd) {
  Table t;
  t.columns = {{"NAME"}, {"PENDING", false, true}, {"HIDDEN", true}, {"LAST"}};
  t.rows = {{"a", "5", "x", "end"}, {"longer-name", "12", "y", ""}};
  EXPECT_EQ(render(t),
            "NAME          PENDING   LAST\n"
            "a                   5   end\n"
            "longer-name        12\n");
  EXPECT_EQ(render(t, {.wide = true, .headings = false, .indent = "  "}),
            "  a              5   x   end\n"
            "  longer-name   12   y\n");
}

TEST(Table, ColourDoesNotMoveColumnsAndUmlautsCountOnce) {
  Table t;
  t.columns = {{"A"}, {"B"}};
  t.rows = {{{"grün", Tone::good}, "1"}, {"rot", "2"}};
  EXPECT_EQ(render(t, {.colour = true, .headings = false}), "\x1b[32mgrün\x1b[0m   1\nrot    2\n");
}

TEST(TextTree, IsReadableAsDescribeIs) {
  const Json document{{"name", "w1"},
                      {"clusterQueue", "cq"},
                      {"active", true},
                      {"names", {"a", "b"}},
                      {"empty", Json::array()},
                      {"inner", {{"x", 1}}},
                      {"conditions", {{{"type", "Admitted"}, {"since", "now"}}, {{"type", "Evicted"}, {"since", ""}, {"count", 3}}}}};
  EXPECT_EQ(render_tree(document),
            "Name:           w1\n"
            "Cluster Queue:  cq\n"
            "Active:         true\n"
            "Names:          a, b\n"
            "Empty:          <none>\n"
            "Inner:\n"
            "  X:  1\n"
            "Conditions:\n"
            "  TYPE       SINCE   COUNT\n"
            "  Admitted   now\n"
            "  Evicted                3\n");
}

}  // namespace
}  // namespace hindsight::projections
