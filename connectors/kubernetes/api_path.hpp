#pragma once

#include <string>
#include <string_view>

#include "connectors/cluster.hpp"

namespace hindsight::connectors::kubernetes {

/// "v1", "batch/v1": the apiVersion of objects of this type.
[[nodiscard]] std::string group_version(const ResourceType& type);
/// "/api/v1/namespaces/default/configmaps"; an empty namespace gives the collection of all namespaces.
[[nodiscard]] std::string collection_path(const ResourceType& type, std::string_view namespace_);
/// The path of one object or of one of its subresources.
[[nodiscard]] std::string object_path(const ResourceType& type, std::string_view namespace_, std::string_view name,
                                      std::string_view subresource = {});
/// Percent-encoding of everything but unreserved characters.
[[nodiscard]] std::string escape(std::string_view text);

}  // namespace hindsight::connectors::kubernetes
