// Values of which equal ones stand once in memory.

#include "vocabulary/interned.hpp"

#include <gtest/gtest.h>

#include <random>
#include <thread>

namespace hindsight {
namespace {

/// A value with a hash of one's choice, of no type that others intern.
struct Chosen {
  std::string text;
  std::uint64_t hash = 0;
  friend bool operator==(const Chosen&, const Chosen&) = default;
};
std::uint64_t interning_hash(const Chosen& x) { return x.hash; }

using Value = Interned<Chosen>;

TEST(Interned, EqualValuesStandOnceAsLongAsAnybodyHasThem) {
  {
    const Value a = Chosen{"one", 1};
    Value b = Chosen{"one", 1};
    const Value c = Chosen{"other", 1};
    EXPECT_EQ(&a.value(), &b.value());
    EXPECT_NE(&a.value(), &c.value());
    EXPECT_EQ(a, b);
    EXPECT_FALSE(a == c);
    EXPECT_EQ(Value::stored(), 2U);
    b = c;
    EXPECT_EQ(b->text, "other");
    EXPECT_EQ(a->text, "one");
    const Value d = std::move(b);
    EXPECT_EQ(&d.value(), &c.value());
  }
  EXPECT_EQ(Value::stored(), 0U);
}

TEST(Interned, TheEmptyValueTakesNoMemory) {
  const Value none, made = Chosen{};
  EXPECT_EQ(none, made);
  EXPECT_TRUE(made->text.empty());
  EXPECT_EQ(Value::stored(), 0U);
  EXPECT_EQ(sizeof(Value), sizeof(void*));
}

TEST(Interned, AssigningAValueToItselfKeepsIt) {
  Value a = Chosen{"one", 1};
  const Value& same = a;
  a = same;
  EXPECT_EQ(a->text, "one");
  EXPECT_EQ(Value::stored(), 1U);
}

// Whoever makes hashes agree makes no search long: what is beyond the bound is not shared, and equal all the same.
TEST(Interned, OfOneHashOnlySoManyAreShared) {
  {
    std::vector<Value> held;
    for (int i = 0; i < 1'000; ++i) held.emplace_back(Chosen{std::to_string(i), 7});
    EXPECT_EQ(Value::stored(), Value::same_hash_max);
    for (int i = 0; i < 1'000; ++i) {
      const Value again = Chosen{std::to_string(i), 7};
      EXPECT_EQ(again, held[static_cast<std::size_t>(i)]);
      EXPECT_EQ(&again.value() == &held[static_cast<std::size_t>(i)].value(), i < static_cast<int>(Value::same_hash_max)) << i;
    }
    held.erase(held.begin(), held.begin() + 3);
    held.emplace_back(Chosen{"new", 7});
    EXPECT_EQ(Value::stored(), Value::same_hash_max - 2) << "there is room again";
  }
  EXPECT_EQ(Value::stored(), 0U);
}

TEST(Interned, ATextStandsWhereAStringStood) {
  const SharedText text = std::string("message");
  EXPECT_EQ(text, "message");
  EXPECT_EQ(std::string_view(text), "message");
  EXPECT_EQ(text.size(), 7U);
  EXPECT_FALSE(text.empty());
  EXPECT_TRUE(SharedText().empty());
}

// Four threads take and let go of the same few values, of which not all are shared: each reads what it asked for, and nothing is left. Its
// word is worth most under the sanitizers.
TEST(Interned, ThreadsMayTakeAndLetGoAtTheSameTime) {
  {
    const Value kept = Chosen{"0", 0};
    std::vector<std::thread> threads;
    std::atomic<int> wrong = 0;
    for (unsigned seed = 0; seed < 4; ++seed)
      threads.emplace_back([&, seed] {
        std::mt19937 random(seed);
        std::vector<Value> held(8);
        for (int i = 0; i < 20'000; ++i) {
          const auto which = static_cast<unsigned>(random() % 12);
          Value& place = held[random() % held.size()];
          place = Chosen{std::to_string(which), 0};
          const Value copy = place;
          place = held[random() % held.size()];
          if (copy->text != std::to_string(which)) ++wrong;
        }
      });
    for (auto& t : threads) t.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(Value::stored(), 1U);
  }
  EXPECT_EQ(Value::stored(), 0U);
}

}  // namespace
}  // namespace hindsight
