#pragma once

#include <string>
#include <vector>

#include "cli/migrate/world.hpp"
#include "cli/remote/api_client.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::cli::migrate {

/// Objects of one kind that are looked at; of more the rest is counted among what was not seen.
inline constexpr std::size_t objects_of_a_kind_max = 500'000;

/// Adds what files hold: YAML or JSON as `kubectl get -o yaml` prints it, lists among them, or {"objects": [...]}; of a directory its
/// *.yaml, *.yml and *.json in the order of their names. Kinds that nobody looks at do no harm. Errors: invalid or io, with the file.
[[nodiscard]] Result<void> add_files(const std::vector<std::string>& paths, World& world);

/// Adds what the cluster has of all kinds that are looked at. A kind that is not served is absent; what may not be read goes to
/// World::not_seen. `kueue_namespace`: where Kueue's own objects are. Errors: unavailable, or denied for all.
[[nodiscard]] Result<void> add_cluster(ApiClient& client, const std::string& kueue_namespace, World& world);

/// Takes the file as Kueue's configuration: a Configuration, or a ConfigMap that holds one. Errors: not_found, io, invalid.
[[nodiscard]] Result<void> add_configuration_file(const std::string& path, World& world);

}  // namespace hindsight::cli::migrate
