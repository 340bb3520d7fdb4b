#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "connectors/manifests/kinds.hpp"
#include "connectors/webhooks/surroundings.hpp"

namespace hindsight::connectors::webhooks {

// The bodies that an API server posts to webhooks, and the answers. Bytes of any kind are answered: what is no review at all with status
// 400 and what was found and what is allowed.

struct Answer {
  int http_status = 200;
  std::string body;  ///< JSON.
};

/// AdmissionReview of admission.k8s.io/v1 to the same with a JSON patch: the defaults of a new object (rules/webhook_rules.hpp), and for
/// Kueue's kinds the names of v1beta2 for fields that were stored under those of v1beta1.
[[nodiscard]] Answer answer_mutation(std::string_view body, const Surroundings& around);

/// AdmissionReview to the same with a verdict. A refusal has code 403 and the field errors as the API server writes them; several are
/// "[e1, e2]". Deletions, and objects that are being deleted, always pass: a wrong object must be able to go.
[[nodiscard]] Answer answer_validation(std::string_view body, const Surroundings& around);

/// ConversionReview of apiextensions.k8s.io/v1 to the same with the objects in the version that is wanted, in their order.
[[nodiscard]] Answer answer_conversion(std::string_view body);

/// Memory that it takes at most to answer a body of which this is a piece, in bytes beyond the body; the sum over its pieces counts. The
/// first is for AdmissionReviews, the other for ConversionReviews, which take that of one of their objects as well
/// (manifests::JsonList::values_max, 48 MiB).
[[nodiscard]] std::size_t memory_to_review(std::string_view piece);
[[nodiscard]] std::size_t memory_to_convert(std::string_view piece);

/// A kind that webhooks are asked about, and where.
struct ReviewedKind {
  const manifests::Kind* kind = nullptr;
  std::string mutating_path;    ///< "/mutate-batch-v1-job"; every kind has one.
  std::string validating_path;  ///< "/validate-kueue-x-k8s-io-v1beta2-workload"; empty: the definition says it all.
};

/// All of them, in the order of manifests::kinds().
[[nodiscard]] const std::vector<ReviewedKind>& reviewed_kinds();

/// Where conversions are asked for.
inline constexpr std::string_view conversion_path = "/convert";

}  // namespace hindsight::connectors::webhooks
