#pragma once

#include <functional>

#include "admission/domain/state_view.hpp"
#include "operations/http.hpp"

namespace hindsight::runtime {

/// Calls back with each state that is to be shown, one after another: of every domain of the cluster. False: one is not there yet.
using StateReader = std::function<bool(const std::function<void(const admission::StateView&)>&)>;

inline constexpr std::string_view visibility_group = "visibility.kueue.x-k8s.io";

/// The aggregated API `visibility.kueue.x-k8s.io`, v1beta2 and v1beta1 (base-api §9), with the documents of discovery that an API server
/// and kubectl ask for. Answers GET only; what cannot be answered is a Status object. Who may ask is judged before.
[[nodiscard]] operations::HttpResponse answer_visibility(const operations::HttpRequest& request, const StateReader& state);

/// A Status object with the HTTP code; `reason`: "NotFound", "Forbidden". `details`: kind and name of what it is about, or empty.
struct StatusDetails {
  std::string kind, name;
};
[[nodiscard]] operations::HttpResponse status_response(int code, const std::string& reason, const std::string& message,
                                                       const StatusDetails& details = {});

}  // namespace hindsight::runtime
