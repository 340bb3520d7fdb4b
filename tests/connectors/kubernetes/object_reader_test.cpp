// Shows what is taken from objects, lists and statuses, and that managed fields are cut out wherever they stand.
#include "connectors/kubernetes/mirror/object_reader.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace hindsight::connectors::kubernetes {
namespace {

std::string padded(std::string text) {
  pad(text);
  return text;
}

TEST(ObjectReader, FindsTheMetadataAnywhere) {
  ObjectReader reader;
  const std::string text = padded(
      R"( {"spec":{"metadata":{"name":"wrong"}}, "metadata" : {"labels":{"name":"x"},"name":"a","uid":"u-1","namespace":"ns","resourceVersion":"42"},"z":[1,2]} )");
  const auto object = reader.read_object(text);
  ASSERT_TRUE(object) << object.error().message;
  EXPECT_EQ(object->name, "a");
  EXPECT_EQ(object->namespace_, "ns");
  EXPECT_EQ(object->uid, "u-1");
  EXPECT_EQ(object->resource_version, "42");
  EXPECT_TRUE(object->managed_fields.empty());
  EXPECT_TRUE(object->text.starts_with("{\"spec\"") && object->text.ends_with("[1,2]}"));
}

TEST(ObjectReader, CutsManagedFieldsFromEveryPosition) {
  ObjectReader reader;
  const std::string fields = R"("managedFields" : [ {"manager":"k]}","fieldsV1":{"f:a":{}}} ])";
  for (const std::string& metadata : {R"({)" + fields + R"(,"name":"a","uid":"u"})", R"({"name":"a", )" + fields + R"( , "uid":"u"})",
                                      R"({"name":"a","uid":"u" ,)" + fields + " }"}) {
    const std::string text = padded(R"({"metadata":)" + metadata + R"(,"data":{"k":"v"}})");
    const auto object = reader.read_object(text);
    ASSERT_TRUE(object) << object.error().message;
    std::string copy;
    copy_without_managed_fields(*object, copy);
    nlohmann::json expected = nlohmann::json::parse(text);
    expected["metadata"].erase("managedFields");
    EXPECT_EQ(nlohmann::json::parse(copy), expected) << copy;
  }
  const std::string only = padded(R"({"metadata":{)" + fields + "}}");
  const auto object = reader.read_object(only);
  ASSERT_TRUE(object);
  std::string copy;
  copy_without_managed_fields(*object, copy);
  EXPECT_EQ(nlohmann::json::parse(copy), nlohmann::json::parse(R"({"metadata":{}})"));
  const std::string null = padded(R"({"metadata":{"managedFields":null,"name":"a"}})");
  EXPECT_EQ(reader.read_object(null)->name, "a");
}

TEST(ObjectReader, RefusesWhatIsNoObject) {
  ObjectReader reader;
  for (const char* bad : {"", "null", "[]", "{}", R"({"metadata":1})", R"({"metadata":{"name":1}})", R"({"metadata":{"name":"a)",
                          R"({"metadata":{"name":"a\u0041"}})"}) {
    const std::string text = padded(bad);
    EXPECT_FALSE(reader.read_object(text)) << bad;
  }
}

TEST(ObjectReader, ReadsObjectsOfAnyDepth) {
  // Where a definition keeps fields that it does not know, a user may nest them as deep as the API server's own limit of 10,000 allows.
  ObjectReader reader;
  const std::string deep = std::string(20'000, '[') + std::string(20'000, ']');
  const std::string item = R"({"metadata":{"name":"deep","uid":"1"},"spec":{"x":)" + deep + "}}";
  const std::string next = R"({"spec":{"y":)" + deep + R"(},"metadata":{"uid":"2","name":"next"}})";
  const std::string page = padded(R"({"metadata":{"resourceVersion":"7"},"items":[)" + item + "," + next + "]}");
  const auto read = reader.read_list_page(page);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->items.size(), 2U);
  EXPECT_EQ(read->items[0].text, item);
  EXPECT_EQ(read->items[1].name, "next");
  const std::string line = padded(R"({"type":"ADDED","object":)" + item + "}");
  const auto watched = reader.read_watch_line(line);
  ASSERT_TRUE(watched) << watched.error().message;
  EXPECT_EQ(watched->object.name, "deep");
}

