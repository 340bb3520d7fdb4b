#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "operations/http.hpp"
#include "page/view.hpp"

namespace hindsight::page {

// How the answers of the API are written: bodies, errors, and what browsers and those between may keep.

/// {"error":{"status":…,"message":"…","remedy":"…"}}; `remedy` is left out where it is empty.
[[nodiscard]] operations::HttpResponse api_error(int status, std::string_view message, std::string_view remedy = {});
/// The same of what went wrong, by its kind.
[[nodiscard]] operations::HttpResponse api_error(const Error& error);

/// A body, and the name by which whoever has it already knows it again.
struct ApiAnswer {
  std::shared_ptr<const std::string> body;
  std::string etag;
};
/// Errors: invalid, when it is longer than `bytes_max`.
[[nodiscard]] Result<ApiAnswer> write_answer(const Json& json, std::size_t bytes_max);

/// How long an answer stays what it is.
enum class Freshness : std::uint8_t {
  changes,  ///< It is asked for anew each time; only what it says may be the same.
  past,     ///< Of a moment that is named by its position: nothing will be otherwise.
};
/// What the request is answered with: 304 where it has that already; compressed where it takes that.
[[nodiscard]] operations::HttpResponse respond(const operations::HttpRequest& request, const ApiAnswer& answer, Freshness freshness,
                                               bool sees_all);

/// Answers about past moments that were given a while ago: many look at the same moment, and who drags the slider comes back. Thread-safe.
class AnswerMemory {
 public:
  explicit AnswerMemory(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  [[nodiscard]] std::optional<ApiAnswer> find(const std::string& question);
  void keep(const std::string& question, const ApiAnswer& answer);

 private:
  using Kept = std::list<std::pair<std::string, ApiAnswer>>;

  const std::size_t bytes_max_;
  std::mutex mutex_;  ///< Guards all below.
  Kept kept_;         ///< What was asked for last comes first.
  std::unordered_map<std::string, Kept::iterator> by_question_;
  std::size_t bytes_ = 0;
};

}  // namespace hindsight::page
