#include "connectors/kubernetes/object_writer.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "connectors/json/json_value.hpp"
#include "connectors/kubernetes/api_path.hpp"
#include "connectors/kubernetes/mirror/object_reader.hpp"

namespace hindsight::connectors::kubernetes {
namespace {

/// Attempts at a write that the server fails at (500, 502, 504) before the caller hears of it.
constexpr unsigned server_errors_max = 4;

/// Of one object, whatever the subresource: status and spec share a resourceVersion.
std::string key_of(const Write& write) {
  std::string key;
  key.reserve(write.type->plural.size() + write.type->group.size() + write.namespace_.size() + write.name.size() + 3);
  key += write.type->plural;
  key += '.';
  key += write.type->group;
  key += '/';
  key += write.namespace_;
  key += '/';
  key += write.name;
  return key;
}

/// Whether a 404 is about the kind, not about the object: then its Status names no object.
bool says_no_such_resource(const HttpAnswer& answer) { return answer.status == 404 && read_status(answer.body).object_name.empty(); }

/// What the admission plugins of a kube-apiserver say, with status 403, until they have read what they need. A webhook that says the same
/// of an object means it.
bool says_not_ready(const HttpAnswer& answer) {
  return answer.status == 403 && answer.body.find("not yet ready to handle request") != std::string::npos &&
         answer.body.find("denied the request") == std::string::npos;
}

std::string delete_options(const std::string& body) {
  nlohmann::json options = nlohmann::json::parse(body, nullptr, false);
  if (!options.is_object()) options = nlohmann::json::object();
  if (const auto metadata = options.find("metadata"); metadata != options.end()) {
    nlohmann::json preconditions = nlohmann::json::object();
    for (const char* field : {"uid", "resourceVersion"}) {
      if (metadata->contains(field)) preconditions[field] = (*metadata)[field];
    }
    options.erase("metadata");
    if (!preconditions.empty()) options["preconditions"] = std::move(preconditions);
  }
  options["apiVersion"] = "v1";
  options["kind"] = "DeleteOptions";
  if (!options.contains("propagationPolicy")) options["propagationPolicy"] = "Background";
  return to_text(options);
}

}  // namespace

HttpRequest request_for(const Write& write) {
  using Verb = Write::Verb;
  HttpRequest out;
  out.only_as_leader = true;
  const bool has_name_in_path = write.verb != Verb::create || !write.subresource.empty();
  out.path = has_name_in_path ? object_path(*write.type, write.namespace_, write.name, write.subresource)
                              : collection_path(*write.type, write.namespace_);
  if (write.verb == Verb::delete_) {
    out.method = HttpRequest::Method::delete_;
    out.content = HttpRequest::Content::json;
    out.body = std::make_shared<const std::string>(delete_options(write.body));
    return out;
  }
  out.method = write.verb == Verb::create ? HttpRequest::Method::post : HttpRequest::Method::patch;
  out.content = write.verb == Verb::create        ? HttpRequest::Content::json
                : write.verb == Verb::merge_patch ? HttpRequest::Content::merge_patch
                                                  : HttpRequest::Content::apply_patch;
  out.path += "?fieldManager=";
  out.path += escape(write.field_manager);
  if (write.verb == Verb::apply_patch) out.path += "&force=true";
  return out;
}

void ObjectWriter::submit(Write write, Done done) {
  if (stopped_) {
    done({});
    return;
  }
  ++statistics_.submitted;
  Pending pending;
  pending.request = request_for(write);
  std::string key = key_of(write);
  if (!pending.request.body) pending.request.body = std::make_shared<const std::string>(std::move(write.body));
  pending.done = std::move(done);
  const auto [at, is_first] = queues_.try_emplace(std::move(key));
  at->second.push_back(std::move(pending));
  if (is_first) send(at->first, at->second.front());
}

void ObjectWriter::send(const std::string& key, Pending& pending) {
  pending.sent = http_.send(pending.request, [this, &key](HttpAnswer answer) { take_answer(key, std::move(answer)); });
}

void ObjectWriter::take_answer(const std::string& key, HttpAnswer answer) {
  Queue& queue = queues_.at(key);
  Pending& first = queue.front();
  const bool is_server_error = answer.status == 500 || answer.status == 502 || answer.status == 504;
  if (is_server_error) ++first.server_errors;
  const bool no_answer = answer.status == 0 && answer.failure != HttpAnswer::Failure::not_leading;
  const bool is_early = comes_too_early(first, answer);
  if (no_answer || answer.status == 429 || answer.status == 503 || says_not_ready(answer) || is_early ||
      (is_server_error && first.server_errors < server_errors_max)) {
    const auto delay = wait_before_retry(backoff_, ++first.failures, answer.retry_after_seconds, random_);
    // What backs off for longer than the server settles would be the last to hear the truth.
    const bool is_its_own = is_server_error || answer.failure == HttpAnswer::Failure::timeout;
    retry(key, first, is_early ? std::min(delay, http_.settle_time() / 8) : delay, is_its_own ? failing_ : awaiting_server_);
    return;
  }
  ++statistics_.answered;
  if (answer.status == 409) {
    ++statistics_.conflicts;
  } else if (answer.status >= 400) {
    ++statistics_.refused;
  }
  // The caller hears first and the next write goes after: so what it learns of this answer comes before what it sends.
  const Done done = std::move(first.done);
  const auto generation = generation_;
  done({answer.status, std::move(answer.body), answer.retry_after_seconds});
  if (generation_ != generation) return;  // The caller made us give up.
  queue.pop_front();
  if (queue.empty()) {
    queues_.erase(queues_.find(key));  // `key` lies in there.
  } else {
    send(key, queue.front());
  }
}

/// A server that comes and goes settles again and again: so each write waits for it no longer than once.
bool ObjectWriter::comes_too_early(Pending& pending, const HttpAnswer& answer) const {
  const bool is_doubtful = answer.status == 401 || answer.status == 403 || answer.status == 500 || says_no_such_resource(answer);
  if (!is_doubtful || !http_.is_settling()) return false;
  const auto now = Loop::Clock::now();
  if (!pending.first_doubt) pending.first_doubt = now;
  return now - *pending.first_doubt < http_.settle_time();
}

void ObjectWriter::retry(const std::string& key, Pending& pending, std::chrono::milliseconds delay, std::atomic<std::size_t>& waiting) {
  ++statistics_.retries;
  ++waiting;
  pending.timer = http_.loop().after(delay, [this, &key, &waiting] {
    --waiting;
    send(key, queues_.at(key).front());
  });
}

void ObjectWriter::give_up() {
  ++generation_;
  failing_ = awaiting_server_ = 0;
  std::vector<Done> waiting;
  for (auto& [key, queue] : std::exchange(queues_, {})) {
    for (Pending& pending : queue) {
      http_.cancel(pending.sent);
      http_.loop().cancel(pending.timer);
      if (pending.done) waiting.push_back(std::move(pending.done));
    }
  }
  for (const Done& done : waiting) done({});
}

void ObjectWriter::stop() {
  stopped_ = true;
  give_up();
}

}  // namespace hindsight::connectors::kubernetes
