#pragma once

#include <string>
#include <string_view>

#include "admission/model/pod_state.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::connectors {

/// A pod as far as it takes something of a node.
struct PodUse {
  std::string uid;
  std::string node;  ///< Empty: it does not count here. It is not bound, has come to its end (TAS-25), or is told by itself (TAS-29).
  admission::PodAmounts request;  ///< One of resource "pods" included.
};

/// Whether the text of a Pod has the label by which a start stamps the pods of a pod set. Quick; it may be wrong about a text that has the
/// name of the label somewhere else.
[[nodiscard]] bool seems_to_have_pod_set(std::string_view text);

/// Reads the text of a Pod. Errors: as observe_text.
[[nodiscard]] Result<PodUse> read_pod_use(std::string_view text);

}  // namespace hindsight::connectors
