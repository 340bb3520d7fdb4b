#include "page/server/visitors.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include <openssl/rand.h>
#include <openssl/sha.h>

#include "page/server/api_answers.hpp"
#include "vocabulary/ascii.hpp"

namespace hindsight::page {
namespace {

using operations::HttpRequest;
using operations::HttpResponse;
using Moment = Visitors::Clock::time_point;

/// Browsers take a cookie of this name only over TLS, for this host alone (RFC 6265bis, 4.1.3.2).
constexpr std::string_view cookie_name = "__Host-hindsight";
constexpr const char* cookie_rules = "; Path=/; Secure; HttpOnly; SameSite=Strict";

std::string hash_of(std::string_view text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

std::string random_word() {
  constexpr std::string_view digits = "0123456789abcdef";
  std::array<unsigned char, 32> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) throw std::runtime_error("no random bytes");
  std::string out;
  for (const auto byte : bytes) out += {digits[byte >> 4U], digits[byte & 15U]};
  return out;
}

std::string_view bearer_of(const HttpRequest& request) {
  constexpr std::string_view scheme = "bearer ";
  std::string_view given = request.header("authorization");
  if (!is_lower_of(given.substr(0, std::min(given.size(), scheme.size())), scheme)) return {};
  given.remove_prefix(scheme.size());
  while (given.starts_with(' ')) given.remove_prefix(1);
  return given;
}

/// Empty: the request has no such cookie.
std::string_view session_of(const HttpRequest& request) {
  std::string_view all = request.header("cookie");
  while (!all.empty()) {
    const auto end = all.find(';');
    std::string_view one = all.substr(0, end);
    all.remove_prefix(end == std::string_view::npos ? all.size() : end + 1);
    while (one.starts_with(' ')) one.remove_prefix(1);
    if (one.size() > cookie_name.size() && one.starts_with(cookie_name) && one[cookie_name.size()] == '=')
      return one.substr(cookie_name.size() + 1);
  }
  return {};
}

HttpResponse not_known(std::string_view what) {
  auto out = api_error(401, what, "Sign in with a token of the cluster, as 'kubectl create token NAME' makes one.");
  out.headers.emplace_back("WWW-Authenticate", "Bearer");
  return out;
}

HttpResponse nothing_said() { return {.status = 204}; }

}  // namespace

/// Somebody, and what is known of his rights. They are asked for when a view first needs them.
class Visitors::Visitor final : public Audience {
 public:
  Visitor(std::string user, std::shared_ptr<const Reviews> reviews, const VisitorLimits& limits, Now now)
      : user_(std::move(user)), reviews_(std::move(reviews)), limits_(limits), now_(std::move(now)) {}

  [[nodiscard]] bool may_see(std::string_view namespace_) const override {
    const std::lock_guard lock(mutex_);
    return may(std::string()) || may(std::string(namespace_));
  }
  [[nodiscard]] bool sees_all() const override {
    const std::lock_guard lock(mutex_);
    return may(std::string());
  }

 private:
  struct Right {
    bool given = false;
    Moment at;
  };

  /// The mutex is held: what one request asks, the next one need not.
  [[nodiscard]] bool may(const std::string& namespace_) const {
    const Moment now = now_();
    const auto known = rights_.find(namespace_);
    if (known != rights_.end() && now - known->second.at < (known->second.given ? limits_.good_for : limits_.bad_for))
      return known->second.given;
    if (silent_ && now - *silent_ < limits_.silence) return false;
    if (!has_turn(now)) return false;
    const auto said = reviews_->may_get_workloads(user_, namespace_);
    if (!said) {
      silent_ = now;
      return false;
    }
    silent_.reset();
    if (rights_.size() >= limits_.namespaces_max) rights_.clear();
    rights_[namespace_] = {*said, now};
    return *said;
  }

  [[nodiscard]] bool has_turn(Moment now) const {
    if (now - second_ >= std::chrono::seconds(1)) {
      second_ = now;
      asked_ = 0;
    }
    return asked_++ < limits_.namespaces_a_second;
  }

