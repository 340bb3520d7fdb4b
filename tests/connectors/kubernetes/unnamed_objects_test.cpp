// Shows what the mirror remembers of objects whose texts it does not keep, the pods of others above all: that they are there.
#include "connectors/kubernetes/mirror/unnamed_objects.hpp"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "connectors/kubernetes/mirror/mirror_store.hpp"

namespace hindsight::connectors::kubernetes {
namespace {

constexpr ResourceType pod{"Pod", "", "v1", "pods", true};
using Change = MirrorStore::Change;

std::string uid_text(unsigned number) {
  std::string digits = std::to_string(number);
  return "0123abcd-0000-4000-8000-" + std::string(12 - digits.size(), '0') + digits;
}

class UnnamedObjectsTest : public ::testing::Test {
 protected:
  MirrorStore::Observed observe(const std::string& name, const std::string& uid, unsigned version, bool ours = false) {
    return store.observe(kind, *read(name, uid, version, ours));
  }
  void remove(const std::string& name, const std::string& uid) { store.remove(kind, *read(name, uid, 99, false)); }
  std::vector<nlohmann::json> end_list() {
    std::vector<nlohmann::json> out;
    for (const KeptText& text : store.end_list(kind, "")) out.push_back(nlohmann::json::parse(*text.get()).at("metadata"));
    return out;
  }
  [[nodiscard]] bool has_text(const std::string& uid) const {
    const auto text = store.find_by_uid(uid);
    return text != nullptr && !text->empty();
  }

  MirrorStore store;
  MirrorStore::Kind& kind = store.open(pod, true, [](std::string_view text) { return text.find("ours") != std::string_view::npos; });

 private:
  Result<ObjectView> read(const std::string& name, const std::string& uid, unsigned version, bool ours) {
    text_ = R"({"metadata":{"name":")" + name + R"(","namespace":"ns","uid":")" + uid + R"(","resourceVersion":")" +
            std::to_string(version) + R"("},"whose":")" + (ours ? "ours" : "theirs") + R"("})";
    pad(text_);
    return reader_.read_object(text_);
  }
  ObjectReader reader_;
  std::string text_;
};

// TAS-19, TAS-25
TEST_F(UnnamedObjectsTest, OfPodsOfOthersItIsKnownThatTheyAreThere) {
  EXPECT_EQ(observe("a", uid_text(1), 10).change, Change::added);
  EXPECT_EQ(observe("a", uid_text(1), 10).change, Change::none);
  const auto changed = observe("a", uid_text(1), 11);
  EXPECT_EQ(changed.change, Change::modified);
  EXPECT_NE(changed.text->find(R"("resourceVersion":"11")"), std::string::npos) << "who watches gets all of it";
  EXPECT_EQ(store.count(pod), 1U);
  EXPECT_EQ(store.text_bytes(), 0U);
  EXPECT_EQ(store.find(pod, "ns", "a"), nullptr);
  ASSERT_NE(store.find_by_uid(uid_text(1)), nullptr);
  EXPECT_EQ(*store.find_by_uid(uid_text(1)), "");
  remove("a", uid_text(1));
  EXPECT_EQ(store.find_by_uid(uid_text(1)), nullptr);
  EXPECT_EQ(store.count(pod), 0U);
}

TEST_F(UnnamedObjectsTest, AListTellsTheUidsOfThoseThatVanished) {
  observe("a", uid_text(1), 10);
  observe("b", uid_text(2), 10);
  observe("c", "no-uuid", 10);
  store.begin_list(kind);
  EXPECT_TRUE(observe("b", uid_text(2), 10).is_first_of_list);
  EXPECT_FALSE(observe("b", uid_text(2), 10).is_first_of_list);
  EXPECT_EQ(observe("a", uid_text(3), 20).change, Change::added) << "another one with the name of one that has gone";
  const auto vanished = end_list();
  ASSERT_EQ(vanished.size(), 2U);
  std::set<std::string> uids;
  for (const auto& metadata : vanished) {
    EXPECT_FALSE(metadata.contains("name"));
    uids.insert(metadata.at("uid"));
  }
  EXPECT_EQ(uids, (std::set<std::string>{uid_text(1), "no-uuid"}));
  EXPECT_EQ(store.count(pod), 2U);
}

TEST_F(UnnamedObjectsTest, AListThatBeganAnewForgetsWhatTheFirstOneSaw) {
  observe("a", uid_text(1), 10);
  store.begin_list(kind);
  observe("a", uid_text(1), 10);
  store.begin_list(kind);
  EXPECT_EQ(end_list().size(), 1U);
}

