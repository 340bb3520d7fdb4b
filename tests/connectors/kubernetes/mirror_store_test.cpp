// Shows what the mirror remembers and which changes it reports, above all when something happened unseen.
#include "connectors/kubernetes/mirror/mirror_store.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace hindsight::connectors::kubernetes {
namespace {

constexpr ResourceType config_map{"ConfigMap", "", "v1", "configmaps", true};
constexpr ResourceType other{"Workload", "kueue.x-k8s.io", "v1beta2", "workloads", true};
using Change = MirrorStore::Change;

std::string text_of(const std::string& name, const std::string& uid, const std::string& version, const std::string& data = "") {
  return R"({"metadata":{"name":")" + name + R"(","namespace":"ns","uid":")" + uid + R"(","resourceVersion":")" + version +
         R"("},"data":")" + data + "\"}";
}

class MirrorStoreTest : public ::testing::Test {
 protected:
  MirrorStore::Observed observe(const std::string& name, const std::string& uid, const std::string& version, const std::string& data = "") {
    text_ = text_of(name, uid, version, data);
    pad(text_);
    return store.observe(kind, *reader_.read_object(text_));
  }
  void remove(const std::string& name, const std::string& uid) {
    text_ = text_of(name, uid, "99");
    pad(text_);
    store.remove(kind, *reader_.read_object(text_));
  }

  MirrorStore store;
  MirrorStore::Kind& kind = store.open(config_map, true);

 private:
  ObjectReader reader_;
  std::string text_;
};

TEST_F(MirrorStoreTest, FindsByNameAndByUid) {
  EXPECT_EQ(observe("a", "1", "10", "x").change, Change::added);
  EXPECT_EQ(*store.find(config_map, "ns", "a"), text_of("a", "1", "10", "x"));
  EXPECT_EQ(store.find_by_uid("1"), store.find(config_map, "ns", "a"));
  EXPECT_EQ(store.find(config_map, "ns", "b"), nullptr);
  EXPECT_EQ(store.find(config_map, "other", "a"), nullptr);
  EXPECT_EQ(store.find(other, "ns", "a"), nullptr);
  EXPECT_EQ(store.find_by_uid("2"), nullptr);
  // Another constant for the same type finds it too.
  static constexpr ResourceType copy = config_map;
  EXPECT_NE(store.find(copy, "ns", "a"), nullptr);
}

TEST_F(MirrorStoreTest, TellsNewFromChangedFromSeen) {
  EXPECT_EQ(observe("a", "1", "10").change, Change::added);
  EXPECT_EQ(observe("a", "1", "10").change, Change::none);
  const auto changed = observe("a", "1", "11", "new");
  EXPECT_EQ(changed.change, Change::modified);
  EXPECT_EQ(*changed.text, text_of("a", "1", "11", "new"));
  EXPECT_EQ(store.count(config_map), 1U);
}

TEST_F(MirrorStoreTest, ReportsAnObjectThatWasReplacedUnseen) {
  observe("a", "1", "10", "old");
  const auto replaced = observe("a", "2", "20", "new");
  EXPECT_EQ(replaced.change, Change::replaced);
  EXPECT_EQ(*replaced.previous, text_of("a", "1", "10", "old"));
  EXPECT_EQ(store.find_by_uid("1"), nullptr);
  EXPECT_EQ(*store.find_by_uid("2"), text_of("a", "2", "20", "new"));
}

TEST_F(MirrorStoreTest, ForgetsDeletedObjectsButNotTheirSuccessors) {
  observe("a", "1", "10");
  remove("a", "1");
  EXPECT_EQ(store.find(config_map, "ns", "a"), nullptr);
  EXPECT_EQ(store.find_by_uid("1"), nullptr);
  EXPECT_EQ(store.text_bytes(), 0U);
  observe("a", "2", "20");
  remove("a", "1");
  EXPECT_NE(store.find(config_map, "ns", "a"), nullptr);
}

TEST_F(MirrorStoreTest, AListTellsWhatVanished) {
  for (const char* name : {"a", "b", "c"}) observe(name, name, "10");
  store.begin_list(kind);
  EXPECT_EQ(observe("a", "a", "10").change, Change::none);
  EXPECT_EQ(observe("d", "d", "12").change, Change::added);
  auto vanished = store.end_list(kind, "15");
  ASSERT_EQ(vanished.size(), 2U);
  if (*vanished[0].get() > *vanished[1].get()) std::swap(vanished[0], vanished[1]);
  EXPECT_EQ(*vanished[0].get(), text_of("b", "b", "10"));
  EXPECT_EQ(*vanished[1].get(), text_of("c", "c", "10"));
  EXPECT_EQ(store.count(config_map), 2U);
  EXPECT_EQ(store.find_by_uid("b"), nullptr);
}

TEST_F(MirrorStoreTest, TakesTheAnswerToOurWriteButStillReportsItsEvent) {
  observe("a", "1", "8");
  store.offer(config_map, text_of("a", "1", "11", "ours"));
  EXPECT_EQ(*store.find(config_map, "ns", "a"), text_of("a", "1", "11", "ours"));
  // An event from before our write: told, but the newer text stays.
  const auto earlier = observe("a", "1", "9");
  EXPECT_EQ(earlier.change, Change::modified);
  EXPECT_EQ(*earlier.text, text_of("a", "1", "9"));
  EXPECT_EQ(*store.find(config_map, "ns", "a"), text_of("a", "1", "11", "ours"));
  EXPECT_EQ(observe("a", "1", "11", "ours").change, Change::modified);
  const auto own = observe("a", "1", "12", "later");
  EXPECT_EQ(own.change, Change::modified);
  EXPECT_EQ(*store.find(config_map, "ns", "a"), text_of("a", "1", "12", "later"));
}

