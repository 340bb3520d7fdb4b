#include "vocabulary/short_uid.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace hindsight {
namespace {

const std::vector<std::string>& uids() {
  static const std::vector<std::string> all{
      "6db6f9a3-08e1-4b89-a1b7-0224e007f955", "ffffffff-ffff-ffff-ffff-ffffffffffff", "80000000-0000-0000-0000-000000000000",
      "00000000-0000-0001-0000-000000000000",
      // kept as texts
      "00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000000", "6DB6F9A3-08e1-4b89-a1b7-0224e007f955",
      "6db6f9a308e14b89a1b70224e007f955", "6db6f9a3-08e1-4b89-a1b7-0224e007f95", "6db6f9a3-08e1-4b89-a1b7-0224e007f955 ",
      "6db6f9a3-08e1-4b89-a1b7-0224e007f95g", "6db6f9a3008e1-4b89-a1b7-0224e007f955", "uid", std::string(36, '-'), std::string("\0a", 2)};
  return all;
}

TEST(ShortUid, IsTheUid) {
  static_assert(sizeof(ShortUid) == 16);
  EXPECT_TRUE(ShortUid().empty());
  EXPECT_TRUE(ShortUid("").empty());
  EXPECT_EQ(ShortUid().text(), "");
  for (const auto& uid : uids()) {
    EXPECT_FALSE(ShortUid(uid).empty()) << uid;
    EXPECT_EQ(ShortUid(uid).text(), uid);
    for (const auto& other : uids()) EXPECT_EQ(ShortUid(uid) == ShortUid(other), uid == other) << uid << " and " << other;
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    std::string uid = uids().front();
    for (char& c : uid)
      if (c != '-') c = "0123456789abcdef"[random() % 16];
    EXPECT_EQ(ShortUid(uid).text(), uid);
  }
}

TEST(ShortUid, IsCopiedMovedAndAssignedInEveryForm) {
  std::vector<std::string> all = uids();
  all.emplace_back();
  for (const auto& from : all)
    for (const auto& to : all) {
      ShortUid a(from), b(to);
      b = a;
      EXPECT_EQ(b.text(), from);
      EXPECT_EQ(a.text(), from);
      ShortUid c(to);
      c = std::move(a);
      EXPECT_EQ(c.text(), from);
      const ShortUid& self = c;
      c = self;
      EXPECT_EQ(c.text(), from);
      const ShortUid copy(c), moved(std::move(c));
      EXPECT_EQ(copy.text(), from);
      EXPECT_EQ(moved.text(), from);
    }
}

TEST(ShortUid, IsAKey) {
  std::unordered_set<ShortUid, ShortUid::Hash> set;
  for (int i = 0; i < 2; ++i)
    for (const auto& uid : uids()) EXPECT_EQ(set.insert(ShortUid(uid)).second, i == 0) << uid;
  EXPECT_EQ(set.size(), uids().size());
}

}  // namespace
}  // namespace hindsight
