// Which workload a name means.

#include "projections/lookup.hpp"

#include "tests/projections/reading.hpp"

namespace hindsight::projections {
namespace {

TEST(ParseTarget, ReadsAllItsForms) {
  const auto check = [](std::string_view text, std::string_view kind, std::string_view namespace_, std::string_view name) {
    const auto t = parse_target(text, "default");
    ASSERT_TRUE(t) << text;
    EXPECT_EQ(t->kind, kind) << text;
    EXPECT_EQ(t->namespace_, namespace_) << text;
    EXPECT_EQ(t->name, name) << text;
  };
  check("w1", "Workload", "default", "w1");
  check("team/w1", "Workload", "team", "w1");
  check("workload/w1", "Workload", "default", "w1");
  check("wl/w1", "Workload", "default", "w1");
  check("job/train", "job", "default", "train");
  check("Jobs/train", "job", "default", "train");
  check("jobset/train", "jobset", "default", "train");
  check("job/team/train", "job", "team", "train");
}

TEST(ParseTarget, RefusesTheRest) {
  for (const char* text : {"", "/", "a/", "/a", "a/b/c", "job/a/b/c"}) EXPECT_FALSE(parse_target(text, "default")) << text;
}

class Lookup : public Reading {};

TEST_F(Lookup, FindsByNameJobAndUid) {
  w.set_up({{.name = "cq", .quotas = {{.nominal = 4000}}}});
  w.submit({.name = "plain"});
  w.submit_job({.name = "train"});
  const auto find = [&](const char* text) { return find_workload(w.driver(), parse_target(text, "default").value()); };
  EXPECT_EQ(find("plain")->workload->uid, "uid-plain");
  EXPECT_EQ(find("job/train")->workload->name, "job-train");
  EXPECT_EQ(find("job-train")->parent->job()->name, "train");
  EXPECT_EQ(find_by_uid(w.driver(), "uid-plain").workload->name, "plain");
  EXPECT_EQ(find_by_uid(w.driver(), "nobody").workload, nullptr);
  EXPECT_EQ(find("plani").error().message, "Workload default/plani not found, did you mean plain?");
  EXPECT_EQ(find("job/zebra").error().message, "job default/zebra not found");
  EXPECT_EQ(find("other/plain").error().kind, ErrorKind::not_found);
}

}  // namespace
}  // namespace hindsight::projections
