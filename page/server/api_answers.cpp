#include "page/server/api_answers.hpp"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include <zstd.h>

#include "vocabulary/state_hash.hpp"

namespace hindsight::page {
namespace {

using operations::HttpRequest;
using operations::HttpResponse;

/// Shorter ones fit into a packet or two.
constexpr std::size_t compressed_from = 4096;
constexpr int compression_level = 1;
/// Whoever sees all would see the same in an hour. Rights of the others may be taken away.
constexpr const char* for_an_hour = "private, max-age=3600, immutable";
constexpr const char* for_a_minute = "private, max-age=60";
constexpr const char* asked_each_time = "private, no-cache";

struct Said {
  int status;
  const char* remedy;
};

Said said_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid:
      return {400, ""};
    case ErrorKind::not_found:
      return {404, ""};
    case ErrorKind::conflict:
      return {409, "Look at what is there now, and ask again."};
    case ErrorKind::corrupt:
      return {500, "'hindsight log check' names what is damaged; moments before it can be looked at."};
    case ErrorKind::unsupported:
      return {501, "A later release of hindsight reads it."};
    case ErrorKind::unavailable:
      return {503, "Ask again in a moment."};
    case ErrorKind::denied:
      return {403, ""};
    case ErrorKind::io:
      return {500, "The log of the process that serves this page says more."};
  }
  return {500, ""};
}

/// As Accept-Encoding says; "zstd;q=0" refuses it.
bool takes(std::string_view accepted, std::string_view coding) {
  while (!accepted.empty()) {
    const auto comma = accepted.find(',');
    std::string_view one = accepted.substr(0, comma);
    accepted.remove_prefix(comma == std::string_view::npos ? accepted.size() : comma + 1);
    while (one.starts_with(' ')) one.remove_prefix(1);
    if (!one.starts_with(coding)) continue;
    one.remove_prefix(coding.size());
    if (one.empty() || one.front() == ' ' || one.front() == ';')
      return one.find("q=0") == std::string_view::npos || one.find("q=0.") != std::string_view::npos;
  }
  return false;
}

/// Null: it did not become shorter.
std::shared_ptr<const std::string> compressed(const std::string& body) {
  auto out = std::make_shared<std::string>(ZSTD_compressBound(body.size()), '\0');
  const std::size_t size = ZSTD_compress(out->data(), out->size(), body.data(), body.size(), compression_level);
  if (ZSTD_isError(size) != 0 || size >= body.size()) return nullptr;
  out->resize(size);
  return out;
}

}  // namespace

HttpResponse api_error(int status, std::string_view message, std::string_view remedy) {
  Json error{{"status", status}, {"message", message}};
  if (!remedy.empty()) error["remedy"] = remedy;
  HttpResponse out{.status = status, .body = Json{{"error", std::move(error)}}.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"};
  if (status == 503 || status == 429) out.headers.emplace_back("Retry-After", "1");
  return out;
}

HttpResponse api_error(const Error& error) {
  const auto said = said_of(error.kind);
  return api_error(said.status, error.message, said.remedy);
}

Result<ApiAnswer> write_answer(const Json& json, std::size_t bytes_max) {
  auto body = std::make_shared<std::string>(json.dump(-1, ' ', false, Json::error_handler_t::replace));
  if (body->size() > bytes_max)
    return fail(ErrorKind::invalid, "the answer has " + std::to_string(body->size()) + " bytes; allowed: " + std::to_string(bytes_max) +
                                        "; ask for less at a time, with limit and filters");
  StateHash hash;
  hash.add(std::string_view(*body));
  std::array<char, 24> name{};
  std::snprintf(name.data(), name.size(), "W/\"%016llx\"", static_cast<unsigned long long>(hash.value()));
  return ApiAnswer{std::move(body), name.data()};
}

HttpResponse respond(const HttpRequest& request, const ApiAnswer& answer, Freshness freshness, bool sees_all) {
  HttpResponse out;
  out.headers = {{"ETag", answer.etag},
                 {"Cache-Control", freshness == Freshness::changes ? asked_each_time
                                   : sees_all                      ? for_an_hour
                                                                   : for_a_minute},
                 {"Vary", "Accept-Encoding, Authorization, Cookie"}};
  if (request.header("if-none-match") == answer.etag) {
    out.status = 304;
    return out;
  }
  out.shared_body = answer.body;
  if (answer.body->size() < compressed_from || !takes(request.header("accept-encoding"), "zstd")) return out;
  if (auto shorter = compressed(*answer.body)) {
    out.shared_body = std::move(shorter);
    out.headers.emplace_back("Content-Encoding", "zstd");
  }
  return out;
}

std::optional<ApiAnswer> AnswerMemory::find(const std::string& question) {
  const std::lock_guard lock(mutex_);
  const auto it = by_question_.find(question);
  if (it == by_question_.end()) return std::nullopt;
  kept_.splice(kept_.begin(), kept_, it->second);
  return it->second->second;
}

void AnswerMemory::keep(const std::string& question, const ApiAnswer& answer) {
  const std::size_t size = answer.body->size() + question.size();
  if (size > bytes_max_ / 4) return;  // a few large ones would leave no room for others
  const std::lock_guard lock(mutex_);
  if (by_question_.contains(question)) return;
  kept_.emplace_front(question, answer);
  by_question_.emplace(question, kept_.begin());
  bytes_ += size;
  while (bytes_ > bytes_max_) {
    const auto& oldest = kept_.back();
    bytes_ -= oldest.second.body->size() + oldest.first.size();
    by_question_.erase(oldest.first);
    kept_.pop_back();
  }
}

}  // namespace hindsight::page
