#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "page/view.hpp"

namespace hindsight::page {

/// What is asked of a route that looks at no single moment.
struct ApiCall {
  const Parameters& parameters;
  const std::string& body;
  const Audience& audience;
  /// As Look::is_over.
  const std::function<bool()>& is_over;
};

/// A route beside the views: the timeline, branches, the log itself.
struct ApiRoute {
  std::string method = "GET";  ///< GET, POST or DELETE.
  std::string path;            ///< Below /api/v1, with braces as ViewRoute has them; of POST without.
  /// Null in the answer: status 204. Errors become answers by their kind.
  std::function<Result<Json>(const ApiCall&)> handler;
  std::string summary;
  std::vector<std::string> parameters;  ///< Names of the query.
  bool only_for_all = false;            ///< Only for who sees all.
  std::size_t body_bytes_max = 0;       ///< Of POST.
};

}  // namespace hindsight::page
