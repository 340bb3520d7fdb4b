// The gate refuses each kind of change that makes old records unreadable, and lets the good kind pass.

#include "schemas/gate/schema_gate.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace hindsight::schemas {
namespace {

const std::string base = R"(
  namespace a.b;
  enum Color:ubyte { unspecified = 0, red = 1, green = 2 }
  struct Point { x:int; y:int; }
  table Leaf { name:string (id: 0); size:int = 3 (id: 1); color:Color (id: 2); at:Point (id: 3); limit:long = null (id: 4); }
  table Other { name:string (id: 0); }
  union Any { Leaf = 1, Other = 2, Third:Other = 3 }
  table Root { any:Any (id: 1); leaves:[Leaf] (id: 2); }
  root_type Root;
  file_identifier "TEST";
)";

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const auto at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

class Gate : public testing::Test {
 public:
  Gate() : folder_(std::filesystem::path(testing::TempDir()) / "schema_gate") { std::filesystem::create_directories(folder_); }
  ~Gate() override { std::filesystem::remove_all(folder_); }

 protected:
  std::string file(const std::string& name, const std::string& text) {
    auto path = (folder_ / name).string();
    std::ofstream(path) << text;
    return path;
  }

  std::vector<std::string> findings(const std::string& current) {
    const auto out = incompatibilities(file("released.fbs", base), file("current.fbs", current));
    EXPECT_TRUE(out.has_value()) << out.error().message;
    return out.value_or(std::vector<std::string>{});
  }

  std::filesystem::path folder_;
};

struct Change {
  const char* name;
  const char* what;
  const char* with;
  const char* finding;
};

TEST_F(Gate, refuses_each_kind_of_breaking_change) {
  const Change changes[] = {
      {"field renamed", "size:int = 3", "length:int = 3", "a.b.Leaf.size: renamed to length"},
      {"last field removed", "; limit:long = null (id: 4);", ";", "a.b.Leaf.limit: removed"},
      {"field type changed", "size:int = 3", "size:uint = 3", "a.b.Leaf.size: type changed from Int to UInt"},
      {"element type changed", "leaves:[Leaf]", "leaves:[Other]", "a.b.Root.leaves: type changed from [a.b.Leaf] to [a.b.Other]"},
      {"default changed", "size:int = 3", "size:int = 4", "a.b.Leaf.size: default changed"},
      {"no longer optional", "limit:long = null", "limit:long", "a.b.Leaf.limit: default changed"},
      {"field deprecated", "color:Color (id: 2)", "color:Color (id: 2, deprecated)",
       "a.b.Leaf.color: became deprecated, but released records hold it"},
      {"field made required", "name:string (id: 0); size", "name:string (id: 0, required); size", "a.b.Leaf.name: became required"},
      {"required field added", "limit:long = null (id: 4);", "limit:long = null (id: 4); more:string (id: 5, required);",
       "a.b.Leaf.more: new and required"},
      {"enum value removed", ", green = 2", "", "a.b.Color.green: removed"},
      {"enum value renamed", "green = 2", "blue = 2", "a.b.Color.green: renamed to blue"},
      {"enum values swapped", "red = 1, green = 2", "green = 1, red = 2", "a.b.Color.red: renamed to green"},
      {"enum type changed", "enum Color:ubyte", "enum Color:ushort", "a.b.Color: underlying type changed"},
      {"union member removed", ", Third:Other = 3", "", "a.b.Any.Third: removed"},
      {"union alias swapped", "Third:Other = 3", "Third:Leaf = 3", "a.b.Any.Third: stands for a.b.Leaf, stood for a.b.Other"},
      {"union member renumbered", "Third:Other = 3", "Third:Other = 4", "a.b.Any.Third: removed"},
      {"struct grown", "x:int; y:int;", "x:int; y:int; z:int;", "a.b.Point: struct changed its size"},
      {"struct shrunk", "x:int; y:int;", "x:int;", "a.b.Point.y: removed"},
      {"struct fields swapped", "x:int; y:int;", "y:int; x:int;", "a.b.Point.x: renamed to y"},
      {"struct became a table", "struct Point { x:int; y:int; }", "table Point { x:int (id: 0); y:int (id: 1); }",
       "a.b.Point: changed between struct and table"},
      {"namespace renamed", "namespace a.b;", "namespace a.c;", "a.b.Leaf: removed or renamed"},
      {"identifier changed", "\"TEST\"", "\"TSET\"", "file_identifier: changed from \"TEST\" to \"TSET\""},
      {"root changed", "root_type Root", "root_type Leaf", "root_type: changed from \"a.b.Root\" to \"a.b.Leaf\""},
  };
  for (const auto& change : changes) {
    const auto found = findings(replaced(base, change.what, change.with));
    EXPECT_NE(std::find(found.begin(), found.end(), change.finding), found.end())
        << change.name << ": found " << (found.empty() ? "nothing" : found.front());
  }
  const auto renamed =
      replaced(replaced(replaced(base, "table Other", "table Another"), "Other = 2", "Another = 2"), "Third:Other", "Third:Another");
  const auto found = findings(renamed);
  EXPECT_NE(std::find(found.begin(), found.end(), "a.b.Other: removed or renamed"), found.end());
}

TEST_F(Gate, lets_additions_pass) {
  EXPECT_EQ(findings(base), std::vector<std::string>{});
  EXPECT_EQ(findings(replaced(base, "limit:long = null (id: 4);", "limit:long = null (id: 4); more:string (id: 5);")),
            std::vector<std::string>{});
  EXPECT_EQ(findings(replaced(base, "green = 2", "green = 2, blue = 3")), std::vector<std::string>{});
  EXPECT_EQ(findings(replaced(base, "Third:Other = 3", "Third:Other = 3, Fourth:Leaf = 9")), std::vector<std::string>{});
  EXPECT_EQ(findings(replaced(base, "table Root", "table New { x:int (id: 0); } table Root")), std::vector<std::string>{});
}

TEST_F(Gate, names_what_breaks_the_house_rules) {
  const auto found = house_rule_breaches(file("house.fbs", R"(
    namespace a;
    enum Bad:ubyte { one = 1 }
    struct Point { x:int; }
    table T { ratio:float (id: 0); list:[double] (id: 1); name:string (id: 2, required); bad:Bad = one (id: 3); }
  )"));
  ASSERT_TRUE(found.has_value()) << found.error().message;
  const std::vector<std::string> expected{
      "a.Point: is a struct, which can never change; use a table", "a.T.list: is a float; use scaled integers",
      "a.T.name: is required; what is required can never go", "a.T.ratio: is a float; use scaled integers", "a.Bad: has no value 0"};
  EXPECT_EQ(*found, expected);
}

TEST_F(Gate, says_what_it_cannot_read) {
  const auto missing = house_rule_breaches((folder_ / "missing.fbs").string());
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().kind, ErrorKind::not_found);
  const auto no_ids = house_rule_breaches(file("no_ids.fbs", "table T { x:int; }"));
  ASSERT_FALSE(no_ids.has_value());
  EXPECT_EQ(no_ids.error().kind, ErrorKind::invalid);
  EXPECT_NE(no_ids.error().message.find("id"), std::string::npos);
}

}  // namespace
}  // namespace hindsight::schemas
