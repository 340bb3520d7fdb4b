#include "connectors/kubernetes/leader_elector.hpp"

#include <utility>

#include "connectors/kubernetes/api_path.hpp"

namespace hindsight::connectors::kubernetes {
namespace {

/// Part of the retry period after which we look at the clock again, to stand down in time when answers stay away.
constexpr std::int64_t looks_per_period = 8;

Duration monotonic_now() { return {std::chrono::duration_cast<std::chrono::microseconds>(Loop::Clock::now().time_since_epoch()).count()}; }

Time wall_now() {
  return {std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()).count()};
}

std::chrono::milliseconds milliseconds(Duration duration) { return std::chrono::milliseconds(duration.micros / 1000); }

}  // namespace

LeaderElector::LeaderElector(HttpClient& http, LeaseSettings settings, std::function<void(bool)> on_change)
    : http_(http), election_(std::move(settings)), on_change_(std::move(on_change)) {}

void LeaderElector::tick() {
  timer_ = 0;
  if (resigned_) return;
  if (const auto request = election_.next(monotonic_now(), wall_now())) {
    send(*request, [this](const HttpAnswer& answer) {
      election_.answer(monotonic_now(), answer.status, answer.body);
      tell();
      http_.loop().cancel(timer_);
      tick();
    });
  }
  tell();
  if (resigned_) return;  // By on_change.
  const auto look = milliseconds(Duration{election_.settings().retry_period.micros / looks_per_period});
  const auto until_due = milliseconds(Duration{election_.due().micros - monotonic_now().micros});
  // While an answer is awaited the due time lies in the past.
  const auto delay = until_due.count() > 0 ? std::min(until_due, look) : look;
  timer_ = http_.loop().after(std::max(delay, std::chrono::milliseconds(1)), [this] { tick(); });
}

void LeaderElector::send(const LeaseElection::Request& request, HttpClient::OnAnswer on_answer) {
  const LeaseSettings& settings = election_.settings();
  HttpRequest out;
  out.lane = HttpRequest::Lane::urgent;
  out.time_limit = milliseconds(Duration{settings.renew_deadline.micros / 2});
  out.path = object_path(lease_type, settings.namespace_, settings.name);
  switch (request.verb) {
    case LeaseElection::Request::Verb::get:
      break;
    case LeaseElection::Request::Verb::create:
      out.method = HttpRequest::Method::post;
      out.content = HttpRequest::Content::json;
      out.path = collection_path(lease_type, settings.namespace_);
      break;
    case LeaseElection::Request::Verb::merge_patch:
      out.method = HttpRequest::Method::patch;
      out.content = HttpRequest::Content::merge_patch;
      break;
  }
  if (!request.body.empty()) out.body = std::make_shared<const std::string>(request.body);
  request_ = http_.send(std::move(out), std::move(on_answer));
}

void LeaderElector::tell() {
  const bool now = !resigned_ && election_.leads(monotonic_now());
  if (std::exchange(leads_, now) != now) on_change_(now);
}

void LeaderElector::resign(std::function<void()> done) {
  stop();
  release(2, done);
}

void LeaderElector::stop() {
  resigned_ = true;
  http_.cancel(request_);
  http_.loop().cancel(timer_);
  tell();
}

void LeaderElector::release(int tries_left, const std::function<void()>& done) {
  const auto request = election_.release(wall_now());
  if (!request || tries_left == 0) {
    done();
    return;
  }
  send(*request, [this, tries_left, done](const HttpAnswer& answer) {
    if (answer.status != 409) {
      done();
      return;
    }
    // A renewal was on its way when we stopped; what it wrote is still ours to release.
    send({LeaseElection::Request::Verb::get, {}}, [this, tries_left, done](const HttpAnswer& lease) {
      if (lease.status != 200) {
        done();
        return;
      }
      election_.answer(monotonic_now(), lease.status, lease.body);
      release(tries_left - 1, done);
    });
  });
}

}  // namespace hindsight::connectors::kubernetes
