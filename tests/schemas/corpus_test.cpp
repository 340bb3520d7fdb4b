// Records and snapshots that released builds have stored are read by this build, and say what they said then. New fields may have
// come since: they may add to the JSON, nothing may be missing or different.

#include <flatbuffers/idl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "events/json.hpp"
#include "events/record.hpp"
#include "tests/schemas/corpus.hpp"

namespace hindsight::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::string content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Where `now` lacks something of `then` or says something else; empty: nowhere.
std::string difference(const Json& then, const Json& now, const std::string& where = "") {
  if (then.is_object() && now.is_object()) {
    for (const auto& [key, value] : then.items()) {
      if (!now.contains(key)) return where + "/" + key + " is missing";
      if (auto found = difference(value, now[key], where + "/" + key); !found.empty()) return found;
    }
    return {};
  }
  if (then.is_array() && now.is_array() && then.size() == now.size()) {
    for (std::size_t i = 0; i < then.size(); ++i) {
      if (auto found = difference(then[i], now[i], where + "/" + std::to_string(i)); !found.empty()) return found;
    }
    return {};
  }
  return then == now ? "" : where + " is " + now.dump() + ", was " + then.dump();
}

std::vector<fs::path> releases() {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator("schemas/released")) out.push_back(entry.path());
  return out;
}

fs::path corpus_of(const fs::path& release) { return fs::path("tests/schemas/corpus") / release.filename(); }

std::string read_by_this_build(const fs::path& binary) {
  const std::string bytes = content(binary);
  const auto span = std::as_bytes(std::span(bytes));
  if (binary.stem() == "Snapshot") {
    const auto snapshot = events::decode_snapshot({span.begin(), span.end()});
    EXPECT_TRUE(snapshot.has_value()) << snapshot.error().message;
    return snapshot ? snapshot_json(**snapshot) : "null";
  }
  const auto record = events::decode(span);
  EXPECT_TRUE(record.has_value()) << record.error().message;
  return record ? events::to_json((*record)->view()) : "null";
}

TEST(Corpus, of_every_release_says_what_it_said) {
  int files = 0;
  for (const auto& release : releases()) {
    for (const auto& entry : fs::directory_iterator(corpus_of(release))) {
      if (entry.path().extension() != ".bin") continue;
      ++files;
      auto expected = entry.path();
      expected.replace_extension(".json");
      EXPECT_EQ(difference(Json::parse(content(expected)), Json::parse(read_by_this_build(entry.path()))), "") << entry.path();
    }
  }
  EXPECT_GE(files, 39);
}

TEST(Corpus, of_every_release_holds_every_kind_that_its_schemas_name) {
  for (const auto& release : releases()) {
    flatbuffers::Parser parser;
    const char* includes[] = {release.c_str(), nullptr};
    ASSERT_TRUE(parser.Parse(content(release / "envelope.fbs").c_str(), includes)) << parser.error_;
    const auto members = [&](const char* name) {
      std::set<std::string> out;
      const auto* found = parser.enums_.Lookup(std::string("hindsight.wire.") + name);
      if (found == nullptr) return out;
      for (const auto* value : found->Vals()) {
        if (value->name != "NONE") out.insert(value->name);
      }
      return out;
    };
    const auto bodies = members("Body");
    EXPECT_GE(bodies.size(), 19u);
    for (const auto& body : bodies) {
      EXPECT_TRUE(fs::exists(corpus_of(release) / (body + ".full.bin"))) << body;
      EXPECT_TRUE(fs::exists(corpus_of(release) / (body + ".empty.bin"))) << body;
    }
    std::set<std::string> events;
    const auto decisions = Json::parse(content(corpus_of(release) / "Decisions.full.json"));
    for (const auto& event : decisions["body"]["events"]) events.insert(event["event"]);
    EXPECT_EQ(events, members("Event"));
  }
}

TEST(Corpus, difference_sees_what_is_missing_or_changed_and_lets_additions_pass) {
  const Json then = Json::parse(R"({"a":1,"b":[{"c":"x"}]})");
  EXPECT_EQ(difference(then, Json::parse(R"({"a":1,"b":[{"c":"x","new":2}],"d":3})")), "");
  EXPECT_EQ(difference(then, Json::parse(R"({"b":[{"c":"x"}]})")), "/a is missing");
  EXPECT_EQ(difference(then, Json::parse(R"({"a":1,"b":[{"c":"y"}]})")), "/b/0/c is \"y\", was \"x\"");
  EXPECT_EQ(difference(then, Json::parse(R"({"a":1,"b":[]})")), "/b is [], was [{\"c\":\"x\"}]");
}

}  // namespace
}  // namespace hindsight::test
