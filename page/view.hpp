#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "events/log.hpp"
#include "projections/json.hpp"
#include "replay/past.hpp"
#include "vocabulary/result.hpp"

namespace hindsight::page::timeline {
class ObjectIndex;
}

namespace hindsight::page {

using projections::Json;
using replay::Position;

/// Whose eyes a view is made for.
class Audience {
 public:
  virtual ~Audience() = default;
  Audience() = default;
  Audience(const Audience&) = delete;
  Audience& operator=(const Audience&) = delete;
  /// Whether names and texts of objects of this namespace may be told. May ask the API server the first time; answers are remembered for
  /// a while. Of those that may not, views count and say nothing more.
  [[nodiscard]] virtual bool may_see(std::string_view namespace_) const = 0;
  /// Whether all may be seen: raw records, exports and branches are for those only.
  [[nodiscard]] virtual bool sees_all() const = 0;
};

/// The words of a request: what stands in the path's braces, and the query.
class Parameters {
 public:
  Parameters(std::map<std::string, std::string> path, std::multimap<std::string, std::string> query)
      : path_(std::move(path)), query_(std::move(query)) {}

  /// Of the path; a name that the route does not have is a bug.
  [[nodiscard]] const std::string& of_path(const std::string& name) const { return path_.at(name); }
  /// Of the query, the first of its name; empty: not given.
  [[nodiscard]] std::string_view text(const std::string& name) const;
  /// Errors: invalid, naming the parameter, what was found and what is allowed.
  [[nodiscard]] Result<std::uint64_t> number(const std::string& name, std::uint64_t if_absent, std::uint64_t min, std::uint64_t max) const;
  [[nodiscard]] Result<bool> flag(const std::string& name) const;

 private:
  std::map<std::string, std::string> path_;
  std::multimap<std::string, std::string> query_;
};

/// Where a view looks from: a domain of a log, in the state after the record at `past.position()`. Nobody else uses this `past` meanwhile,
/// and a view leaves it where it is.
struct Look {
  const events::Log& log;
  const replay::Past& past;
  const Audience& audience;
  /// True as soon as whoever asked is gone, or the time for the answer is over: a long scan asks now and then, and ends.
  const std::function<bool()>& is_over;
  /// Of a look at a branch: the log that it is a branch of.
  const events::Log* trunk = nullptr;
  /// Where in the log records about an object may be, as far as somebody has read it; null: nobody has.
  std::shared_ptr<const timeline::ObjectIndex> objects = nullptr;

  [[nodiscard]] Position position() const { return past.position(); }
};

/// One kind of answer: a plain function of where one looks from and what was asked.
/// Errors: invalid (a parameter), not_found (an object, at this position), and those of the log.
using View = std::function<Result<Json>(const Look&, const Parameters&)>;

struct ViewRoute {
  std::string path;  ///< Below /api/v1: "workloads/{namespace}/{name}/why".
  View view;
  /// For the description of the API.
  std::string summary;
  std::vector<std::string> parameters;  ///< Names of the query, beside `at`, `domain` and `branch`.
  bool only_for_all = false;            ///< Only for who sees all (Audience::sees_all).
};

/// The views of one file each; `views()` is all of them.
[[nodiscard]] std::vector<ViewRoute> views();

}  // namespace hindsight::page
