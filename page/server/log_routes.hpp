#pragma once

#include <memory>
#include <string>
#include <vector>

#include "events/log.hpp"
#include "page/server/api_route.hpp"

namespace hindsight::page {

/// What the page says of the log that it shows.
struct LogFacts {
  std::string release;  ///< Of this program.
  bool live = false;    ///< This process decides, or another one may write.
  bool can_branch = false;
};

/// GET log.
[[nodiscard]] std::vector<ApiRoute> log_routes(std::shared_ptr<const events::Log> log, LogFacts facts);

/// The domain to look at, as replay::choose_domain.
[[nodiscard]] Result<std::string> domain_of(const events::Log& log, const Parameters& parameters);

}  // namespace hindsight::page