TEST(ObjectReader, AStatusOfAnyDepthDoesNoHarm) {
  std::string deep;
  for (int i = 0; i < 40'000; ++i) deep += R"({"a":)";
  EXPECT_EQ(read_status(deep).code, 0);
  deep += "1" + std::string(40'000, '}');
  EXPECT_EQ(read_status(deep).code, 0);
  EXPECT_EQ(read_status(std::string(100'000, '[') + std::string(100'000, ']')).code, 0);
  // What is longer than anybody means is only quoted.
  const auto longest = read_status(R"({"kind":"Status","code":403,"message":")" + std::string(1'000'000, 'x') + "\"}");
  EXPECT_EQ(longest.code, 0);
  EXPECT_EQ(longest.message.size(), 200U);
}

TEST(ObjectReader, ReadsListPagesOfBuiltInAndCustomKinds) {
  ObjectReader reader;
  const std::string item = R"({"metadata":{"name":"a","uid":"1"}})";
  const std::string built_in = padded(
      R"({"kind":"L","metadata":{"resourceVersion":"7","continue":"tok==","remainingItemCount":3},"items":[)" + item + "," + item + "]}\n");
  const auto page = reader.read_list_page(built_in);
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->resource_version, "7");
  EXPECT_EQ(page->continue_token, "tok==");
  ASSERT_EQ(page->items.size(), 2U);
  EXPECT_EQ(page->items[1].text, item);
  // Custom resources come with sorted keys: the metadata after the items.
  const std::string custom =
      padded(R"({"apiVersion":"x","items":[)" + item + R"(],"kind":"L","metadata":{"continue":"","resourceVersion":"8"}})");
  const auto second = reader.read_list_page(custom);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->resource_version, "8");
  EXPECT_TRUE(second->continue_token.empty());
  EXPECT_EQ(second->items.size(), 1U);
  const std::string empty = padded(R"({"items":null,"metadata":{"resourceVersion":"9"}})");
  EXPECT_EQ(reader.read_list_page(empty)->items.size(), 0U);
}

/// One object with bytes that are no text keeps nobody from reading the others of its kind.
TEST(ObjectReader, ReadsBytesThatAreNoText) {
  ObjectReader reader;
  const std::string good = R"({"metadata":{"name":"a","uid":"1"}})";
  for (const std::string bytes : {"\xff", "\xe4\xbd", "\xed\xa0\x80", "\xc3"}) {
    const std::string bad = R"({"metadata":{"name":"b","uid":"2"},"data":")" + bytes + R"("})";
    const std::string list = padded(R"({"metadata":{"resourceVersion":"7"},"items":[)" + bad + "," + good + "]}");
    const auto page = reader.read_list_page(list);
    ASSERT_TRUE(page) << page.error().message;
    ASSERT_EQ(page->items.size(), 2U);
    EXPECT_EQ(page->items[0].uid, "2");
    EXPECT_TRUE(nlohmann::json::accept(page->items[0].text));
    EXPECT_EQ(page->items[1].text, good);
    const std::string line = padded(R"({"type":"MODIFIED","object":)" + bad + "}");
    const auto event = reader.read_watch_line(line);
    ASSERT_TRUE(event) << event.error().message;
    EXPECT_EQ(event->object.uid, "2");
    EXPECT_TRUE(nlohmann::json::accept(event->object.text));
    const std::string one = padded(bad);
    const auto object = reader.read_object(one);
    ASSERT_TRUE(object) << object.error().message;
    EXPECT_TRUE(nlohmann::json::accept(object->text));
  }
}

/// However deep somebody nests what nobody reads, the object has a name, and the list goes on behind it.
TEST(ObjectReader, ReadsPastObjectsOfAnyDepth) {
  ObjectReader reader;
  const std::string deep = R"({"metadata":{"name":"b","uid":"2"},"data":)" + std::string(9'999, '[') + std::string(9'999, ']') + "}";
  const std::string list = padded(R"({"metadata":{"resourceVersion":"7"},"items":[)" + deep + R"(,{"metadata":{"name":"a","uid":"1"}}]})");
  const auto page = reader.read_list_page(list);
  ASSERT_TRUE(page) << page.error().message;
  ASSERT_EQ(page->items.size(), 2U);
  EXPECT_EQ(page->items[1].name, "a");
}

TEST(ObjectReader, QuotesNothingButText) { EXPECT_TRUE(read_status("<html>\xff\xfe").message.ends_with("\uFFFD\uFFFD")); }

TEST(ObjectReader, RefusesDamagedLists) {
  ObjectReader reader;
  for (const char* bad : {"", "{}", R"({"items":[]})", R"({"metadata":{},"items":[1]})", R"({"metadata":{},"items":[{"metadata":{}})",
                          R"({"metadata":[],"items":[]})"}) {
    const std::string text = padded(bad);
    EXPECT_FALSE(reader.read_list_page(text)) << bad;
  }
}

TEST(ObjectReader, ReadsAStatusAndShortensAnythingElse) {
  const StatusText status = read_status(R"({"kind":"Status","code":409,"reason":"Conflict","message":"changed","details":{"name":"a"}})");
  EXPECT_EQ(status.code, 409);
  EXPECT_EQ(status.reason, "Conflict");
  EXPECT_EQ(status.message, "changed");
  EXPECT_EQ(status.object_name, "a");
  EXPECT_EQ(read_status(R"({"kind":"Status","message":7,"reason":[],"code":"x","details":{"name":3}})").message, "");
  EXPECT_EQ(read_status(R"({"kind":"Status","details":[1]})").object_name, "");
  EXPECT_EQ(read_status("<html>" + std::string(1000, 'x')).message.size(), 200U);
  EXPECT_EQ(read_status("{}").message, "{}");
  EXPECT_EQ(read_status(R"({"kind":["Status"]})").code, 0);
}

}  // namespace
}  // namespace hindsight::connectors::kubernetes