TEST_F(UnnamedObjectsTest, APodThatBecomesOursGetsItsTextAndKeepsItsName) {
  observe("a", uid_text(1), 10);
  store.begin_list(kind);
  const auto became = observe("a", uid_text(1), 11, true);
  EXPECT_EQ(became.change, Change::modified);
  EXPECT_TRUE(became.is_first_of_list);
  EXPECT_TRUE(end_list().empty());
  EXPECT_EQ(store.count(pod), 1U);
  ASSERT_TRUE(has_text(uid_text(1)));
  EXPECT_EQ(store.find(pod, "ns", "a"), store.find_by_uid(uid_text(1)));
  EXPECT_EQ(observe("a", uid_text(1), 12).change, Change::modified) << "and theirs again";
  EXPECT_FALSE(has_text(uid_text(1)));
  EXPECT_EQ(store.count(pod), 1U);
  store.begin_list(kind);
  const auto vanished = end_list();
  ASSERT_EQ(vanished.size(), 1U);
  EXPECT_EQ(vanished[0].at("name"), "a") << "it may stand in the log";
}

TEST_F(UnnamedObjectsTest, APodOfOthersThatTakesTheNameOfOneOfOursReplacesIt) {
  observe("a", uid_text(1), 10, true);
  store.begin_list(kind);
  const auto replaced = observe("a", uid_text(2), 11);
  EXPECT_EQ(replaced.change, Change::replaced);
  EXPECT_NE(replaced.previous->find(uid_text(1)), std::string::npos);
  EXPECT_TRUE(end_list().empty());
  EXPECT_EQ(store.count(pod), 1U);
  EXPECT_EQ(store.find_by_uid(uid_text(1)), nullptr);
  EXPECT_NE(store.find_by_uid(uid_text(2)), nullptr);
}

TEST_F(UnnamedObjectsTest, AnAnswerToAWriteBringsNone) {
  store.offer(pod, R"({"metadata":{"name":"a","namespace":"ns","uid":"1","resourceVersion":"10"}})");
  EXPECT_EQ(store.count(pod), 0U);
  store.offer(pod, R"({"metadata":{"name":"b","namespace":"ns","uid":"2","resourceVersion":"10"},"whose":"ours"})");
  EXPECT_EQ(store.count(pod), 1U);
}

/// Pods come, change hands, go seen and unseen, and lists are cut off; a plain map says what must be told.
TEST_F(UnnamedObjectsTest, TellsTheSameAsAPlainMap) {
  std::mt19937 random(17);
  struct Known {
    unsigned version = 0;
    bool listed = false;
  };
  std::map<unsigned, Known> known;     // what was told
  std::map<unsigned, bool> on_server;  // whether it is ours
  unsigned next = 1, version = 1;
  for (int step = 0; step < 3000; ++step) {
    const auto any = [&] { return std::next(on_server.begin(), static_cast<int>(random() % on_server.size())); };
    switch (random() % 8) {
      case 0:
      case 1:
      case 2:
        on_server[next] = random() % 4 == 0;
        EXPECT_EQ(observe("p" + std::to_string(next), uid_text(next), ++version, on_server[next]).change, Change::added);
        known[next++] = {version, true};
        break;
      case 3:
      case 4:
        if (on_server.empty()) break;
        if (const auto at = any(); known.contains(at->first)) {
          at->second = random() % 4 == 0;
          EXPECT_EQ(observe("p" + std::to_string(at->first), uid_text(at->first), ++version, at->second).change, Change::modified);
          known[at->first] = {version, true};
        }
        break;
      case 5:
        if (on_server.empty()) break;
        if (const auto at = any(); random() % 2 == 0) {
          remove("p" + std::to_string(at->first), uid_text(at->first));
          known.erase(at->first);
          on_server.erase(at);
        } else {
          on_server.erase(at);  // unseen
        }
        break;
      default: {
        if (random() % 8 != 0) break;
        store.begin_list(kind);
        for (auto& [uid, k] : known) k.listed = false;
        const bool is_cut = random() % 3 == 0;
        for (const auto& [uid, ours] : on_server) {
          if (is_cut && random() % 2 == 0) continue;
          const bool was_known = known.contains(uid);
          const auto seen = observe("p" + std::to_string(uid), uid_text(uid), was_known ? known[uid].version : ++version, ours);
          EXPECT_EQ(seen.change, was_known ? Change::none : Change::added);
          EXPECT_TRUE(seen.is_first_of_list);
          if (!was_known) known[uid].version = version;
          known[uid].listed = true;
        }
        if (is_cut) break;
        std::set<std::string> vanished, expected;
        for (const auto& metadata : end_list()) vanished.insert(metadata.at("uid"));
        for (auto at = known.begin(); at != known.end();) {
          if (!at->second.listed) expected.insert(uid_text(at->first));
          at = at->second.listed ? std::next(at) : known.erase(at);
        }
        EXPECT_EQ(vanished, expected) << step;
      }
    }
    ASSERT_EQ(store.count(pod), known.size()) << step;
    for (const auto& [uid, ours] : on_server) {
      if (known.contains(uid)) {
        ASSERT_EQ(has_text(uid_text(uid)), ours) << step;
      }
    }
  }
}

}  // namespace
}  // namespace hindsight::connectors::kubernetes
