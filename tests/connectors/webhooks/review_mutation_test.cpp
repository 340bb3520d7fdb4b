// Whatever bytes arrive, a review is answered with JSON: a verdict, or status 400 with what is wrong.

#include <limits>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "tests/connectors/webhooks/asking.hpp"
#include "tests/connectors/webhooks/random_objects.hpp"

namespace hindsight::connectors::webhooks {
namespace {

using manifests::Json;
using Engine = std::mt19937_64;

Json random_leaf(Engine& random) {
  static const std::vector<Json> leaves{nullptr,
                                        true,
                                        -1,
                                        1.5,
                                        "",
                                        "9223372036854775808Ei",
                                        Json::array(),
                                        Json::object(),
                                        Json::array({1, "x", nullptr}),
                                        std::string(300, 'a'),
                                        std::numeric_limits<std::uint64_t>::max(),
                                        "Borrow",
                                        "{}"};
  return leaves[random() % leaves.size()];
}

/// Changes one place somewhere below `value`.
void mutate(Json& value, Engine& random) {
  if (!value.is_structured() || value.empty() || random() % 10 == 0) {
    value = random_leaf(random);
    return;
  }
  auto it = value.begin();
  std::advance(it, static_cast<std::ptrdiff_t>(random() % value.size()));
  switch (random() % 12) {
    case 0:
      value.erase(it);
      return;
    case 1:
      if (value.is_array()) {
        value.push_back(Json(*it));
        return;
      }
      break;
    default:
      break;
  }
  mutate(*it, random);
}

/// Changes some bytes.
void damage(std::string& text, Engine& random) {
  for (std::size_t i = 0, n = random() % 4; i < n && !text.empty(); ++i) {
    const std::size_t at = random() % text.size();
    switch (random() % 3) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, random() % 20);
        break;
      default:
        text.insert(at, text.substr(random() % text.size(), random() % 20));
    }
  }
}

bool is_an_answer(const Answer& answer, bool conversion) {
  const Json body = Json::parse(answer.body, nullptr, false);
  if (answer.http_status == 400) return body.is_object() && body.contains("error");
  if (answer.http_status != 200 || !body.is_object()) return false;
  const Json& response = body["response"];
  return response.contains("uid") && response.contains(conversion ? "result" : "allowed");
}

class MutatedReviews : public ::testing::Test {
 protected:
  /// A review of a random kind with objects that fit their tables, some of them in the older version.
  Json some_review() {
    const auto& all = reviewed_kinds();
    const auto& kind = *all[random_() % all.size()].kind;
    Json now = objects_.object_of(kind), before = now;
    for (std::size_t i = 0, n = random_() % 3; i < n; ++i) mutate(now["spec"], random_);
    const char* operations[] = {"CREATE", "UPDATE", "DELETE"};
    Json out = test::review(operations[random_() % 3], now, before);
    if (random_() % 3 == 0) out["request"]["requestKind"] = {{"version", "v1beta1"}};
    return out;
  }

  Engine random_{20260101};
  test::RandomObjects objects_{20260101};
};

TEST_F(MutatedReviews, of_admission_are_answered) {
  test::Around around;
  around.objects["LocalQueue/default/default"] = Json::object();
  std::size_t allowed = 0, denied = 0, refused = 0;
  for (int i = 0; i < 6000; ++i) {
    Json review = some_review();
    if (i % 2 == 0) mutate(review, random_);
    std::string text = review.dump();
    if (i % 3 == 0) damage(text, random_);
    for (const Answer& answer : {answer_mutation(text, around), answer_validation(text, around)}) {
      ASSERT_TRUE(is_an_answer(answer, false)) << answer.http_status << " " << answer.body << "\n" << text;
      if (answer.http_status == 400)
        ++refused;
      else
        ++(answer.body.find("\"allowed\":true") != std::string::npos ? allowed : denied);
    }
  }
  EXPECT_GT(allowed, 500U);
  EXPECT_GT(denied, 500U);
  EXPECT_GT(refused, 500U);
}

TEST_F(MutatedReviews, of_conversion_are_answered) {
  std::size_t converted = 0, failed = 0, refused = 0;
  for (int i = 0; i < 4000; ++i) {
    Json objects = Json::array();
    for (std::size_t n = random_() % 3; n > 0; --n) {
      objects.push_back(some_review()["request"]["object"]);
      if (random_() % 2 == 0) objects.back()["apiVersion"] = "kueue.x-k8s.io/v1beta1";
    }
    Json review = {{"apiVersion", "apiextensions.k8s.io/v1"},
                   {"kind", "ConversionReview"},
                   {"request",
                    {{"uid", "1"},
                     {"objects", objects},
                     {"desiredAPIVersion", random_() % 2 == 0 ? "kueue.x-k8s.io/v1beta1" : "kueue.x-k8s.io/v1beta2"}}}};
    if (i % 2 == 0) mutate(review, random_);
    std::string text = review.dump();
    if (i % 3 == 0) damage(text, random_);
    const Answer answer = answer_conversion(text);
    ASSERT_TRUE(is_an_answer(answer, true)) << answer.http_status << " " << answer.body << "\n" << text;
    if (answer.http_status == 400)
      ++refused;
    else
      ++(answer.body.find("\"Success\"") != std::string::npos ? converted : failed);
  }
  EXPECT_GT(converted, 300U);
  EXPECT_GT(failed, 100U);
  EXPECT_GT(refused, 300U);
}

}  // namespace
}  // namespace hindsight::connectors::webhooks
