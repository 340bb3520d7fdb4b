#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "page/server/api_route.hpp"

namespace hindsight::page {

/// Of a route, whether it is a view or not, what is said of it and how it is found.
struct ApiEntry {
  std::string method, path, summary;
  std::vector<std::string> parameters;  ///< All of them.
  bool only_for_all = false;
  const ViewRoute* view = nullptr;  ///< One of the two.
  const ApiRoute* route = nullptr;
  std::vector<std::string> segments;  ///< "{name}" stands for any.
};

/// All routes below /api/v1. What is in it must outlive it.
class ApiTable {
 public:
  /// Two of the same method whose paths differ in nothing but the names of their braces are a bug.
  ApiTable(const std::vector<ViewRoute>& views, const std::vector<ApiRoute>& routes);

  struct Match {
    const ApiEntry* entry = nullptr;  ///< Null: no such path, or not with this method.
    std::map<std::string, std::string> path;
    std::vector<std::string> allowed;  ///< Methods of the path; empty: there is no such path.
  };
  /// `rest`: the path below /api/v1/, decoded. Of several that fit the one with most fixed segments is taken.
  [[nodiscard]] Match find(std::string_view method, std::string_view rest) const;
  /// In the order of their paths.
  [[nodiscard]] const std::vector<ApiEntry>& entries() const { return entries_; }

 private:
  std::vector<ApiEntry> entries_;
};

/// Names of the query that every view takes.
[[nodiscard]] const std::vector<std::string>& parameters_of_views();

/// Errors: invalid, for a parameter that the entry does not have; a misspelt one must not be passed over.
[[nodiscard]] Result<void> check_parameters(const ApiEntry& entry, const std::multimap<std::string, std::string>& query);

}  // namespace hindsight::page
