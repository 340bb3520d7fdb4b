#include "routing/node_audiences.hpp"

#include <utility>

namespace hindsight::routing {

bool NodeAudiences::add(std::string_view node, Symbol domain) {
  const auto it = domains_.find(node);
  return (it == domains_.end() ? domains_.try_emplace(std::string(node)).first : it)->second.insert(std::move(domain)).second;
}

const NodeAudiences::Domains& NodeAudiences::of(std::string_view node) const {
  static const Domains nobody;
  const auto it = domains_.find(node);
  return it == domains_.end() ? nobody : it->second;
}

NodeAudiences::Domains NodeAudiences::forget(std::string_view node) {
  const auto it = domains_.find(node);
  return it == domains_.end() ? Domains() : std::move(domains_.extract(it).mapped());
}

}  // namespace hindsight::routing