  const std::string user_;
  const std::shared_ptr<const Reviews> reviews_;
  const VisitorLimits limits_;
  const Now now_;
  mutable std::mutex mutex_;  ///< Guards all below.
  mutable std::unordered_map<std::string, Right> rights_;
  mutable std::optional<Moment> silent_;  ///< Since there was no answer.
  mutable Moment second_;
  mutable std::size_t asked_ = 0;  ///< In that second.
};

Visitors::Visitors(Reviews reviews, VisitorLimits limits, Now now)
    : reviews_(std::make_shared<const Reviews>(std::move(reviews))), limits_(limits), now_(std::move(now)), shares_(limits.shares) {}

Visitors::~Visitors() = default;

bool Visitors::shows_anything(const HttpRequest& request) { return !bearer_of(request).empty() || !session_of(request).empty(); }

Visitors::Entry Visitors::enter(const HttpRequest& request) {
  if (const auto token = bearer_of(request); !token.empty()) return enter_with(std::string(token), request, false);
  if (session_of(request).empty()) return {nullptr, not_known("authorization: found neither a bearer token nor a session")};
  const auto token = token_of_session(request);
  if (!token) return {nullptr, not_known("authorization: the session is over")};
  return enter_with(*token, request, true);
}

Visitors::Entry Visitors::enter_with(const std::string& token, const HttpRequest& request, bool in_session) {
  const auto nobody = [] { return Entry{nullptr, not_known("authorization: found a token that the cluster does not know (any more)")}; };
  const std::string key = hash_of(token);
  const Moment now = now_();
  std::shared_ptr<Visitor> before;
  {
    const std::lock_guard lock(mutex_);
    if (const auto it = known_.find(key); it != known_.end()) {
      const auto& [visitor, at] = it->second;
      if (now - at < (visitor ? limits_.good_for : limits_.bad_for)) return visitor ? Entry{visitor, {}} : nobody();
      before = visitor;
    }
  }
  const auto place = shares_.enter(request.peer, in_session || before || request.proven, now);
  if (!place) return {nullptr, api_error(429, "too many tokens are to be looked up", "Ask again in a moment.")};
  const auto who = reviews_->who(token);
  if (!who) return {nullptr, api_error(503, who.error().message, "Ask again when the API server of the cluster answers.")};
  const std::lock_guard lock(mutex_);
  make_room();
  auto& known = known_[key];
  known.at = now;
  if (!*who) {
    known.visitor = nullptr;
    return nobody();
  }
  // The rights that were asked for a moment ago hold for the same token.
  known.visitor = before ? before : std::make_shared<Visitor>(std::move(**who), reviews_, limits_, now_);
  return {known.visitor, {}};
}

/// The mutex is held.
void Visitors::make_room() {
  if (known_.size() < limits_.visitors_max) return;
  // Those who are nobody first, then whoever was looked up longest ago.
  const auto least = std::min_element(known_.begin(), known_.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second.visitor != nullptr, a.second.at) < std::pair(b.second.visitor != nullptr, b.second.at);
  });
  known_.erase(least);
}

// ---- sessions ---------------------------------------------------------------------------------------------------------------------

std::optional<std::string> Visitors::token_of_session(const HttpRequest& request) {
  const std::string key = hash_of(session_of(request));
  const Moment now = now_();
  const std::lock_guard lock(mutex_);
  const auto it = sessions_.find(key);
  if (it == sessions_.end()) return std::nullopt;
  if (now - it->second.begun >= limits_.session_for) {
    sessions_.erase(it);
    return std::nullopt;
  }
  it->second.used = now;
  return it->second.token;
}

HttpResponse Visitors::sign_in(const HttpRequest& request) {
  const auto body = Json::parse(request.body, nullptr, false);
  const auto token = body.is_object() ? body.find("token") : body.end();
  if (!body.is_object() || token == body.end() || !token->is_string() || token->get_ref<const std::string&>().empty())
    return api_error(400, "session: found no token in the body; allowed: {\"token\":\"...\"}");
  const auto& text = token->get_ref<const std::string&>();
  if (text.size() > token_bytes_max)
    return api_error(400, "token: found " + std::to_string(text.size()) + " bytes; allowed: " + std::to_string(token_bytes_max));
  auto entry = enter_with(text, request, false);
  if (!entry.audience) return std::move(entry.refusal);
  const std::string word = random_word();
  const Moment now = now_();
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(sessions_, [&](const auto& one) { return now - one.second.begun >= limits_.session_for; });
    if (sessions_.size() >= limits_.sessions_max)
      sessions_.erase(
          std::min_element(sessions_.begin(), sessions_.end(), [](const auto& a, const auto& b) { return a.second.used < b.second.used; }));
    sessions_[hash_of(word)] = {text, now, now};
  }
  auto out = nothing_said();
  out.headers.emplace_back(
      "Set-Cookie", std::string(cookie_name) + "=" + word + cookie_rules + "; Max-Age=" + std::to_string(limits_.session_for.count()));
  return out;
}

HttpResponse Visitors::sign_out(const HttpRequest& request) {
  {
    const std::lock_guard lock(mutex_);
    sessions_.erase(hash_of(session_of(request)));
  }
  auto out = nothing_said();
  out.headers.emplace_back("Set-Cookie", std::string(cookie_name) + "=" + cookie_rules + "; Max-Age=0");
  out.headers.emplace_back("Clear-Site-Data", "\"cache\"");
  return out;
}

}  // namespace hindsight::page
