#pragma once

#include "connectors/manifests/schema.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::connectors::webhooks {

/// Most domains that are written out: as many as one slice of an assignment can list.
inline constexpr std::int64_t most_domains = 100'000;

/// The domains of v1beta1, `[{values, count}]`, of the compressed slices of v1beta2 (2724 §2.4). Errors: invalid, for slices whose lists do
/// not have the length of their domainCount, or more than most_domains.
[[nodiscard]] Result<manifests::Json> domains_of_slices(const manifests::Json& slices);

}  // namespace hindsight::connectors::webhooks
