// The lines of evidence: what is written is read back, and what is written otherwise is refused with what is allowed.

#include "evidence/lines.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/evidence/made_evidence.hpp"

namespace hindsight::evidence {
namespace {

std::string_view chopped(const std::string& line) { return std::string_view(line).substr(0, line.size() - 1); }

std::string why_line(std::string_view text) {
  const auto line = read_line(text);
  return line ? "taken" : line.error().message;
}

std::string why_checkpoint(std::string_view text) {
  const auto c = read_checkpoint_line(text);
  return c ? "taken" : c.error().message;
}

TEST(EvidenceLines, WhatIsWrittenIsReadBack) {
  const std::string bytes("\0\x01\xff record", 10);
  const Content content{"team \"a\"/x", 7, 3, Time{-1}, std::as_bytes(std::span(bytes))};
  const std::string line = record_line(5, 9, content);
  EXPECT_EQ(line.back(), '\n');
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  const auto record = std::get<RecordLine>(read_line(chopped(line)).value());
  EXPECT_EQ(record.number, 5U);
  EXPECT_EQ(record.offset, 9U);
  Chain chain;
  EXPECT_EQ(chain.content(record.content()), chain.content(content));

  const auto start = std::get<StartLine>(read_line(chopped(start_line(genesis(4)))).value());
  EXPECT_EQ(start.head, genesis(4));
  const auto withheld = std::get<WithheldLine>(read_line(chopped(withheld_line(8, genesis().hash))).value());
  EXPECT_EQ(withheld.number, 8U);
  EXPECT_EQ(withheld.content, genesis().hash);
}

TEST(EvidenceLines, ADomainThatIsNoTextIsKeptByItsBytes) {
  const Content content{"\xff\xfe", 1, 1, Time{1}, {}};
  const std::string line = record_line(1, 1, content);
  EXPECT_NE(line.find("domainBase64"), std::string::npos);
  EXPECT_EQ(std::get<RecordLine>(read_line(chopped(line)).value()).domain, "\xff\xfe");
}

TEST(EvidenceLines, CheckpointsAreReadBack) {
  const auto key = test::made_key();
  for (const auto& c : test::MadeLog(&key).checkpoints) EXPECT_EQ(read_checkpoint_line(chopped(checkpoint_line(c))).value(), c);
  for (const auto& c : test::MadeLog(nullptr).checkpoints) EXPECT_EQ(read_checkpoint_line(chopped(checkpoint_line(c))).value(), c);
}

TEST(EvidenceLines, OtherFieldsAreNotLookedAt) {
  EXPECT_EQ(why_line(R"({"record":1,"hash":")" + hex(genesis().hash) + R"(","text":"Workload admitted","n":-1.5})"), "taken");
}

TEST(EvidenceLines, WhatIsNoLineIsRefusedWithWhatIsAllowed) {
  const std::string hash = hex(genesis().hash);
  const std::vector<std::pair<std::string, std::string>> bad{
      {"", "is no JSON"},
      {"{", "is no JSON"},
      {"[]", "holds a list; allowed: one JSON object"},
      {"7", "holds a single value; allowed: one JSON object"},
      {"{}", "field \"record\" is missing; allowed: a number"},
      {R"({"record":1} x)", "is no JSON"},
      {R"({"record":1,"hash":[]})", "field \"hash\" holds a list; allowed: a text or a number"},
      {R"({"record":1,"hash":{"a":1}})", "field \"hash\" holds an object"},
      {R"({"record":1,"hash":null})", "field \"hash\" holds null"},
      {R"({"record":1,"record":1})", "field \"record\" stands twice"},
      {R"({"record":-1,"hash":")" + hash + "\"}", "field \"record\" is no whole number"},
      {R"({"record":1.0,"hash":")" + hash + "\"}", "field \"record\" is no whole number"},
      {R"({"record":18446744073709551616,"hash":")" + hash + "\"}", "field \"record\" is no whole number"},
      {R"({"record":1,"hash":"12"})", "field \"hash\" is no hash; allowed: 64 hexadecimal digits"},
      {R"({"start":3,"begin":4,"hash":")" + hash + "\"}", "field \"begin\" is 4; allowed: at most 3"},
      {R"({"start":3,"hash":")" + hash + "\"}", "field \"begin\" is missing"},
      {R"({"record":1,"offset":1,"domain":"d","sequence":1,"epoch":1,"time":1,"content":"A"})", "field \"content\" is no base64"},
      {R"({"record":1,"offset":1,"domain":"d","sequence":1,"epoch":1,"time":1,"content":7})", "field \"content\" is no text"},
      {R"({"record":1,"offset":1,"domain":"d","sequence":1,"epoch":1,"time":9223372036854775808,"content":""})",
       "field \"time\" is no whole number"},
      {R"({"record":1,"offset":1,"sequence":1,"epoch":1,"time":1,"content":""})", "field \"domain\" is missing"},
      {std::string("{\"record\":1,\"hash\":\"\xff\"}"), "is no JSON"}};
  for (const auto& [text, part] : bad) EXPECT_NE(why_line(text).find(part), std::string::npos) << text << ": " << why_line(text);
}

