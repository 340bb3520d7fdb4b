// Shows that a watch stream is decoded alike however it is cut, that memory is bounded, and that damage gives an error.
#include "connectors/kubernetes/mirror/watch_decoder.hpp"

#include <gtest/gtest.h>

#include <random>

namespace hindsight::connectors::kubernetes {
namespace {

std::string line(const std::string& type, const std::string& name, const std::string& version, std::size_t filler = 0) {
  return R"({"type":")" + type + R"(","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":")" + name +
         R"(","namespace":"ns","uid":"uid-)" + name + R"(","resourceVersion":")" + version +
         R"(","managedFields":[{"manager":"m"}]},"data":{"k":")" + std::string(filler, 'x') + "\"}}}\n";
}

/// One line of text for each event, so that runs can be compared.
std::string describe(const WatchLine& event) {
  return std::to_string(static_cast<int>(event.type)) + " " + std::string(event.object.namespace_) + "/" + std::string(event.object.name) +
         " " + std::string(event.object.uid) + " " + std::string(event.object.resource_version) + " " +
         std::to_string(event.object.text.size()) + " " + std::to_string(event.status_code) + " " + event.status_message + "\n";
}

/// Feeds `stream` in pieces that end at `cuts`; stops at the first error, which it appends.
template <class NextCut>
std::string decode(const std::string& stream, NextCut next_cut, std::size_t line_bytes_max = WatchDecoder::default_line_bytes_max) {
  WatchDecoder decoder(line_bytes_max);
  std::string out;
  for (std::size_t at = 0; at < stream.size();) {
    const std::size_t end = std::min(stream.size(), at + next_cut());
    decoder.feed(std::string_view(stream).substr(at, end - at));
    at = end;
    for (;;) {
      const auto event = decoder.next();
      if (!event) return out + "error: " + event.error().message;
      if (!*event) break;
      out += describe(**event);
    }
  }
  return out;
}

const std::string stream = line("ADDED", "a", "1") + line("MODIFIED", "b", "2", 500) + "\n \r\n" + line("DELETED", "a", "3") +
                           R"({"object":{"metadata":{"resourceVersion":"9"},"kind":"ConfigMap"},"type":"BOOKMARK"})" + "\n" +
                           R"({"type":"ERROR","object":{"kind":"Status","message":"too \"old\"","reason":"Expired","code":410}})" + "\n";

TEST(WatchDecoder, ReadsAllKindsOfEvents) {
  WatchDecoder decoder;
  decoder.feed(stream);
  const auto next = [&] { return **decoder.next(); };
  WatchLine event = next();
  EXPECT_EQ(event.type, WatchLine::Type::added);
  EXPECT_EQ(event.object.name, "a");
  EXPECT_EQ(event.object.uid, "uid-a");
  EXPECT_EQ(event.object.managed_fields, R"(,"managedFields":[{"manager":"m"}])");
  EXPECT_TRUE(event.object.text.starts_with(R"({"kind":"ConfigMap")"));
  event = next();
  EXPECT_EQ(event.type, WatchLine::Type::modified);
  EXPECT_EQ(event.object.resource_version, "2");
  EXPECT_EQ(next().type, WatchLine::Type::deleted);
  event = next();
  EXPECT_EQ(event.type, WatchLine::Type::bookmark);
  EXPECT_EQ(event.object.resource_version, "9");
  event = next();
  EXPECT_EQ(event.type, WatchLine::Type::error);
  EXPECT_EQ(event.status_code, 410);
  EXPECT_EQ(event.status_message, "too \"old\"");
  EXPECT_FALSE(decoder.next()->has_value());
  EXPECT_EQ(decoder.pending(), 0U);
}

TEST(WatchDecoder, GivesTheSameEventsForEveryCut) {
  const std::string whole = decode(stream, [] { return stream.size(); });
  for (std::size_t first = 1; first < stream.size(); ++first) {
    bool is_first = true;
    EXPECT_EQ(decode(stream, [&] { return std::exchange(is_first, false) ? first : stream.size(); }), whole) << "cut at " << first;
  }
  for (std::size_t size : {1, 2, 3, 7, 64}) EXPECT_EQ(decode(stream, [&] { return size; }), whole);
}