TEST_F(MirrorStoreTest, IgnoresOffersThatAreOlderOrOfAnotherObject) {
  observe("a", "1", "100", "seen");
  store.offer(config_map, text_of("a", "1", "99", "older"));
  store.offer(config_map, text_of("a", "2", "101", "another"));
  store.offer(config_map, R"({"kind":"Status"})");
  store.offer(other, text_of("a", "1", "101", "unwatched kind"));
  EXPECT_EQ(*store.find(config_map, "ns", "a"), text_of("a", "1", "100", "seen"));
}

TEST_F(MirrorStoreTest, AnOfferOfACreationCountsAsNewWhenItIsSeen) {
  store.offer(config_map, text_of("a", "1", "10", "ours"));
  EXPECT_NE(store.find_by_uid("1"), nullptr);
  EXPECT_EQ(observe("a", "1", "10", "ours").change, Change::added);
  EXPECT_EQ(observe("a", "1", "10", "ours").change, Change::none);
}

TEST_F(MirrorStoreTest, ALateOfferRevivesNoDeletedObject) {
  observe("a", "1", "10");
  remove("a", "1");
  store.offer(config_map, text_of("a", "1", "11"));
  EXPECT_EQ(store.find(config_map, "ns", "a"), nullptr);
}

TEST_F(MirrorStoreTest, AListDropsOffersItShouldHaveShownAndKeepsLaterOnes) {
  store.offer(config_map, text_of("early", "1", "10"));
  observe("seen", "2", "11");
  store.begin_list(kind);
  store.offer(config_map, text_of("late", "3", "16"));
  store.offer(config_map, text_of("seen", "2", "17"));
  // Nobody heard of `early`, so nobody hears that it went; the other two were written after the list.
  EXPECT_TRUE(store.end_list(kind, "15").empty());
  EXPECT_EQ(store.find(config_map, "ns", "early"), nullptr);
  EXPECT_NE(store.find(config_map, "ns", "late"), nullptr);
  EXPECT_NE(store.find(config_map, "ns", "seen"), nullptr);
  // Without a list version nothing is spared.
  store.begin_list(kind);
  EXPECT_EQ(store.end_list(kind, "").size(), 1U);
  EXPECT_EQ(store.count(config_map), 0U);
}

TEST_F(MirrorStoreTest, CountsTheBytesOfItsTexts) {
  observe("a", "1", "10", "xxxx");
  observe("b", "2", "10");
  EXPECT_EQ(store.text_bytes(), text_of("a", "1", "10", "xxxx").size() + text_of("b", "2", "10").size());
  observe("a", "1", "11");
  remove("b", "2");
  EXPECT_EQ(store.text_bytes(), text_of("a", "1", "11").size());
  int visited = 0;
  store.for_each(config_map, [&](const MirrorStore::Text&) { ++visited; });
  EXPECT_EQ(visited, 1);
}

TEST(MirrorStoreWithoutTexts, StillKnowsWhoVanished) {
  MirrorStore store;
  ObjectReader reader;
  auto& kind = store.open(other, false);
  std::string text = text_of("a", "1", "10");
  pad(text);
  store.observe(kind, *reader.read_object(text));
  EXPECT_EQ(store.text_bytes(), 0U);
  ASSERT_NE(store.find(other, "ns", "a"), nullptr) << "it is there";
  EXPECT_EQ(*store.find(other, "ns", "a"), "");
  EXPECT_EQ(store.find(other, "ns", "b"), nullptr);
  EXPECT_EQ(store.count(other), 1U);
  store.begin_list(kind);
  const auto vanished = store.end_list(kind, "20");
  ASSERT_EQ(vanished.size(), 1U);
  EXPECT_EQ(nlohmann::json::parse(*vanished[0].get()), nlohmann::json::parse(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload",
                                      "metadata":{"name":"a","namespace":"ns","uid":"1","resourceVersion":"10"}})"));
}

TEST(MirrorStoreUids, StayRightWhenUidsMoveBetweenNames) {
  // Random observations against a plain map, with uids that are long enough to be reallocated.
  MirrorStore store;
  ObjectReader reader;
  auto& kind = store.open(config_map, true);
  std::map<std::string, std::string> uid_of;
  unsigned state = 1;
  const auto random = [&] { return state = state * 1664525U + 1013904223U, state >> 8U; };
  for (int step = 0; step < 20000; ++step) {
    const std::string name = "n" + std::to_string(random() % 20);
    if (random() % 3 == 0 && uid_of.contains(name)) {
      std::string text = text_of(name, uid_of[name], std::to_string(step + 1));
      pad(text);
      store.remove(kind, *reader.read_object(text));
      uid_of.erase(name);
    } else {
      if (!uid_of.contains(name) || random() % 4 == 0) uid_of[name] = "a-rather-long-uid-that-needs-the-heap-" + std::to_string(step);
      std::string text = text_of(name, uid_of[name], std::to_string(step + 1));
      pad(text);
      store.observe(kind, *reader.read_object(text));
    }
    const std::string probe = "n" + std::to_string(random() % 20);
    const auto by_name = store.find(config_map, "ns", probe);
    EXPECT_EQ(by_name != nullptr, uid_of.contains(probe));
    if (by_name) {
      EXPECT_EQ(store.find_by_uid(uid_of[probe]), by_name) << step;
    }
  }
  EXPECT_EQ(store.count(config_map), uid_of.size());
}

}  // namespace
}  // namespace hindsight::connectors::kubernetes
