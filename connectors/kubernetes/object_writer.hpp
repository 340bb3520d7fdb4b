#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "connectors/cluster.hpp"
#include "connectors/kubernetes/backoff.hpp"
#include "connectors/kubernetes/http/http_client.hpp"

namespace hindsight::connectors::kubernetes {

struct WriterStatistics {
  std::uint64_t submitted = 0;
  std::uint64_t answered = 0;   ///< Handed to the caller, whatever the status.
  std::uint64_t conflicts = 0;  ///< Of those: 409.
  std::uint64_t refused = 0;    ///< Of those: other 4xx and 5xx.
  std::uint64_t retries = 0;
};

/// How a write looks on the wire. For a deletion, `write.body` may be empty, DeleteOptions, or an object whose
/// metadata.uid and metadata.resourceVersion become the preconditions; the default is background propagation.
[[nodiscard]] HttpRequest request_for(const Write& write);

/// Carries writes out: many at the same time, those of one object in the order of submission and never two at once. What is retried:
/// - until answered or stopped: no answer (connection), 429 and 503 (not before Retry-After), a 403 of a server that says it is not ready;
/// - a few times: 500, 502 and 504;
/// - while the server settles after it was away, though no longer than that takes: 401, 403, 500, and 404 for the kind.
/// All else goes to the caller: success, 409, refusals, and 401 after the credentials were renewed once. A retried create may find that
/// its first attempt succeeded (409 AlreadyExists). Writes are for a leader only (see HttpClient::set_fence): where the fence is closed
/// they are answered with http_status 0. Lives on the loop's thread.
class ObjectWriter {
 public:
  using Done = std::function<void(WriteAnswer)>;

  ObjectWriter(HttpClient& http, Backoff backoff, Random random) : http_(http), backoff_(backoff), random_(std::move(random)) {}

  void submit(Write write, Done done);
  /// Answers everything that waits with http_status 0; what is on the wire is broken off.
  void give_up();
  /// The same, and takes no more.
  void stop();
  [[nodiscard]] const WriterStatistics& statistics() const { return statistics_; }
  /// Writes that wait for another try and keep nobody else from his. All whose own kind or object fails (500, 502, 504, no answer in
  /// time: a webhook, say). Where the server serves nobody, more writes would only fail as well: of those that wait for it, a few, so that
  /// one of them soon sees it come back. From any thread.
  [[nodiscard]] std::size_t backing_off() const {
    return failing_.load(std::memory_order_relaxed) + std::min(awaiting_server_max, awaiting_server_.load(std::memory_order_relaxed));
  }
  static constexpr std::size_t awaiting_server_max = 16;
  /// Objects with a write that is not answered.
  [[nodiscard]] std::size_t busy_objects() const { return queues_.size(); }

 private:
  struct Pending {
    HttpRequest request;
    Done done;
    unsigned failures = 0;
    unsigned server_errors = 0;
    std::optional<Loop::Clock::time_point> first_doubt;  ///< When it was first refused by a server that was still settling.
    HttpClient::RequestId sent = 0;
    Loop::TimerId timer = 0;
  };
  /// Writes to one object; the first is under way.
  using Queue = std::deque<Pending>;

  void send(const std::string& key, Pending& pending);
  void take_answer(const std::string& key, HttpAnswer answer);
  [[nodiscard]] bool comes_too_early(Pending& pending, const HttpAnswer& answer) const;
  void retry(const std::string& key, Pending& pending, std::chrono::milliseconds delay, std::atomic<std::size_t>& waiting);

  HttpClient& http_;
  Backoff backoff_;
  Random random_;
  std::unordered_map<std::string, Queue> queues_;               ///< By kind, namespace and name.
  std::atomic<std::size_t> failing_ = 0, awaiting_server_ = 0;  ///< Of those that wait for another try.
  bool stopped_ = false;
  std::uint64_t generation_ = 0;  ///< Of queues_: rises when all is given up.
  WriterStatistics statistics_;
};

}  // namespace hindsight::connectors::kubernetes
