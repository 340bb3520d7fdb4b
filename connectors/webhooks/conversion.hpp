#pragma once

#include <string_view>

#include "connectors/manifests/schema.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::connectors::webhooks {

// The versions of kueue.x-k8s.io into each other (base-api §4, BA-1). What only one of them can say travels with the object as an
// annotation in the other, so that an object that is read, changed and written in another version than its own loses nothing. An annotation
// that no longer fits its object is left out of account. Metadata but for annotations is never touched, as the API server demands.

/// On objects of v1beta1: the fields that only v1beta2 has, as JSON.
inline constexpr std::string_view v1beta2_annotation = "conversion.kueue.x-k8s.io/v1beta2";
/// On objects of v1beta2: the spelling that v1beta1 had, as JSON.
inline constexpr std::string_view v1beta1_annotation = "conversion.kueue.x-k8s.io/v1beta1";

/// Rewrites an object of one version in the words of `wanted` ("kueue.x-k8s.io/v1beta1" or "…/v1beta2"); of its own version it stays as it
/// is. Errors: invalid, naming object and field: another group, an unknown version, a topology assignment that cannot be written out.
[[nodiscard]] Result<void> convert(manifests::Json& object, std::string_view wanted);

/// Rewrites fields of v1beta1 that stand in an object of v1beta2, as they do when it was stored before anybody converted. What is said in
/// both ways is taken from the newer one.
void use_newer_fields(manifests::Json& object);

}  // namespace hindsight::connectors::webhooks