TEST(WatchDecoder, GivesTheSameEventsForRandomChunksOfALongStream) {
  std::string many;
  std::mt19937 content(7);
  for (int i = 0; i < 2000; ++i) many += line("MODIFIED", "n" + std::to_string(i), std::to_string(i + 1), content() % 3000);
  const std::string whole = decode(many, [&] { return many.size(); });
  EXPECT_EQ(std::count(whole.begin(), whole.end(), '\n'), 2000);
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    EXPECT_EQ(decode(many, [&] { return 1 + random() % 16384; }), whole) << "seed " << seed;
  }
}

TEST(WatchDecoder, KeepsWhatIsNotCompleteUntilTheRestComes) {
  WatchDecoder decoder;
  const std::string text = line("ADDED", "a", "1");
  decoder.feed(std::string_view(text).substr(0, 20));
  EXPECT_FALSE(decoder.next()->has_value());
  EXPECT_EQ(decoder.pending(), 20U);
  decoder.reset();
  EXPECT_EQ(decoder.pending(), 0U);
  decoder.feed(text);
  EXPECT_TRUE(decoder.next()->has_value());
}

// An object of 3 MiB, the most that the API server takes, of which it writes each byte as six: one tenant's object ends nobody's watch. The
// memory for it is given back (issue 14: a hostile tenant).
TEST(WatchDecoder, TakesTheLongestLineThatAnApiServerWrites) {
  const std::string longest = line("MODIFIED", "grown", "7", 6 * (std::size_t{3} << 20U)) + line("ADDED", "next", "8");
  WatchDecoder decoder;
  std::string out;
  for (std::size_t at = 0; at < longest.size(); at += 1 << 16) {
    decoder.feed(std::string_view(longest).substr(at, 1 << 16));
    for (;;) {
      const auto event = decoder.next();
      ASSERT_TRUE(event) << event.error().message;
      if (!*event) break;
      out += std::string((*event)->object.name) + " ";
    }
  }
  EXPECT_EQ(out, "grown next ");
  EXPECT_GT(decoder.room(), longest.size());
  decoder.feed(line("ADDED", "small", "9"));
  EXPECT_LT(decoder.room(), std::size_t{1} << 20U);
}

TEST(WatchDecoder, RefusesALineThatIsTooLongBeforeItIsComplete) {
  WatchDecoder decoder(1000);
  decoder.feed(line("ADDED", "a", "1", 500));
  EXPECT_TRUE(decoder.next()->has_value());
  decoder.feed(std::string(1001, 'x'));
  const auto event = decoder.next();
  ASSERT_FALSE(event);
  EXPECT_NE(event.error().message.find("1000 bytes"), std::string::npos);
  WatchDecoder complete(1000);
  complete.feed(line("ADDED", "a", "1", 2000));
  EXPECT_FALSE(complete.next());
}

TEST(WatchDecoder, NamesWhatIsWrongWithALine) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"garbage\n", "garbage"},
      {"{\"type\":\"GONE\",\"object\":{}}\n", "found \"GONE\", allowed: ADDED, MODIFIED, DELETED, BOOKMARK, ERROR"},
      {"{\"type\":\"ADDED\"}\n", "watch event"},
      {"{\"type\":\"ADDED\",\"object\":[]}\n", "watch event"},
      {"{\"object\":{}}\n", "watch event"},
      {"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\"}}\n", "watch event"},
  };
  for (const auto& [text, expected] : table) {
    WatchDecoder decoder;
    decoder.feed(text);
    const auto event = decoder.next();
    ASSERT_FALSE(event) << text;
    EXPECT_EQ(event.error().kind, ErrorKind::corrupt);
    EXPECT_NE(event.error().message.find(expected), std::string::npos) << event.error().message;
  }
}

TEST(WatchDecoderFuzz, NeverCrashesAndDecodesDamageAlikeForEveryCut) {
  for (unsigned seed = 0; seed < 20000; ++seed) {
    std::mt19937 random(seed);
    std::string text = stream;
    const auto changes = 1 + random() % 6;
    for (unsigned i = 0; i < changes; ++i) {
      const auto at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, 1 + random() % 30);
          break;
        case 2:
          text.insert(at, text.substr(random() % text.size(), random() % 80));
          break;
        default:
          text.insert(at, 1, "{}[]:,\"\\\n0"[random() % 10]);
          break;
      }
      if (text.empty()) text = "\n";
    }
    const std::string whole = decode(text, [&] { return text.size(); });
    EXPECT_EQ(decode(text, [&] { return 1 + random() % 40; }), whole) << "seed " << seed;
  }
}

}  // namespace
}  // namespace hindsight::connectors::kubernetes
