// What is not as the API has it is named by object, path, finding and what is allowed; nothing else of the object is looked at.

#include "connectors/json/node.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "connectors/json/document.hpp"
#include "connectors/json/json_value.hpp"

namespace hindsight::connectors {
namespace {

/// The error that reading `json` with `read` gives; empty: none.
std::string error_of(std::string_view json, const std::function<void(const Node&)>& read) {
  const auto document = Document::parse(json);
  if (!document) return document.error().message;
  Arena arena;
  Reading reading(arena, document->root(), "Thing ns/name");
  read(reading.root());
  return reading.failed() ? reading.take_error().message : "";
}

// An annotation may be empty, and its text then stands nowhere.
TEST(Document, AnEmptyTextIsNoJson) {
  for (const std::string_view text : {std::string_view(), std::string_view("")}) {
    EXPECT_FALSE(Document::parse(text));
    EXPECT_TRUE(from_text(text).is_discarded());
  }
}

TEST(Node, NamesThePathOfAWrongMember) {
  struct Case {
    std::string_view json;
    std::function<void(const Node&)> read;
    std::string_view error;
  };
  const Case cases[] = {
      {R"({"spec":{"count":"x"}})", [](const Node& n) { (void)n.object("spec").int32("count", 0); },
       R"(Thing ns/name: spec.count: found "x", allowed: an integer from 0 to 2147483647)"},
      {R"({"spec":{"count":-1}})", [](const Node& n) { (void)n.object("spec").int32("count", 0); },
       "Thing ns/name: spec.count: found -1, allowed: an integer from 0 to 2147483647"},
      {R"({"spec":{"count":2147483648}})", [](const Node& n) { (void)n.object("spec").int32("count", 0); },
       "Thing ns/name: spec.count: found 2147483648, allowed: an integer from 0 to 2147483647"},
      {R"({"spec":[]})", [](const Node& n) { (void)n.object("spec"); }, "Thing ns/name: spec: found a list, allowed: an object"},
      {R"({"a":[{"b":[{},{"c":1}]}]})",
       [](const Node& n) {
         n.each("a", limits::list, [](const Node& a) { a.each("b", limits::list, [](const Node& b) { (void)b.text("c"); }); });
       },
       "Thing ns/name: a[0].b[1].c: found 1, allowed: a text"},
      {R"({"a":[1]})", [](const Node& n) { n.each("a", limits::list, [](const Node&) {}); },
       "Thing ns/name: a[0]: found 1, allowed: an object"},
      {R"({"a":["x",2]})", [](const Node& n) { (void)n.texts("a"); }, "Thing ns/name: a[1]: found 2, allowed: a text"},
      {R"({"metadata":{"labels":{"kueue.x-k8s.io/queue-name":true}}})", [](const Node& n) { (void)n.object("metadata").pairs("labels"); },
       "Thing ns/name: metadata.labels[kueue.x-k8s.io/queue-name]: found true, allowed: a text"},
      {R"({"m":"two","x":1})",
       [](const Node& n) {
         (void)n.choice<int>("m", {{"one", 1}, {"three", 3}}, 0);
       },
       R"(Thing ns/name: m: found "two", allowed: one, three)"},
      {R"({"t":"yesterday"})", [](const Node& n) { (void)n.time("t"); },
       R"(Thing ns/name: t: found "yesterday", allowed: a time such as 2026-01-01T00:00:00Z)"},
      {R"({"q":{"cpu":"1x"}})", [](const Node& n) { (void)n.amounts("q"); },
       R"(Thing ns/name: q.cpu: found "1x", allowed: a quantity such as 500m, 2 or 1Gi)"},
      {R"({"f":"true"})", [](const Node& n) { (void)n.flag("f"); }, R"(Thing ns/name: f: found "true", allowed: true, false)"},
      {R"({})", [](const Node& n) { (void)n.required_text("name"); },
       "Thing ns/name: name: found nothing, allowed: a text that is not empty"},
      {R"([])", [](const Node& n) { (void)n.text("x"); }, "Thing ns/name: found a list, allowed: an object"},
  };
  for (const auto& c : cases) EXPECT_EQ(error_of(c.json, c.read), c.error) << c.json;
}

TEST(Node, KeepsOnlyTheFirstError) {
  const auto error = error_of(R"({"a":1,"b":2})", [](const Node& n) {
    (void)n.text("a");
    (void)n.text("b");
  });
  EXPECT_EQ(error, "Thing ns/name: a: found 1, allowed: a text");
}

TEST(Node, TakesNullAndMissingForTheSame) {
  const auto error = error_of(R"({"a":null})", [](const Node& n) {
    for (const auto* key : {"a", "b"}) {
      EXPECT_FALSE(n.has(key));
      EXPECT_EQ(n.text(key), "");
      EXPECT_EQ(n.int32(key), std::nullopt);
      EXPECT_EQ(n.count(key), 0U);
      EXPECT_TRUE(n.pairs(key).empty());
      EXPECT_FALSE(n.object(key).present());
      EXPECT_FALSE(n.object(key).object("deeper").has("still"));
      EXPECT_FALSE(n.time(key).is_set());
      EXPECT_TRUE(n.flag(key, true));
    }
  });
  EXPECT_EQ(error, "");
}

TEST(Node, ReadsQuantitiesFromTextsAndNumbers) {
  const auto error = error_of(R"({"a":{"cpu":2,"memory":"1Gi","gpu":0.5,"x":"1500m"},"w":0.5})", [](const Node& n) {
    const auto amounts = n.amounts("a");
    ASSERT_EQ(amounts.size(), 4U);
    EXPECT_EQ(amounts[0].resource, "cpu");
    EXPECT_EQ(amounts[0].amount, 2000);
    EXPECT_EQ(amounts[1].resource, "gpu");
    EXPECT_EQ(amounts[1].amount, 1);
    EXPECT_EQ(amounts[2].amount, 1LL << 30);
    EXPECT_EQ(amounts[3].amount, 2);
    EXPECT_EQ(n.nano("w"), 500'000'000);
  });
  EXPECT_EQ(error, "");
}

/// What a reader says of a text of `n` bytes, or of a list of `n` elements, is nothing up to the limit, and both numbers beyond.
TEST(Node, TakesTextsAndListsUpToTheirLimit) {
  const limits::Limit five{"five", 5, limits::Unit::bytes};
  const limits::Limit two{"two", 2, limits::Unit::elements};
  struct Case {
    std::string_view json;
    std::function<void(const Node&)> read;
    std::string_view error;
  };
  const auto texts = [&](const Node& n) { (void)n.texts("a", two, five); };
  const auto pairs = [&](const Node& n) { (void)n.pairs("a", two); };
  const Case cases[] = {
      {R"({"a":"12345"})", [&](const Node& n) { EXPECT_EQ(n.text("a", five), "12345"); }, ""},
      {R"({"a":"123456"})", [&](const Node& n) { (void)n.text("a", five); }, "Thing ns/name: a: found 6 bytes, allowed: at most 5 bytes"},
      {R"({"a":"\u00e4\u00e4\u00e4"})", [&](const Node& n) { (void)n.text("a", five); },
       "Thing ns/name: a: found 6 bytes, allowed: at most 5 bytes"},
      {R"({"a":["1","2"]})", texts, ""},
      {R"({"a":["1","2","3"]})", texts, "Thing ns/name: a: found 3 elements, allowed: at most 2 elements"},
      {R"({"a":["1","123456"]})", texts, "Thing ns/name: a[1]: found 6 bytes, allowed: at most 5 bytes"},
      {R"({"a":{"k":"v","l":"w"}})", pairs, ""},
      {R"({"a":{"k":"v","l":"w","m":"x"}})", pairs, "Thing ns/name: a: found 3 elements, allowed: at most 2 elements"},
      {R"({"a":[{},{}]})", [&](const Node& n) { n.each("a", two, [](const Node&) {}); }, ""},
      {R"({"a":[{},{},{}]})", [&](const Node& n) { n.each("a", two, [](const Node&) { ADD_FAILURE() << "looked at"; }); },
       "Thing ns/name: a: found 3 elements, allowed: at most 2 elements"},
  };
  for (const auto& c : cases) EXPECT_EQ(error_of(c.json, c.read), c.error) << c.json;
}

TEST(Node, CutsMessagesOfOthers) {
  const auto most = limits::message.size();
  for (const std::size_t n : {most, most + 1, 3 * most}) {
    const auto json = R"({"message":")" + std::string(n, 'x') + R"("})";
    EXPECT_EQ(error_of(json, [&](const Node& node) { EXPECT_EQ(node.message("message").size(), most) << n; }), "");
  }
}

/// Keys are as long as Kubernetes lets them be, amounts are short and never negative.
TEST(Node, BoundsKeysAndAmounts) {
  const std::string longest(limits::key.size(), 'k');
  const auto amounts = [](const Node& n) { (void)n.amounts("a"); };
  EXPECT_EQ(error_of(R"({"a":{")" + longest + R"(":"1"}})", amounts), "");
  EXPECT_NE(error_of(R"({"a":{")" + longest + R"(k":"1"}})", amounts).find("found 318 bytes, allowed: at most 317"), std::string::npos);
  EXPECT_EQ(error_of(R"({"a":{"cpu":")" + std::string(63, '0') + R"(1"}})", amounts), "");
  EXPECT_NE(error_of(R"({"a":{"cpu":")" + std::string(64, '0') + R"(1"}})", amounts).find("a.cpu: found 65 bytes, allowed: at most 64"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"a":{"cpu":"-1m"}})", amounts).find("a.cpu: found \"-1m\""), std::string::npos);
}

