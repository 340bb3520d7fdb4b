// What it takes to answer a review is no more than is said beforehand (memory_to_review, memory_to_convert), whatever is in it: by that
// the server decides how many it reads at a time. Each case has a process of its own, whose memory the kernel measures.

#include <array>
#include <functional>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/connectors/webhooks/asking.hpp"

namespace hindsight::connectors::webhooks::test {
namespace {

constexpr std::size_t review_bytes = 3U << 19U, conversion_bytes = 3U << 20U;
/// Of the allocator, and of what is loaded when it is first needed.
constexpr std::size_t slack = 12U << 20U;
constexpr std::size_t one_object = 48U << 20U;

using Answerer = std::function<Answer(std::string_view)>;

/// Bytes that the process grew by at most, and the status of the answer.
struct Taken {
  std::size_t bytes = 0;
  int status = 0;
};

Taken taken_by(const std::string& body, const Answerer& answer) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return {};
  const auto highest = [] {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
  };
  if (::fork() == 0) {
    const std::size_t before = highest();
    Taken out;
    out.status = answer(body).http_status;
    out.bytes = highest() - before;
    [[maybe_unused]] const auto n = ::write(ends[1], &out, sizeof out);
    ::_exit(0);
  }
  Taken out;
  ::close(ends[1]);
  [[maybe_unused]] const auto n = ::read(ends[0], &out, sizeof out);
  ::close(ends[0]);
  ::wait(nullptr);
  return out;
}

std::string filled(std::size_t bytes, const std::string& begin, const std::string& item, const std::string& end) {
  std::string out = begin;
  while (out.size() + item.size() + end.size() < bytes) out += item;
  if (out.back() == ',') out.back() = ' ';
  return out + end;
}

std::string nested(int levels) {
  std::string out;
  for (int i = 0; i < levels; ++i) out += R"({"a":)";
  return out + "1" + std::string(static_cast<std::size_t>(levels), '}') + ",";
}

/// Items of a list, each the worst of its kind.
std::vector<std::string> items() {
  return {"[],",
          "{},",
          "1,",
          "null,",
          R"("",)",
          R"({"":1},)",
          R"({"a":1,"b":2,"c":3,"d":4},)",
          nested(80),
          "\"" + std::string(60, 'a') + "\",",
          "\"" + std::string(100'000, 'a') + "\",",
          R"("\u4e2d\n\"",)"};
}

TEST(ReviewMemory, OfAdmissionReviewsIsAsSaid) {
  const Around around;
  const std::string job =
      R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"CREATE","kind":{"group":"batch","version":"v1","kind":"Job"},"object":{"metadata":{"labels":{"kueue.x-k8s.io/queue-name":"q"}},"spec":{"template":{"spec":{}}},"x":[)";
  const std::string queue =
      R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"CREATE","kind":{"group":"kueue.x-k8s.io","version":"v1beta2","kind":"ClusterQueue"},"object":{"metadata":{"name":"c"},"spec":{"resourceGroups":[)";
  for (const auto& item : items())
    for (const auto& [begin, end] : {std::pair(job, "]}}}"), std::pair(queue, "]}}}}")}) {
      const std::string body = filled(review_bytes, begin, item, end);
      for (const auto& answer : {Answerer([&](std::string_view text) { return answer_mutation(text, around); }),
                                 Answerer([&](std::string_view text) { return answer_validation(text, around); })}) {
        const auto taken = taken_by(body, answer);
        EXPECT_EQ(taken.status, 200) << item.substr(0, 60);
        EXPECT_LE(taken.bytes, memory_to_review(body) + slack) << item.substr(0, 60);
      }
    }
}

const std::string conversion =
    R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"u","desiredAPIVersion":"kueue.x-k8s.io/v1beta1","objects":[)";

TEST(ReviewMemory, OfConversionsIsAsSaid) {
  for (const auto& item : items()) {
    // In objects of 60 KB, as large Workloads are; with all of it in the list itself, where nothing is an object; in one object; and
    // where no list belongs.
    const std::string object = R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"x":[)";
    for (const auto& body :
         {filled(conversion_bytes, conversion, filled(60'000, object, item, "]}},"), "]}}"),
          filled(conversion_bytes, conversion, item, "]}}"), filled(conversion_bytes, conversion + object, item, "]}}]}}"),
          filled(conversion_bytes, conversion + "]},\"x\":[", item, "]}")}) {
      const auto taken = taken_by(body, &answer_conversion);
      EXPECT_TRUE(taken.status == 200 || taken.status == 400) << taken.status << " for " << item.substr(0, 60);
      EXPECT_LE(taken.bytes, memory_to_convert(body) + one_object + slack) << item.substr(0, 60);
    }
  }
}

// Parsers that keep the buffers of the longest text would hold fourteen times of it for ever, in each thread.
TEST(ReviewMemory, IsGivenBack) {
  const std::string body = filled(16U << 20U, conversion, R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload"},)", "]}}");
  const auto resident = [] {
    long pages = 0, all = 0;
    if (FILE* file = std::fopen("/proc/self/statm", "r")) {
      if (std::fscanf(file, "%ld %ld", &all, &pages) != 2) pages = 0;
      std::fclose(file);
    }
    return static_cast<std::size_t>(pages) * 4096;
  };
  const auto before = resident();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(answer_conversion(body).http_status, 200);
  EXPECT_LE(resident(), before + slack);
}

}  // namespace
}  // namespace hindsight::connectors::webhooks::test
