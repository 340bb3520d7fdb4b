#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "vocabulary/symbol.hpp"

namespace hindsight::routing {

/// Which domains are told of a node: that of the tree whose flavors select it, and whoever was told of it before, because pods may still
/// run there that its jobs have placed. A node that nobody selects is told to one domain, so that it can be looked at.
class NodeAudiences {
 public:
  using Domains = std::set<Symbol, ByText>;

  /// True: it has not been told before.
  bool add(std::string_view node, Symbol domain);
  /// Empty: nobody.
  [[nodiscard]] const Domains& of(std::string_view node) const;
  /// It has gone; returns who knows it.
  Domains forget(std::string_view node);
  void clear() { domains_.clear(); }

 private:
  std::map<std::string, Domains, std::less<>> domains_;
};

}  // namespace hindsight::routing
