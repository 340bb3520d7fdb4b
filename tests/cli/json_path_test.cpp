// JSONPath as kubectl has it: what each form finds, what templates print, what is refused, and that no text does harm.

#include "cli/json_path.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

namespace hindsight::cli {
namespace {

const Json& document() {
  static const Json out = Json::parse(R"({
    "kind": "List",
    "items": [
      {"metadata": {"name": "a", "labels": {"kubernetes.io/hostname": "h1", "team": "x"}}, "spec": {"priority": 10, "active": true}},
      {"metadata": {"name": "b", "labels": {"team": "y"}}, "spec": {"priority": 30, "active": false}},
      {"metadata": {"name": "c"}, "spec": {"priority": 20, "list": [1, 2, 3, 4]}}
    ]
  })");
  return out;
}

std::string printed(std::string_view text) {
  const auto path = JsonPath::parse_template(text);
  if (!path) return "refused: " + path.error().message;
  const auto out = path->print(document());
  return out ? *out : "failed: " + out.error().message;
}

TEST(JsonPath, FindsWhatEachFormNames) {
  const std::pair<const char*, const char*> cases[] = {
      {"{.kind}", "List"},
      {"{$.kind}", "List"},
      {"{.items[0].metadata.name}", "a"},
      {"{.items[-1].metadata.name}", "c"},
      {"{.items[*].metadata.name}", "a b c"},
      {"{.items[1:].metadata.name}", "b c"},
      {"{.items[:2].metadata.name}", "a b"},
      {"{.items[0:3:2].metadata.name}", "a c"},
      {"{.items[0,2].metadata.name}", "a c"},
      {"{.items[0]['metadata','spec']}",
       R"({"name":"a","labels":{"kubernetes.io/hostname":"h1","team":"x"}} {"priority":10,"active":true})"},
      {"{.items[0].metadata.labels.kubernetes\\.io/hostname}", "h1"},
      {"{.items[0].metadata.labels['kubernetes.io/hostname']}", "h1"},
      {"{..name}", "a b c"},
      {"{.items[2].spec.*}", "20 [1,2,3,4]"},
      {"{.items[2].spec.list[*]}", "1 2 3 4"},
      {"{.items[2].spec.list[1:3]}", "2 3"},
      {R"({.items[?(@.metadata.name=="b")].spec.priority})", "30"},
      {"{.items[?(@.metadata.name=='b')].spec.priority}", "30"},
      {"{.items[?(@.spec.priority>=20)].metadata.name}", "b c"},
      {"{.items[?(@.spec.priority<20)].metadata.name}", "a"},
      {"{.items[?(@.spec.priority!=20)].metadata.name}", "a b"},
      {"{.items[?(@.spec.active==true)].metadata.name}", "a"},
      {"{.items[?(@.metadata.labels)].metadata.name}", "a b"},
      {"{.items[?(@.metadata.labels.team==\"y\")].metadata.name}", "b"},
      {"{.items[?(@.spec.list[?(@==3)])].metadata.name}", "c"},
      {"{.absent}", ""},
      {"{.items[9].metadata}", ""},
      {"{.kind.name[0]}", ""},
      {"{.kind}{\"\\t\"}{.items[0].spec.priority}{'\\n'}", "List\t10\n"},
      {"kind: {.kind}!", "kind: List!"},
      {"{range .items[*]}{.metadata.name}={.spec.priority}{\"\\n\"}{end}", "a=10\nb=30\nc=20\n"},
      {"{range .items[*]}{.metadata.name}:{range .spec.list[*]}<{@}>{end};{end}", "a:;b:;c:<1><2><3><4>;"},
      {"{range .items[*]}{$.kind} {end}", "List List List "},
      {".items[0].metadata.name", "a"},
      {"text alone", "text alone"},
      {"", ""}};
  for (const auto& [text, expected] : cases) EXPECT_EQ(printed(text), expected) << text;
}

TEST(JsonPath, RefusesTheRestWithThePlace) {
  const std::pair<const char*, const char*> cases[] = {{"{.items[}", "found \"}\" at byte 9"},
                                                       {"{.items[0}", "found \"}\" at byte 10; allowed: \"]\""},
                                                       {"{.a", "found its end at byte 4; allowed: \"}\""},
                                                       {"{}", "found \"}\" at byte 2; allowed: .FIELD"},
                                                       {"{.a.}", "found \"}\" at byte 5; allowed: .FIELD"},
                                                       {"{.a b}", "found \"b}\" at byte 5"},
                                                       {"{end}", "allowed: {end} only behind a {range ...}"},
                                                       {"{range .a}", "allowed: {end} for each {range ...}"},
                                                       {"{range .a}{.b}", "allowed: {end} for each {range ...}"},
                                                       {"{\"open}", "a quotation mark at the end of the text"},
                                                       {"{\"\\x\"}", "allowed: \\n, \\t"},
                                                       {"{.a[?(@.b=)]}", "allowed: ==, !="},
                                                       {"{.a[?(@.b==)]}", "allowed: @.FIELD, \"TEXT\", a number"},
                                                       {"{.a[?(@.b==nonsense)]}", "allowed: @.FIELD, \"TEXT\", a number"},
                                                       {"{.a[0:4:0]}", "allowed: a step of 1 or more"},
                                                       {"{.a[99999999999]}", "allowed: indexes up to 2147483647"},
                                                       {"{.a[-]}", "allowed: digits behind"}};
  for (const auto& [text, expected] : cases) EXPECT_NE(printed(text).find(expected), std::string::npos) << text << "\n" << printed(text);
  EXPECT_TRUE(printed("{.items[?(@..priority==1)]}").empty());
  EXPECT_NE(printed("{.items[?(@.spec.list[*]==1)]}").find("found 4 values on one side of a comparison; allowed: one"), std::string::npos);
}

TEST(JsonPath, AnExpressionNeedsNoBraces) {
  for (const char* text : {".items[0].metadata.name", "items[0].metadata.name", "{.items[0].metadata.name}", "{items[0].metadata.name}"}) {
    const auto path = JsonPath::parse_expression(text);
    ASSERT_TRUE(path) << text << ": " << path.error().message;
    const auto values = path->values(document());
    ASSERT_TRUE(values);
    ASSERT_EQ(values->size(), 1U) << text;
    EXPECT_EQ(*values->front(), "a") << text;
  }
  for (const char* text : {"", "a{.b}", "{.a}{.b}", "{range .a}{end}", ".a b"}) EXPECT_FALSE(JsonPath::parse_expression(text)) << text;
}

// What a tenant wrote is shown on its line.
TEST(JsonPath, TextsOfTheDocumentArePrintable) {
  const auto path = JsonPath::parse_template("{.name}|{.all}").value();
  EXPECT_EQ(path.print(Json{{"name", "a\n\x1b[31m"}, {"all", {{"k", "\x1b"}}}}).value(), "a\\n\\x1b[31m|{\"k\":\"\\u001b\"}");
}

TEST(JsonPath, HasBounds) {
  EXPECT_NE(printed(std::string(JsonPathLimits::text + 1, 'x')).find("allowed: up to 4096"), std::string::npos);
  EXPECT_EQ(printed(std::string(JsonPathLimits::text, 'x')), std::string(JsonPathLimits::text, 'x'));
  const auto nested = [](std::size_t depth) {
    std::string out;
    for (std::size_t i = 0; i < depth; ++i) out += "{range .}";
    for (std::size_t i = 0; i < depth; ++i) out += "{end}";
    return out;
  };
  EXPECT_EQ(printed(nested(JsonPathLimits::nesting)), "");
  EXPECT_NE(printed(nested(JsonPathLimits::nesting + 1)).find("allowed: at most 16 ranges in each other"), std::string::npos);
  std::string filters = "{";
  for (std::size_t i = 0; i <= JsonPathLimits::nesting; ++i) filters += ".a[?(@";
  EXPECT_NE(printed(filters).find("allowed: at most 16 filters in each other"), std::string::npos) << printed(filters);
  // All below all below all: the answer is cut off, not the machine.
  Json deep = 1;
  for (int i = 0; i < 300; ++i) deep = Json{{"a", std::move(deep)}};
  const auto path = JsonPath::parse_template("{..*..*..*..*..*..*}").value();
  const auto out = path.print(deep);
  ASSERT_FALSE(out);
  EXPECT_NE(out.error().message.find("allowed: a narrower path"), std::string::npos);
}

// Any text gives a path or an error that says what is allowed, and any path an answer that is the same each time.
TEST(JsonPath, AnyTextIsReadOrRefused) {
  const std::vector<std::string> pieces{"{",     "}",      ".",      "..",   "[",
                                        "]",     "*",      "?(",     ")",    "@",
                                        "$",     "==",     "!=",     "<",    ">=",
                                        "'",     "\"",     ",",      ":",    "-",
                                        "1",     "42",     "name",   "spec", "\\",
                                        " ",     "range ", "end",    "\n",   "{range .items[*]}",
                                        "{end}", "items",  "[0]",    "[*]",  "[?(@.spec.priority>10)]",
                                        "\xff",  "\x01",   "{.kind}"};
  std::mt19937 random(20260101);
  std::size_t read = 0, refused = 0;
  for (int i = 0; i < 30'000; ++i) {
    std::string text = random() % 2 == 0 ? "{" : "";
    for (auto n = random() % 12; n > 0; --n) text += pieces[random() % pieces.size()];
    if (random() % 2 == 0) text += "}";
    const auto path = JsonPath::parse_template(text);
    if (!path) {
      ++refused;
      EXPECT_EQ(path.error().kind, ErrorKind::invalid) << text;
      EXPECT_NE(path.error().message.find("allowed: "), std::string::npos) << path.error().message;
      continue;
    }
    ++read;
    const auto once = path->print(document()), again = path->print(document());
    ASSERT_EQ(once.has_value(), again.has_value()) << text;
    if (once) {
      EXPECT_EQ(*once, *again) << text;
    }
  }
  EXPECT_GT(read, 1000U);
  EXPECT_GT(refused, 1000U);
}

}  // namespace
}  // namespace hindsight::cli