std::string nested(std::size_t lists) { return std::string(lists, '[') + std::string(lists, ']'); }

TEST(Document, IsRefusedBeyondItsDepthAndSize) {
  const auto deepest = limits::json_depth.size();
  EXPECT_TRUE(Document::parse(nested(deepest)));
  for (const std::size_t lists : {deepest + 1, std::size_t{1000}, std::size_t{1'000'000}}) {
    const auto document = Document::parse(nested(lists));
    ASSERT_FALSE(document) << lists;
    EXPECT_NE(document.error().message.find("allowed: at most 128"), std::string::npos) << document.error().message;
  }
  const auto most = limits::object_text.size();
  const auto of_size = [](std::size_t n) { return R"({"a":")" + std::string(n - 8, 'x') + R"("})"; };
  EXPECT_TRUE(Document::parse(of_size(most)));
  const auto beyond = Document::parse(of_size(most + 1));
  ASSERT_FALSE(beyond);
  EXPECT_NE(beyond.error().message.find("found 3145729 bytes, allowed: at most 3145728"), std::string::npos) << beyond.error().message;
}

/// What is set aside is read all the same, as far as it tells who it is.
TEST(Document, IsReadBeyondItsLimitsWhereThatIsAskedFor) {
  const auto deep = R"({"metadata":{"name":"n"},"spec":)" + nested(9'000) + "}";
  const auto document = Document::parse_beyond_limits(deep);
  ASSERT_TRUE(document) << document.error().message;
  EXPECT_EQ(std::string_view(document->root()["metadata"]["name"]), "n");
  EXPECT_FALSE(Document::parse_beyond_limits(nested(1'000'000))) << "no API server brings that";
}

/// Most of what is too large is so by one text, which nobody needs who asks who an object is.
TEST(Document, ItsOutlineIsReadWithoutItsLongTexts) {
  const std::string most(Document::outline_text_max, 'x');
  const std::string quotes = [] {
    std::string out;
    while (out.size() <= Document::outline_text_max) out += R"(\"\\\u003c)";
    return out + R"(\\)";
  }();
  for (const std::string& longer : {most + "x", quotes}) {
    const auto text =
        R"({"a\"b":"c\\","long":")" + longer + R"(","list":[")" + longer + R"(","",")" + most + R"(",7],"metadata":{"name":"n\\\""}})";
    const auto document = Document::parse_outline(text);
    ASSERT_TRUE(document) << document.error().message;
    const auto root = document->root();
    EXPECT_EQ(std::string_view(root["a\"b"]), "c\\");
    EXPECT_EQ(std::string_view(root["long"]), "");
    EXPECT_EQ(std::string_view(root["list"].at(0)), "");
    EXPECT_EQ(std::string_view(root["list"].at(2)), most);
    EXPECT_EQ(std::int64_t(root["list"].at(3)), 7);
    EXPECT_EQ(std::string_view(root["metadata"]["name"]), "n\\\"");
    // What ends in the midst of something is no object.
    for (const std::size_t end : {text.size() - 1, text.size() / 2, Document::outline_text_max + 100, Document::outline_text_max})
      EXPECT_FALSE(Document::parse_outline(std::string_view(text).substr(0, end))) << end;
  }
  EXPECT_EQ(std::string_view(Document::parse_outline(R"({"name":"n"})")->root()["name"]), "n");
}

TEST(Document, RefusesWhatIsNotJson) {
  for (const auto* text : {"", "{", "{\"a\":}", "nope", "{\"a\":\"\xff\"}"}) {
    const auto document = Document::parse(text);
    ASSERT_FALSE(document) << text;
    EXPECT_EQ(document.error().kind, ErrorKind::invalid);
    EXPECT_EQ(document.error().message.rfind("not a JSON text: ", 0), 0U) << document.error().message;
  }
}

TEST(Document, KeepsDocumentsApart) {
  std::vector<Document> documents;
  for (int i = 0; i < 10; ++i) {
    auto document = Document::parse("{\"n\":" + std::to_string(i) + "}");
    ASSERT_TRUE(document);
    documents.push_back(std::move(*document));
  }
  for (int i = 0; i < 10; ++i) EXPECT_EQ(std::int64_t(documents[static_cast<std::size_t>(i)].root()["n"]), i);
}

}  // namespace
}  // namespace hindsight::connectors
