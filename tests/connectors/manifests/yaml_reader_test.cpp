#include "connectors/manifests/yaml_reader.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace hindsight::connectors::manifests {
namespace {

Json read_one(const std::string& text) {
  const auto documents = read_yaml(text);
  if (!documents) {
    ADD_FAILURE() << text << "\n" << documents.error().message;
    return {};
  }
  EXPECT_EQ(documents->size(), 1U) << text;
  return documents->empty() ? Json() : documents->front().value;
}

std::string error_of(const std::string& text, const ReadLimits& limits = {}) {
  const auto documents = read_yaml(text, limits);
  return documents ? "no error" : documents.error().message;
}

TEST(Yaml, plain_scalars_follow_the_core_schema) {
  const std::vector<std::pair<std::string, std::string>> rows{{"1", "1"},
                                                              {"-7", "-7"},
                                                              {"+5", "5"},
                                                              {"0x1F", "31"},
                                                              {"0o17", "15"},
                                                              {"0755", "493"},
                                                              {"089", "89"},
                                                              {"1.5", "1.5"},
                                                              {"-.5", "-0.5"},
                                                              {"1e3", "1000.0"},
                                                              {"5.", "5.0"},
                                                              {"true", "true"},
                                                              {"False", "false"},
                                                              {"~", "null"},
                                                              {"null", "null"},
                                                              {"NULL", "null"},
                                                              {"yes", R"("yes")"},
                                                              {"on", R"("on")"},
                                                              {"1_000", R"("1_000")"},
                                                              {"2Gi", R"("2Gi")"},
                                                              {"0s", R"("0s")"},
                                                              {"1:30", R"("1:30")"},
                                                              {"e3", R"("e3")"},
                                                              {"2026-01-01T00:00:00Z", R"("2026-01-01T00:00:00Z")"},
                                                              {"9223372036854775807", "9223372036854775807"},
                                                              {"18446744073709551615", "18446744073709551615"},
                                                              {"-9223372036854775808", "-9223372036854775808"},
                                                              {"'1'", R"("1")"},
                                                              {"\"true\"", R"("true")"},
                                                              {"'~'", R"("~")"},
                                                              {"''", R"("")"},
                                                              {"!!str 1", R"("1")"},
                                                              {"!!float 1", "1.0"},
                                                              {"!!int 7", "7"}};
  for (const auto& [text, expected] : rows) EXPECT_EQ(read_one("a: " + text + "\n")["a"].dump(), expected) << text;
}

TEST(Yaml, block_and_flow_forms_give_the_same_tree) {
  EXPECT_EQ(read_one("a:\n- b: 1\n  c: [x, 'y']\n- {d: null}\n"), Json::parse(R"({"a":[{"b":1,"c":["x","y"]},{"d":null}]})"));
  EXPECT_EQ(read_one("a: |\n  two\n  lines\nb: >\n  one\n  line\n"), Json::parse(R"({"a":"two\nlines\n","b":"one line\n"})"));
}

TEST(Yaml, json_is_read_as_it_is) {
  EXPECT_EQ(read_one(R"({"a": [1, 2.5, "x", null, true]})"), Json::parse(R"({"a":[1,2.5,"x",null,true]})"));
}

TEST(Yaml, several_documents_keep_their_lines) {
  const auto documents = read_yaml("---\na: 1\n---\n---\n# nothing\n---\nb: 2\n...\n");
  ASSERT_TRUE(documents);
  ASSERT_EQ(documents->size(), 2U);
  EXPECT_EQ((*documents)[0].value, Json({{"a", 1}}));
  EXPECT_EQ((*documents)[1].value, Json({{"b", 2}}));
  EXPECT_EQ((*documents)[1].line, 6);
}

TEST(Yaml, anchors_aliases_and_merges_work_as_in_kubectl) {
  EXPECT_EQ(read_one("a: &x {p: 1, q: 2}\nb: *x\nc:\n  <<: *x\n  q: 3\n"),
            Json::parse(R"({"a":{"p":1,"q":2},"b":{"p":1,"q":2},"c":{"p":1,"q":3}})"));
  EXPECT_EQ(read_one("a: &x {p: 1}\nb: &y {p: 2, r: 4}\nc:\n  q: 3\n  <<: [*x, *y]\n")["c"], Json::parse(R"({"p":1,"q":3,"r":4})"));
}

TEST(Yaml, what_cannot_be_read_is_told_with_its_line) {
  const std::vector<std::pair<std::string, std::string>> rows{{"a: 1\na: 2\n", "line 2: key \"a\" stands twice in one map"},
                                                              {"a: [1,\nb: 2\n", "line "},
                                                              {"a: .inf\n", "line 1: number .inf has no form in JSON"},
                                                              {"a: !secret x\n", "line 1: tag !secret is not known"},
                                                              {"a: !!int x\n", "line 1: \"x\" is no int as its tag says"},
                                                              {"? [a, b]\n: c\n", "line 1: a key must be a string"},
                                                              {"a: *nowhere\n", "line 1: not YAML: "},
                                                              {"a: &x [1, *x]\n", "line 1: an alias stands inside what it names"},
                                                              {"a:\n  <<: 5\n", "line 2: << must name a map"},
                                                              {R"({"a": 1, "a": 2})", "line 1: key \"a\" stands twice"},
                                                              {"{\"a\": 1,\n \"b\": }}\n", "line 2: not YAML"}};
  for (const auto& [text, expected] : rows) EXPECT_TRUE(error_of(text).starts_with(expected)) << text << "\n" << error_of(text);
}

TEST(Yaml, nesting_is_bounded) {
  std::string flow, block;
  for (int i = 0; i < 300; ++i) {
    flow += "[";
    block += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  }
  EXPECT_NE(error_of("a: " + flow).find("line 1: "), std::string::npos);
  EXPECT_NE(error_of(block).find("nested deeper than 100 levels"), std::string::npos);
  EXPECT_NE(error_of("{\"a\":" + std::string(300, '[') + std::string(300, ']') + "}").find("nested deeper than 100 levels"),
            std::string::npos);
}

TEST(Yaml, aliases_cannot_grow_without_end) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const auto before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) bomb += (j ? ", " : "") + before;
    bomb += "]\n";
  }
  ReadLimits limits;
  limits.values = 100'000;
  EXPECT_NE(error_of(bomb, limits).find("aliases repeat more than 100000 values"), std::string::npos);
}

TEST(Yaml, length_is_bounded) {
  ReadLimits limits;
  limits.bytes = 10;
  EXPECT_EQ(error_of("a: 123456789\n", limits), "is 13 bytes long, allowed: at most 10 bytes");
}

TEST(Yaml, the_line_of_a_field_is_found) {
  const std::string text = "a: 1\n---\nb:\n  c:\n  - x: 1\n    y.z: 2\n  - x: 3\n";
  EXPECT_EQ(line_of(text, 0, "a"), 1);
  EXPECT_EQ(line_of(text, 1, "b.c[0].x"), 5);
  EXPECT_EQ(line_of(text, 1, "b.c[0].y.z"), 6);
  EXPECT_EQ(line_of(text, 1, "b.c[1].x"), 7);
  EXPECT_EQ(line_of(text, 1, "b.c[1].missing"), 7);
  EXPECT_EQ(line_of("{\n \"a\": {\n  \"b\": 5\n }\n}", 0, "a.b"), 3);
}

}  // namespace
}  // namespace hindsight::connectors::manifests