/// A line costs about what it is long, whatever is in it.
TEST(EvidenceLines, NestingAndManyFieldsEndEarly) {
  EXPECT_NE(why_line(std::string(5'000'000, '[')).find("holds a list"), std::string::npos);
  EXPECT_NE(why_line("{\"a\":" + std::string(5'000'000, '[')).find("holds a list"), std::string::npos);
  const auto with_fields = [](std::size_t n) {
    std::string out = R"({"record":1,"hash":")" + hex(genesis().hash) + "\"";
    for (std::size_t i = 2; i < n; ++i) out += ",\"f" + std::to_string(i) + "\":0";
    return out + "}";
  };
  EXPECT_EQ(why_line(with_fields(line_fields_max)), "taken");
  EXPECT_NE(why_line(with_fields(line_fields_max + 1)).find("has more than 64 fields; allowed: up to that"), std::string::npos);
}

TEST(EvidenceLines, ACheckpointOfNoFormIsRefused) {
  const auto key = test::made_key();
  const auto good = test::MadeLog(&key).checkpoints.front();
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string line = checkpoint_line(good);
    const auto at = line.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    line.replace(at, from.size(), to);
    return why_checkpoint(chopped(line));
  };
  EXPECT_NE(changed("\"release\":\"0.1.0\"", "\"release\":\"0 1\"").find("release has 3 bytes, or others than printable ASCII"),
            std::string::npos);
  EXPECT_NE(changed("\"key\":\"" + good.key + "\"", "\"key\":\"\"").find("key is no id of a key"), std::string::npos);
  EXPECT_NE(changed("\"signature\":\"" + base64(good.signature), "\"signature\":\"AAAA").find("signature has 3 bytes; allowed: 64"),
            std::string::npos);
  EXPECT_NE(changed("\"begin\":0", "\"begin\":6").find("field \"begin\" is 6"), std::string::npos);
  EXPECT_NE(changed("\"position\":5,", "").find("field \"position\" is missing"), std::string::npos);
}

/// Whatever a line was made of, it is read or refused with a reason, and what is read is written so again.
TEST(EvidenceLines, LinesThatWereChangedAreReadOrRefused) {
  const auto key = test::made_key();
  const test::MadeLog log(&key);
  std::vector<std::string> good = log.lines(3, 9, {5, 6});
  for (const auto& c : log.checkpoints) good.push_back(checkpoint_line(c));
  std::mt19937_64 random(7);
  std::size_t read = 0, refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string line = good[random() % good.size()];
    line.pop_back();
    for (std::size_t n = 1 + random() % 3; n > 0 && !line.empty(); --n) {
      const std::size_t at = random() % line.size();
      switch (random() % 4) {
        case 0:
          line[at] = static_cast<char>(random());
          break;
        case 1:
          line.erase(at, 1 + random() % 8);
          break;
        case 2:
          line.insert(at, 1, std::string_view("0123456789{}[]\",:-e.")[random() % 20]);
          break;
        default:
          line.resize(at);
      }
    }
    const auto one = read_line(line);
    if (!one) {
      EXPECT_FALSE(one.error().message.empty()) << line;
    }
    const auto checkpoint = read_checkpoint_line(line);
    if (checkpoint) {
      const std::string again = checkpoint_line(*checkpoint);
      EXPECT_EQ(read_checkpoint_line(chopped(again)).value(), *checkpoint) << line;
    }
    ++(one || checkpoint ? read : refused);
  }
  EXPECT_GT(read, 200U);
  EXPECT_GT(refused, 1'000U);
}

TEST(EvidenceLines, Base64HasOneForm) {
  for (std::size_t n = 0; n < 70; ++n) {
    std::string bytes;
    for (std::size_t i = 0; i < n; ++i) bytes += static_cast<char>(i * 37 + n);
    EXPECT_EQ(parse_base64(base64(bytes)), bytes);
  }
  for (const char* bad : {"A", "AA", "AAA", "A===", "====", "AA=A", " AAA", "AAA\n", "AA==AAAA", "AB==", "AAB=", "AA-_"})
    EXPECT_FALSE(parse_base64(bad)) << bad;
}

}  // namespace
}  // namespace hindsight::evidence
