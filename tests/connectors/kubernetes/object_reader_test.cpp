// Shows what is taken from objects, lists and statuses, and that managed fields are cut out wherever they stand.
#include "connectors/kubernetes/object_reader.hpp"

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
