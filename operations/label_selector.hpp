#pragma once

#include "connectors/manifests/schema.hpp"
#include "operations/configuration.hpp"

namespace hindsight::operations {

/// A metav1.LabelSelector as a list of requirements; matchLabels become `in` with one value. It must fit its schema.
[[nodiscard]] LabelRequirements read_label_selector(const connectors::manifests::Json& selector);

/// Appends what is wrong with the keys and values of a selector that fits its schema.
void judge_label_selector(const connectors::manifests::Json& selector, const std::string& path,
                          std::vector<connectors::manifests::Problem>& problems);

/// Whether it takes the namespace of that name, as far as the name decides it.
[[nodiscard]] bool selects_namespace(const LabelRequirements& selector, const std::string& name);

}  // namespace hindsight::operations
