// What `get --watch` prints of objects that come, change and go.

#include "cli/watched.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/kinds.hpp"

namespace hindsight::cli {
namespace {

/// One row an object: name, a value and an age.
struct WatchedRow {
  std::string name, value, uid;
  std::string age = "1s";
};

Listing listing_of(const std::vector<WatchedRow>& rows) {
  Listing out;
  out.table.columns = {{"NAME"}, {"VALUE"}, {"AGE"}, {"WIDE", true}};
  for (const auto& row : rows) {
    out.table.rows.push_back({row.name, row.value, row.age, row.value + "!"});
    out.objects.push_back(Json{{"kind", "Workload"}, {"metadata", {{"name", row.name}, {"uid", row.uid}}}, {"value", row.value}});
    out.phases.emplace_back("Pending");
  }
  return out;
}

class WatchedObjects : public ::testing::Test {
 protected:
  /// "DELETED a 1, ADDED b 2", from what stands in the table; that the objects are the same is checked.
  std::string next(const std::vector<WatchedRow>& rows, bool forgets = false) {
    Listing listing = listing_of(rows);
    const auto events = watched_.next(*find_kind("workloads"), listing, forgets);
    EXPECT_EQ(events.size(), listing.objects.size());
    EXPECT_EQ(listing.table.rows.size(), listing.objects.size());
    std::string out;
    for (std::size_t i = 0; i < events.size(); ++i) {
      const auto& row = listing.table.rows.at(i);
      EXPECT_EQ(listing.objects[i]["metadata"]["name"], row[0].text);
      EXPECT_EQ(listing.objects[i]["value"], row[1].text);
      out += (out.empty() ? "" : ", ") + std::string(name_of(events[i])) + " " + row[0].text + " " + row[1].text;
    }
    return out;
  }
  Watched watched_{true, false};
};

TEST_F(WatchedObjects, AreShownWhenTheyComeChangeAndGo) {
  EXPECT_EQ(next({{"a", "1", "u1"}, {"b", "1", "u2"}}), "ADDED a 1, ADDED b 1");
  EXPECT_EQ(next({{"a", "1", "u1"}, {"b", "1", "u2"}}), "");
  EXPECT_EQ(next({{"a", "1", "u1", "9s"}, {"b", "2", "u2", "9s"}}), "MODIFIED b 2") << "an age is no change";
  EXPECT_EQ(next({{"b", "2", "u2"}, {"c", "1", "u3"}}), "DELETED a 1, ADDED c 1") << "once more in its last form";
  EXPECT_EQ(next({}), "DELETED b 2, DELETED c 1");
  EXPECT_EQ(next({}), "");
}

TEST_F(WatchedObjects, OneThatWasMadeAnewHasGoneAndIsNew) {
  EXPECT_EQ(next({{"a", "1", "u1"}}), "ADDED a 1");
  EXPECT_EQ(next({{"a", "1", "u2"}}), "DELETED a 1, ADDED a 1");
}

TEST_F(WatchedObjects, SeveralRowsOfOneObjectAreEachTheirOwn) {
  EXPECT_EQ(next({{"a", "1", "u1"}, {"a", "2", "u1"}}), "ADDED a 1, ADDED a 2");
  EXPECT_EQ(next({{"a", "1", "u1"}, {"a", "2", "u1"}}), "");
  EXPECT_EQ(next({{"a", "1", "u1"}}), "DELETED a 2");
}

/// Of Events only the newest are kept: one that is not listed any more was not deleted.
TEST_F(WatchedObjects, WhatIsForgottenHasNotGone) {
  EXPECT_EQ(next({{"a", "1", "u1"}, {"b", "1", "u2"}}, true), "ADDED a 1, ADDED b 1");
  EXPECT_EQ(next({{"b", "1", "u2"}}, true), "");
}

/// Names of jobs that are gone resolve to nothing: there is no table any more, and what was shown goes all the same.
TEST_F(WatchedObjects, GoWithTheTableThatShowedThem) {
  EXPECT_EQ(next({{"a", "1", "u1"}}), "ADDED a 1");
  Listing nothing;
  const auto events = watched_.next(*find_kind("workloads"), nothing, false);
  ASSERT_EQ(events, std::vector<Watched::Event>{Watched::Event::deleted});
  EXPECT_EQ(nothing.table.columns.size(), 4U);
  EXPECT_EQ(nothing.table.rows.at(0)[0].text, "a");
}

TEST(WatchedDocuments, AreComparedWhole) {
  Watched watched(false, false);
  const auto next = [&](const std::vector<WatchedRow>& rows) {
    Listing listing = listing_of(rows);
    listing.table = {};
    return watched.next(*find_kind("workloads"), listing, false).size();
  };
  EXPECT_EQ(next({{"a", "1", "u1"}}), 1U);
  EXPECT_EQ(next({{"a", "1", "u1"}}), 0U);
  EXPECT_EQ(next({{"a", "2", "u1"}}), 1U);
  EXPECT_EQ(next({}), 1U);
}

}  // namespace
}  // namespace hindsight::cli
