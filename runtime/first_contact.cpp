#include "runtime/first_contact.hpp"

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

#include "connectors/objects/resource_types.hpp"

namespace hindsight::runtime {
namespace {

using connectors::kubernetes::HttpAnswer;

/// Outlives the call, because its answer may.
struct Waiting {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::optional<HttpAnswer> answer;
};

constexpr auto pause = std::chrono::milliseconds(500);

}  // namespace

Result<void> first_contact(connectors::kubernetes::KubernetesCluster& cluster, std::chrono::seconds limit, const std::stop_token& stop) {
  const auto begin = std::chrono::steady_clock::now();
  const std::string server = cluster.connection().server;
  for (;;) {
    auto waiting = std::make_shared<Waiting>();
    cluster.get(connectors::types::namespace_, "", "kube-system", [waiting](HttpAnswer answer) {
      const std::lock_guard lock(waiting->mutex);
      waiting->answer = std::move(answer);
      waiting->changed.notify_all();
    });
    std::unique_lock lock(waiting->mutex);
    if (!waiting->changed.wait(lock, stop, [&] { return waiting->answer.has_value(); })) return {};
    const HttpAnswer& answer = *waiting->answer;
    if (answer.status == 401) {
      return fail(ErrorKind::denied, "the API server " + server +
                                         " refuses the credentials: found status 401 Unauthorized; allowed: a token, " +
                                         "client certificate or exec plugin that it knows");
    }
    // An overloaded or starting server (429, 5xx) is waited for as one that does not answer.
    if (answer.status != 0 && answer.status != 429 && answer.status < 500) return {};
    if (limit.count() > 0 && std::chrono::steady_clock::now() - begin >= limit) {
      return fail(ErrorKind::unavailable, "cannot reach the API server " + server + " for " + std::to_string(limit.count()) + " s: " +
                                              (answer.status == 0 ? answer.error : "found status " + std::to_string(answer.status)));
    }
    const auto wait = std::max<std::chrono::milliseconds>(pause, std::chrono::seconds(answer.retry_after_seconds));
    if (waiting->changed.wait_for(lock, stop, wait, [] { return false; }) || stop.stop_requested()) return {};
  }
}

}  // namespace hindsight::runtime
