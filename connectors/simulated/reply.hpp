#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "connectors/manifests/kinds.hpp"

namespace hindsight::connectors::simulated {

using manifests::Json;
using manifests::Kind;
using manifests::Problem;
using manifests::ProblemKind;

/// The JSON text of one state of an object; shared by the answer and every watch event.
using SharedText = std::shared_ptr<const std::string>;

/// What the simulated API server says to a request.
struct Reply {
  int http_status = 200;
  SharedText object;  ///< The object after an accepted request.
  std::string kind;   ///< Of a refusal: whom it is about.
  std::string group;
  std::string name;
  std::string reason;  ///< "Conflict", "Invalid", ...
  std::string message;
  std::vector<Problem> causes;

  [[nodiscard]] bool accepted() const { return http_status < 300; }
  /// The object, or a metav1.Status.
  [[nodiscard]] std::string body() const;
};

/// 400: the request itself makes no sense.
[[nodiscard]] Reply bad_request(const Kind& kind, std::string_view name, std::string message);
[[nodiscard]] Reply not_found(const Kind& kind, std::string_view name);
[[nodiscard]] Reply already_exists(const Kind& kind, std::string_view name);
/// 409: somebody else was first.
[[nodiscard]] Reply conflict(const Kind& kind, std::string_view name, std::string_view why);
/// 422, or 400 where a built-in kind cannot even be decoded.
[[nodiscard]] Reply invalid(const Kind& kind, std::string_view name, std::vector<Problem> causes);
[[nodiscard]] Reply refusal(int http_status, std::string reason, std::string message);

}  // namespace hindsight::connectors::simulated
