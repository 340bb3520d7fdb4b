#include "runtime/access_reviews.hpp"

#include <array>

#include <openssl/sha.h>

#include "vocabulary/ascii.hpp"

namespace hindsight::runtime {
namespace {

using operations::HttpRequest;
using operations::HttpResponse;

std::string key_of(std::string_view token, const std::string& path) {
  const std::string all = path + '\0' + std::string(token);
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(all.data()), all.size(), digest.data());
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

HttpResponse later(int status, const std::string& message) {
  auto out = operations::http_error(status, message);
  out.headers.emplace_back("Retry-After", "1");
  return out;
}

}  // namespace

// ---- what was answered ------------------------------------------------------------------------------------------------------------

const AccessReviews::Answers::Answer* AccessReviews::Answers::find(const std::string& key) const {
  const auto it = by_key_.find(key);
  return it == by_key_.end() ? nullptr : &it->second->second;
}

void AccessReviews::Answers::put(const std::string& key, Answer answer) {
  erase(key);
  entries_.emplace_front(key, answer);
  by_key_.emplace(key, entries_.begin());
  if (entries_.size() <= max_) return;
  by_key_.erase(entries_.back().first);
  entries_.pop_back();
}

void AccessReviews::Answers::erase(const std::string& key) {
  const auto it = by_key_.find(key);
  if (it == by_key_.end()) return;
  entries_.erase(it->second);
  by_key_.erase(it);
}

// ---- judging ----------------------------------------------------------------------------------------------------------------------

std::string_view AccessReviews::bearer_token(const HttpRequest& request) {
  constexpr std::string_view scheme = "bearer ";
  std::string_view given = request.header("authorization");
  if (!is_lower_of(given.substr(0, scheme.size()), scheme)) return {};
  given.remove_prefix(scheme.size());
  while (given.starts_with(' ')) given.remove_prefix(1);
  return given;
}

HttpResponse AccessReviews::without_token() {
  auto out = operations::http_error(401, "authorization: found no bearer token; allowed: one of somebody who may get this path");
  out.headers.emplace_back("WWW-Authenticate", "Bearer");
  return out;
}

HttpResponse AccessReviews::response(Verdict verdict, const std::string& path) {
  switch (verdict) {
    case Verdict::good:
      return {};
    case Verdict::forbidden:
      return operations::http_error(403, "authorization: found a user who may not get " + path +
                                             "; allowed: verb get on this nonResourceURL, as ClusterRole hindsight-metrics-reader has it");
    case Verdict::nobody:
      break;
  }
  return without_token();
}

HttpResponse AccessReviews::judge(const HttpRequest& request) {
  const auto token = bearer_token(request);
  if (token.empty()) return without_token();
  const std::string key = key_of(token, request.path);
  bool known = request.proven;
  const auto now = now_();
  {
    const std::lock_guard lock(mutex_);
    if (const auto* good = good_.find(key)) {
      if (now - good->at < limits_.good_for) return {};
      known = known || now - good->at < limits_.remembered;
    }
    if (const auto* bad = bad_.find(key); bad != nullptr && now - bad->at < limits_.bad_for) return response(bad->verdict, request.path);
  }
  // Strangers in great number do not keep those out who were let in before.
  const auto place = shares_.enter(request.peer, known, now);
  if (!place) return later(429, "too many callers are to be looked up; ask again later");
  const auto verdict = [&]() -> Result<Verdict> {
    try {
      return review(token, request);
    } catch (const std::exception& e) {
      return fail(ErrorKind::unavailable, std::string("who asks cannot be looked up: ") + e.what());
    }
  }();
  const std::lock_guard lock(mutex_);
  if (!verdict) return later(503, verdict.error().message);
  const bool good = *verdict == Verdict::good;
  (good ? bad_ : good_).erase(key);
  (good ? good_ : bad_).put(key, {*verdict, now_()});
  return response(*verdict, request.path);
}

Result<AccessReviews::Verdict> AccessReviews::review(std::string_view token, const HttpRequest& request) const {
  const auto user = review_token(ask_, token);
  if (!user) return tl::unexpected(user.error());
  if (!*user) return Verdict::nobody;
  const auto may = review_access(ask_, **user, {{"nonResourceAttributes", {{"path", request.path}, {"verb", "get"}}}});
  if (!may) return tl::unexpected(may.error());
  return *may ? Verdict::good : Verdict::forbidden;
}

}  // namespace hindsight::runtime
