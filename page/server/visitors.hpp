#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "operations/caller_shares.hpp"
#include "operations/http.hpp"
#include "page/view.hpp"

namespace hindsight::page {

/// What is asked of whoever knows people and their rights, as the API server does (TokenReview, SubjectAccessReview). Each may wait for the
/// answer. Errors: unavailable.
struct Reviews {
  /// Who a bearer token stands for, in words that only the other function reads; nothing: nobody.
  std::function<Result<std::optional<std::string>>(const std::string& token)> who;
  /// Whether that user may get Workloads in this namespace; empty: in all.
  std::function<Result<bool>(const std::string& user, const std::string& namespace_)> may_get_workloads;
};

struct VisitorLimits {
  std::chrono::seconds good_for{60};  ///< A right, or a token, that was taken away is gone after that.
  std::chrono::seconds bad_for{10};   ///< One that was given is there after that.
  std::chrono::seconds silence{2};    ///< Where there was no answer nothing is asked for so long: views do not wait for each name.
  std::chrono::seconds session_for{12 * 60 * 60};
  std::size_t visitors_max = 256, sessions_max = 256;
  std::size_t namespaces_max = 4096;      ///< That are remembered of one visitor.
  std::size_t namespaces_a_second = 100;  ///< That are asked for one visitor; the others are not shown to him until later.
  /// Tokens that are looked up.
  operations::CallerLimits shares{.at_once = 2, .known_at_once = 4, .per_second = 10, .burst = 20};
};

/// Who asks, and what he may see: by the bearer token of each request, or by a session that a browser began with one (a cookie that no
/// script can read). Tokens are kept in memory only, for as long as their sessions last. Thread-safe.
class Visitors {
 public:
  using Clock = std::chrono::steady_clock;
  using Now = std::function<Clock::time_point()>;

  explicit Visitors(Reviews reviews, VisitorLimits limits = {}, Now now = &Clock::now);
  ~Visitors();
  Visitors(const Visitors&) = delete;
  Visitors& operator=(const Visitors&) = delete;

  struct Entry {
    std::shared_ptr<const Audience> audience;  ///< Null: he does not come in;
    operations::HttpResponse refusal;          ///< this is why: 401, 429, 503.
  };
  [[nodiscard]] Entry enter(const operations::HttpRequest& request);
  /// Whether the request shows a token or a session at all; asks nobody.
  [[nodiscard]] static bool shows_anything(const operations::HttpRequest& request);

  /// Body {"token":"…"}: 204 with the cookie of a session; 400, or as `enter`.
  [[nodiscard]] operations::HttpResponse sign_in(const operations::HttpRequest& request);
  /// Ends the session. 204.
  [[nodiscard]] operations::HttpResponse sign_out(const operations::HttpRequest& request);

  /// Of a token in a body.
  static constexpr std::size_t token_bytes_max = 16 * 1024;

 private:
  class Visitor;
  struct Known {
    std::shared_ptr<Visitor> visitor;  ///< Null: the token stands for nobody.
    Clock::time_point at;
  };
  struct Session {
    std::string token;
    Clock::time_point begun, used;
  };

  [[nodiscard]] Entry enter_with(const std::string& token, const operations::HttpRequest& request, bool in_session);
  [[nodiscard]] std::optional<std::string> token_of_session(const operations::HttpRequest& request);
  void make_room();

  const std::shared_ptr<const Reviews> reviews_;
  const VisitorLimits limits_;
  const Now now_;
  operations::CallerShares shares_;
  std::mutex mutex_;                                   ///< Guards all below.
  std::unordered_map<std::string, Known> known_;       ///< By the hash of the token, which is worth stealing.
  std::unordered_map<std::string, Session> sessions_;  ///< By the hash of what the cookie says.
};

}  // namespace hindsight::page
