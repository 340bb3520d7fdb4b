#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/listing.hpp"

namespace hindsight::cli {

/// What `get --watch` has shown of the objects that it watches: which are new, which are different and which have gone since then.
class Watched {
 public:
  enum class Event { added, modified, deleted };

  /// `wide`: of the table all columns are shown; `table`: the table is shown and not the objects. An age that grows is no difference.
  Watched(bool table, bool wide);
  ~Watched();

  /// Leaves in the listing of a kind what is to be shown of it: first what has gone, as it was shown last, then what is new or different.
  /// The events of these, in the same order. The listing has the table and the objects. An object that was deleted and made again has gone
  /// and is new. `forgets`: what is not listed any more has not gone.
  [[nodiscard]] std::vector<Event> next(const KnownKind& kind, Listing& listing, bool forgets);

 private:
  struct Shown;
  struct Kind;
  [[nodiscard]] std::string text_of(const Listing& listing, std::size_t i) const;

  bool table_, wide_;
  std::map<std::string_view, std::unique_ptr<Kind>> kinds_;  ///< By plural name.
};

/// ADDED, MODIFIED, DELETED.
[[nodiscard]] std::string_view name_of(Watched::Event event);

}  // namespace hindsight::cli
