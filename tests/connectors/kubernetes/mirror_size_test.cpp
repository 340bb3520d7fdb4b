// Shows what the mirror takes of memory for objects that are as large as their owners could make them.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "connectors/kubernetes/mirror/mirror_store.hpp"

namespace hindsight::connectors::kubernetes {
namespace {

constexpr ResourceType config_map{"ConfigMap", "", "v1", "configmaps", true};
/// What etcd takes of one object is a little more.
constexpr std::size_t stored_bytes_max = 1'450'000;

std::string escape_of(unsigned character) {
  constexpr std::string_view digits = "0123456789abcdef";
  return std::string("\\u00") + digits[character / 16] + digits[character % 16];
}

std::string object_with(const std::string& name, const std::string& data) {
  return R"({"metadata":{"name":")" + name + R"(","namespace":"ns","uid":"u-)" + name + R"(","resourceVersion":"10"},"data":")" + data +
         "\"}";
}

class MirrorSizeTest : public ::testing::Test {
 protected:
  MirrorStore::Observed observe(const std::string& name, const std::string& data) {
    text_ = object_with(name, data);
    pad(text_);
    return store.observe(kind, *reader_.read_object(text_));
  }

  /// As the API server writes a Job whose argument is full of "<".
  static const std::string& full_of_escapes() {
    static const std::string out = [] {
      std::string text;
      text.reserve(stored_bytes_max * 6);
      for (std::size_t i = 0; i < stored_bytes_max; ++i) text += "\\u003c";
      return text;
    }();
    return out;
  }

  MirrorStore store;
  MirrorStore::Kind& kind = store.open(config_map, true);

 private:
  ObjectReader reader_;
  std::string text_;
};

// 250 of these took the 2 GiB of the process.
TEST_F(MirrorSizeTest, AnObjectThatIsSixTimesAsLongOnItsWayIsKeptSmall) {
  for (int i = 0; i < 5; ++i) observe("a" + std::to_string(i), full_of_escapes());
  EXPECT_LT(store.text_bytes(), std::size_t{5} * 32'768);
  EXPECT_EQ(*store.find(config_map, "ns", "a3"), object_with("a3", full_of_escapes()));
  EXPECT_EQ(*store.find_by_uid("u-a4"), object_with("a4", full_of_escapes()));
  store.offer(config_map,
              R"({"metadata":{"name":"a3","namespace":"ns","uid":"u-a3","resourceVersion":"11"},"data":")" + full_of_escapes() + "\"}");
  EXPECT_LT(store.text_bytes(), std::size_t{5} * 32'768);
  EXPECT_NE(store.find(config_map, "ns", "a3")->find(R"("resourceVersion":"11")"), std::string::npos);
}

// Whatever it is full of: what cannot be made shorter is not much longer than what etcd holds of it either.
TEST_F(MirrorSizeTest, ATextTakesHalfAsMuchAgainAsEtcdHoldsOfItAtMost) {
  std::minstd_rand random(14);
  const std::array<std::function<std::string()>, 6> alphabets = {
      [&] { return std::string(1, static_cast<char>('a' + random() % 26)); },
      [&] { return escape_of(1 + static_cast<unsigned>(random() % 31)); },
      [&] { return escape_of(static_cast<unsigned>("<>&"[random() % 3])); },
      [&] { return random() % 2 == 0 ? std::string(1, static_cast<char>('a' + random() % 26)) : escape_of('<'); },
      [&] { return escape_of(random() % 2 == 0 ? '<' : 1 + static_cast<unsigned>(random() % 31)); },
      // Of all that were tried the one that shrinks least.
      [&] {
        return random() % 10 < 7 ? escape_of(1 + static_cast<unsigned>(random() % 27))
                                 : std::string(1, static_cast<char>('a' + random() % 26));
      },
  };
  constexpr std::size_t characters = 100'000;
  for (std::size_t i = 0; i < alphabets.size(); ++i) {
    std::string data;
    for (std::size_t n = 0; n < characters; ++n) data += alphabets[i]();
    observe("a", data);
    EXPECT_LT(store.text_bytes(), characters * 3 / 2) << "alphabet " << i;
    EXPECT_EQ(*store.find(config_map, "ns", "a"), object_with("a", data)) << "alphabet " << i;
    store.begin_list(kind);
    const auto vanished = store.end_list(kind, "");
    ASSERT_EQ(vanished.size(), 1U);
    EXPECT_EQ(*vanished[0].get(), object_with("a", data)) << "alphabet " << i;
    EXPECT_EQ(store.text_bytes(), 0U);
  }
}

TEST_F(MirrorSizeTest, WhoeverHoldsTheSameVersionHoldsTheSamePointer) {
  const auto observed = observe("a", full_of_escapes()).text;
  EXPECT_EQ(store.find(config_map, "ns", "a"), observed);
  EXPECT_EQ(store.find_by_uid("u-a"), observed);
  std::vector<MirrorStore::Text> held(4);
  {
    std::vector<std::jthread> threads;
    for (auto& text : held) threads.emplace_back([this, &text] { text = store.find_by_uid("u-a"); });
  }
  for (const auto& text : held) EXPECT_EQ(text, observed);
  int visited = 0;
  store.for_each(config_map, [&](const MirrorStore::Text& text) {
    EXPECT_EQ(text, observed);
    ++visited;
  });
  EXPECT_EQ(visited, 1);
}

// Else whoever looks at all objects, one after the other, would bring them all back into memory.
TEST_F(MirrorSizeTest, OfTheTextsThatWereLookedUpTheLastOnesStay) {
  constexpr int objects = 5;
  std::vector<std::weak_ptr<const std::string>> given;
  for (int i = 0; i < objects; ++i) observe("a" + std::to_string(i), full_of_escapes());
  for (int i = 0; i < objects; ++i) given.push_back(store.find(config_map, "ns", "a" + std::to_string(i)));
  std::size_t bytes = 0;
  for (const auto& text : given) bytes += text.expired() ? 0 : text.lock()->size();
  EXPECT_LE(bytes, MirrorStore::recent_bytes_max);
  EXPECT_TRUE(given.front().expired());
  EXPECT_EQ(store.find(config_map, "ns", "a4"), given.back().lock());
  store.for_each(config_map, [](const MirrorStore::Text&) {});
  EXPECT_FALSE(given.back().expired()) << "who looks at all pushes nothing out";
}

TEST(KeptText, ShortTextsAreKeptAsTheyCome) {
  const auto text = std::make_shared<const std::string>(std::string(KeptText::plain_bytes_max, 'a'));
  EXPECT_FALSE(KeptText(text).is_packed());
  EXPECT_EQ(KeptText(text).get(), text);
  const KeptText longer(std::make_shared<const std::string>(*text + "a"));
  EXPECT_TRUE(longer.is_packed());
  EXPECT_FALSE(longer.is_empty());
  EXPECT_EQ(*longer.get(), *text + "a");
  EXPECT_TRUE(KeptText().is_null());
  EXPECT_EQ(KeptText().get(), nullptr);
  EXPECT_EQ(KeptText().bytes(), 0U);
}

}  // namespace
}  // namespace hindsight::connectors::kubernetes
