#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <unordered_map>

#include "operations/caller_shares.hpp"
#include "operations/http.hpp"
#include "runtime/review_requests.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::runtime {

/// How much of the API server strangers may use up by asking us, and how long an answer holds.
struct AccessReviewLimits {
  std::chrono::seconds good_for{60};     ///< A right that was taken away is gone after that.
  std::chrono::seconds bad_for{10};      ///< One that was given is there after that.
  std::chrono::seconds remembered{600};  ///< Who was let in is no stranger for so long.
  std::size_t good_max = 256, bad_max = 1024;
  /// Reviews. Known is who was let in with the same token or over the same connection.
  operations::CallerLimits shares{.at_once = 2, .known_at_once = 2, .per_second = 10, .burst = 20};
};

/// Whether the caller of one of our paths may have what it asks for: the API server is asked who its bearer token stands for (TokenReview)
/// and whether that user may (SubjectAccessReview of a non-resource URL), as controllers do for their metrics. Thread-safe.
class AccessReviews {
 public:
  using Ask = AskServer;
  using Now = std::function<std::chrono::steady_clock::time_point()>;

  explicit AccessReviews(Ask ask, AccessReviewLimits limits = {}, Now now = &std::chrono::steady_clock::now)
      : ask_(std::move(ask)), limits_(limits), now_(std::move(now)) {}

  /// Status 200 if it may; else what to answer: 401, 403, 429 while too much is asked, 503 without an answer of the API server. May wait
  /// for that; the answer to what was asked a moment ago costs nothing.
  [[nodiscard]] operations::HttpResponse judge(const operations::HttpRequest& request);

  /// The token that a request shows; empty: none.
  [[nodiscard]] static std::string_view bearer_token(const operations::HttpRequest& request);
  /// The answer to who shows none.
  [[nodiscard]] static operations::HttpResponse without_token();

 private:
  using Time = std::chrono::steady_clock::time_point;
  enum class Verdict : std::uint8_t { good, nobody, forbidden };
  /// Answers by the hash of a token: a token is worth stealing.
  class Answers {
   public:
    explicit Answers(std::size_t max) : max_(max) {}
    struct Answer {
      Verdict verdict = Verdict::nobody;
      Time at;
    };
    [[nodiscard]] const Answer* find(const std::string& key) const;
    void put(const std::string& key, Answer answer);
    void erase(const std::string& key);

   private:
    using Entry = std::pair<std::string, Answer>;
    std::size_t max_;
    std::list<Entry> entries_;  ///< The newest first.
    std::unordered_map<std::string, std::list<Entry>::iterator> by_key_;
  };

  [[nodiscard]] Result<Verdict> review(std::string_view token, const operations::HttpRequest& request) const;
  [[nodiscard]] static operations::HttpResponse response(Verdict verdict, const std::string& path);

  const Ask ask_;
  const AccessReviewLimits limits_;
  const Now now_;
  operations::CallerShares shares_{limits_.shares};
  std::mutex mutex_;  ///< Guards all below.
  Answers good_{limits_.good_max}, bad_{limits_.bad_max};
};

}  // namespace hindsight::runtime
