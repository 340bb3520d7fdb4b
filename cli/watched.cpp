#include "cli/watched.hpp"

#include <iterator>
#include <nlohmann/json.hpp>

namespace hindsight::cli {
namespace {

std::string watched_key(const Json& object) {
  std::string uid;
  if (const auto metadata = object.find("metadata"); metadata != object.end() && metadata->is_object())
    uid = metadata->value("uid", std::string());
  return object.value("kind", std::string()) + "/" + full_name_in(object) + std::string(1, '\0') + uid;
}

}  // namespace

struct Watched::Shown {
  std::string text;  ///< All of it that is compared.
  std::vector<projections::Cell> row;
  Json object;
};

struct Watched::Kind {
  std::vector<projections::Table::Column> columns;
  std::map<std::string, Shown> shown;  ///< By name, with the uid where there is one.
};

Watched::Watched(bool table, bool wide) : table_(table), wide_(wide) {}
Watched::~Watched() = default;

std::string_view name_of(Watched::Event event) {
  switch (event) {
    case Watched::Event::added:
      return "ADDED";
    case Watched::Event::modified:
      return "MODIFIED";
    case Watched::Event::deleted:
      return "DELETED";
  }
  return "";
}

/// All that is shown of it but its age.
std::string Watched::text_of(const Listing& listing, std::size_t i) const {
  if (!table_) return listing.objects[i].dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string out;
  const auto& table = listing.table;
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    if (table.columns[c].heading != "AGE" && (wide_ || !table.columns[c].wide)) out += table.rows[i][c].text + std::string(1, '\0');
  return out;
}

std::vector<Watched::Event> Watched::next(const KnownKind& kind, Listing& listing, bool forgets) {
  auto& kept = kinds_[kind.plural];
  if (!kept) kept = std::make_unique<Kind>();
  Kind& seen = *kept;
  std::map<std::string, Shown> now;
  std::vector<std::size_t> places;
  std::vector<Event> events;
  for (std::size_t i = 0; i < listing.objects.size(); ++i) {
    Shown one{text_of(listing, i), table_ ? listing.table.rows[i] : std::vector<projections::Cell>(), listing.objects[i]};
    std::string key = watched_key(one.object);
    while (now.contains(key)) key += '+';  // several rows may tell of one object
    const auto before = seen.shown.find(key);
    if (before == seen.shown.end() || before->second.text != one.text) {
      places.push_back(i);
      events.push_back(before == seen.shown.end() ? Event::added : Event::modified);
    }
    now.emplace(std::move(key), std::move(one));
  }
  listing.choose(places);
  listing.phases.clear();  // nobody asks for them any more, and what has gone has none
  if (table_ && !listing.table.columns.empty()) seen.columns = listing.table.columns;
  if (!forgets) {
    std::vector<std::vector<projections::Cell>> rows;
    std::vector<Json> objects;
    for (auto& [key, one] : seen.shown) {
      if (now.contains(key)) continue;
      rows.push_back(std::move(one.row));
      objects.push_back(std::move(one.object));
    }
    events.insert(events.begin(), objects.size(), Event::deleted);
    std::move(listing.objects.begin(), listing.objects.end(), std::back_inserter(objects));
    listing.objects = std::move(objects);
    if (table_) {
      std::move(listing.table.rows.begin(), listing.table.rows.end(), std::back_inserter(rows));
      listing.table.rows = std::move(rows);
      listing.table.columns = seen.columns;
    }
  }
  seen.shown = std::move(now);
  return events;
}

}  // namespace hindsight::cli
