#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "connectors/kubernetes/auth/connection.hpp"
#include "connectors/manifests/schema.hpp"
#include "vocabulary/result.hpp"
#include "vocabulary/time.hpp"

namespace hindsight::doctor {

using connectors::manifests::Json;

/// What the server's clock said, and what ours said when we heard it.
struct ClockSample {
  Time server, ours;
};

/// Asks one API server, within a time for each check and with answers of a bounded size. It reads; the only thing that it sends are
/// reviews, which the server answers and does not keep. Errors: not_found, denied, unavailable (no answer in time), io (an answer that
/// cannot be used), each with what the server says.
class ClusterReader {
 public:
  using Clock = std::chrono::steady_clock;

  virtual ~ClusterReader() = default;
  /// Until when all that is asked from now on has to be answered.
  virtual void set_deadline(Clock::time_point deadline) = 0;
  [[nodiscard]] virtual Result<Json> get(const std::string& path) = 0;
  /// Posts all of them at once; an answer for each, in their order.
  [[nodiscard]] virtual std::vector<Result<Json>> review(const std::string& path, const std::vector<Json>& reviews) = 0;
  /// As of the answer that came last; nothing: none came with a date.
  [[nodiscard]] virtual std::optional<ClockSample> clock() const = 0;
  /// Its address.
  [[nodiscard]] virtual std::string server() const = 0;
};

/// A collection as far as it was read.
struct Listed {
  std::vector<Json> items;
  bool complete = true;  ///< Otherwise there are more than were asked for.
};

/// Reads a collection page by page, at most so many objects. `query`: "labelSelector=a%3Db", or nothing.
[[nodiscard]] Result<Listed> list(ClusterReader& cluster, const std::string& path, const std::string& query, std::size_t objects_max);

/// The object, or nothing where there is none. Errors: all others of `ClusterReader::get`.
[[nodiscard]] Result<std::optional<Json>> find(ClusterReader& cluster, const std::string& path);

/// A real server.
[[nodiscard]] Result<std::unique_ptr<ClusterReader>> connect(const connectors::kubernetes::Connection& connection);

/// What one GET of an address without credentials gives, as of a probe of a process.
struct PlainAnswer {
  int status = 0;
  std::string body;
};
/// `url`: "http://HOST:PORT", without a path. Certificates are not verified, for nothing is sent that is worth it. Errors: invalid (an
/// address that is none), unavailable.
[[nodiscard]] Result<PlainAnswer> plain_get(const std::string& url, const std::string& path, std::chrono::milliseconds time_limit);

}  // namespace hindsight::doctor
